import type { Connection } from './connection.ts';

export interface Settings {
  /** Everything that was ever set, by name. */
  get(): Record<string, unknown>;
  /** `value` is anything that JSON can hold. */
  set(name: string, value: unknown): void;
}

export function createSettings({ sqlite, guarded }: Connection): Settings {
  const all = sqlite.prepare<[], { name: string; value: string }>('SELECT name, value FROM settings ORDER BY name');
  const upsert = sqlite.prepare<[string, string]>(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  return {
    get: guarded(() => Object.fromEntries(all.all().map(({ name, value }) => [name, JSON.parse(value) as unknown]))),
    set: guarded((name: string, value: unknown) => void upsert.run(name, JSON.stringify(value))),
  };
}
