import type { ClockSetting } from '../base/clock.ts';
import type { Connection } from './connection.ts';

export interface Settings {
  /** All stored settings, by name. */
  get(): Record<string, unknown>;
  /** `value` is anything that JSON can represent. */
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

/** The state from which the app's clock continues after a restart. */
export interface ClockSettings {
  /** Null when the clock was never moved. */
  get(): ClockSetting | null;
  set(setting: ClockSetting): void;
}

export function createClockSettings({ sqlite, guarded }: Connection): ClockSettings {
  const select = sqlite.prepare<[], ClockSetting>(
    'SELECT offset_ms AS offsetMs, frozen_at_ms AS frozenAtMs FROM clock WHERE id = 1',
  );
  const upsert = sqlite.prepare<[ClockSetting]>(
    `INSERT INTO clock (id, offset_ms, frozen_at_ms) VALUES (1, :offsetMs, :frozenAtMs)
     ON CONFLICT (id) DO UPDATE SET offset_ms = excluded.offset_ms, frozen_at_ms = excluded.frozen_at_ms`,
  );
  return {
    get: guarded(() => select.get() ?? null),
    set: guarded(({ offsetMs, frozenAtMs }: ClockSetting) => void upsert.run({ offsetMs, frozenAtMs })),
  };
}
