import type { KeptValues } from './storage.ts';
import type { ApiKey } from '../../../main/contract/callers.ts';

/** A newly created key with its secret, which the engine never shows again. */
export interface FreshKey extends ApiKey {
  secret: string;
}

interface Unread {
  projectId: string;
  key: FreshKey;
}

const KEPT_AS = 'new-keys';

/**
 * The secrets of keys created in this tab, until the user has copied them. They are kept in the tab's storage: the
 * engine has only their digests, so a reload would lose them for good. The token stored there grants more than they do.
 */
export class UnreadSecrets {
  #fresh = $state.raw<readonly Unread[]>([]);
  readonly #drafts: Pick<KeptValues, 'read' | 'keep'>;

  constructor(drafts: Pick<KeptValues, 'read' | 'keep'>) {
    this.#drafts = drafts;
    const kept = drafts.read(KEPT_AS);
    this.#fresh = Array.isArray(kept) ? (kept as Unread[]) : [];
  }

  /** Newest first. */
  of(projectId: string): FreshKey[] {
    return this.#fresh.filter((entry) => entry.projectId === projectId).map(({ key }) => key);
  }

  hold(projectId: string, key: FreshKey): void {
    this.#take([{ projectId, key }, ...this.#fresh]);
  }

  acknowledge(keyId: string): void {
    this.#take(this.#fresh.filter(({ key }) => key.id !== keyId));
  }

  #take(fresh: readonly Unread[]): void {
    this.#fresh = fresh;
    this.#drafts.keep(KEPT_AS, fresh.length === 0 ? undefined : fresh);
  }
}
