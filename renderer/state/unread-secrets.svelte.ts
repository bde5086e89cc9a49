import type { ApiKey } from '../../main/contract/keys.ts';
import type { KeyValueStorage } from './storage.ts';

/** A newly created key with its secret, which the engine never shows again. */
export interface FreshKey extends ApiKey {
  secret: string;
}

interface Entry {
  projectId: string;
  key: FreshKey;
}

const STORAGE_KEY = 'vivarium.unread-secrets';

/**
 * The secrets of keys created on this page, until the user dismisses them. They stay in `storage`, that of the tab, so
 * that neither another page nor a reload loses one.
 */
export class UnreadSecrets {
  #fresh = $state.raw<readonly Entry[]>([]);
  readonly #storage: KeyValueStorage;

  constructor(storage: KeyValueStorage) {
    this.#storage = storage;
    this.#fresh = read(storage.getItem(STORAGE_KEY));
  }

  /** Newest first. */
  of(projectId: string): FreshKey[] {
    return this.#fresh.filter((entry) => entry.projectId === projectId).map(({ key }) => key);
  }

  hold(projectId: string, key: FreshKey): void {
    this.#keep([{ projectId, key }, ...this.#fresh]);
  }

  acknowledge(keyId: string): void {
    this.#keep(this.#fresh.filter(({ key }) => key.id !== keyId));
  }

  #keep(fresh: readonly Entry[]): void {
    this.#fresh = fresh;
    if (fresh.length === 0) this.#storage.removeItem(STORAGE_KEY);
    else this.#storage.setItem(STORAGE_KEY, JSON.stringify(fresh));
  }
}

/** What this class has stored; nothing if something else did. */
function read(text: string | null): readonly Entry[] {
  try {
    const stored: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(stored) ? (stored as Entry[]) : [];
  } catch {
    return [];
  }
}
