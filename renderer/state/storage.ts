/** Where small things are remembered between visits. */
export interface KeyValueStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/**
 * The storage that `open` returns, or one in memory: browsers that are told to keep nothing throw at the mere mention
 * of theirs, and the page should work all the same.
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
