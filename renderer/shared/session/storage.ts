/** Storage of small values between visits. */
import { orElse } from '../../../main/contract/errors.ts';

export interface KeyValueStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/**
 * The storage that `open` returns, or one in memory: browsers with storage disabled throw on access to it, and the page
 * should still work.
 */
export function openStorage(open: () => KeyValueStorage): KeyValueStorage {
  try {
    const storage = open();
    storage.getItem('vivarium.probe');
    return storage;
  } catch {
    return createMemoryStorage();
  }
}

export function createMemoryStorage(): KeyValueStorage {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}

/** Longer values would fill the storage, which browsers bound at 5 MB. */
const VALUE_LENGTH_MAX = 200_000;

/** JSON values by name, kept as long as their storage: drafts of forms for the tab, choices of pages for good. */
export class KeptValues {
  readonly #storage: KeyValueStorage;
  readonly #prefix: string;

  constructor(storage: KeyValueStorage, prefix: string) {
    this.#storage = storage;
    this.#prefix = prefix;
  }

  read(name: string): unknown {
    return orElse(() => JSON.parse(this.#storage.getItem(this.#prefix + name) ?? 'null') ?? undefined, undefined);
  }

  keep(name: string, value: unknown): void {
    const text = value === undefined ? undefined : JSON.stringify(value);
    try {
      if (text === undefined || text.length > VALUE_LENGTH_MAX) this.#storage.removeItem(this.#prefix + name);
      else this.#storage.setItem(this.#prefix + name, text);
    } catch {
      // The storage is full. The form itself still has the values.
    }
  }
}
