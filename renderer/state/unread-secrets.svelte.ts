import type { ApiKey } from '../../main/contract/keys.ts';

/** A newly created key with its secret, which the engine never shows again. */
export interface FreshKey extends ApiKey {
  secret: string;
}

/**
 * The secrets of keys created on this page, until the user dismisses them. They stay in memory for the session, so
 * visiting another page does not lose one.
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
