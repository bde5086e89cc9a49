import type { ApiKey } from '../../main/contract/keys.ts';

/** A key that was just made, with what nobody will be told again. */
export interface FreshKey extends ApiKey {
  secret: string;
}

/**
 * The secrets of keys made on this page, until someone says that they have them: in memory, for as long as the session
 * lasts, so that a look at another page does not lose one.
 */
export class UnreadSecrets {
  #fresh = $state.raw<readonly { projectId: string; key: FreshKey }[]>([]);

  /** Newest first. */
  of(projectId: string): FreshKey[] {
    return this.#fresh.filter((entry) => entry.projectId === projectId).map(({ key }) => key);
  }

  hold(projectId: string, key: FreshKey): void {
    this.#fresh = [{ projectId, key }, ...this.#fresh];
  }

  acknowledge(keyId: string): void {
    this.#fresh = this.#fresh.filter(({ key }) => key.id !== keyId);
  }
}
