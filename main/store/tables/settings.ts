import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { CLOCK_MAX_MS, type ClockSetting } from '../../base/clock.ts';
import { epochMs } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import { json, table, type Stored } from './table.ts';

/** Their readers use defaults for values of another version. */
export const SETTINGS = table('settings', ['name'], { name: z.string(), value: json(z.unknown()) });

export const CLOCK = table<ClockSetting>(
  'clock',
  ['id'],
  { offsetMs: z.int().min(-CLOCK_MAX_MS).max(CLOCK_MAX_MS), frozenAtMs: epochMs.nullable() },
  { id: z.literal(1) },
);

/** Whether the app's clock shows the real time, by its row. */
export const showsRealTime = (sqlite: Database): boolean =>
  sqlite.prepare('SELECT 1 FROM clock WHERE offset_ms <> 0 OR frozen_at_ms IS NOT NULL').get() === undefined;

export type Settings = ReturnType<typeof createSettings>;

export function createSettings({ sqlite, guarded }: Connection) {
  const all = sqlite.prepare<[], Stored>(`SELECT ${SETTINGS.selected} FROM settings ORDER BY name`);
  const upsert = sqlite.prepare<[string, string]>(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  return {
    /** All stored settings, by name. */
    get: guarded(() =>
      Object.fromEntries(
        all
          .all()
          .map(SETTINGS.read)
          .map(({ name, value }) => [name, value]),
      ),
    ),
    /** `value` is anything that JSON can represent. */
    set: guarded((name: string, value: unknown) => void upsert.run(name, JSON.stringify(value))),
  };
}

/** The state from which the app's clock continues after a restart. */
export function createClockSettings({ sqlite, guarded }: Connection) {
  const select = sqlite.prepare<[], ClockSetting>(`SELECT ${CLOCK.selected} FROM clock WHERE id = 1`);
  const upsert = sqlite.prepare<[ClockSetting]>(
    `INSERT INTO clock (id, offset_ms, frozen_at_ms) VALUES (1, :offsetMs, :frozenAtMs)
     ON CONFLICT (id) DO UPDATE SET offset_ms = excluded.offset_ms, frozen_at_ms = excluded.frozen_at_ms`,
  );
  return {
    /** Null when the clock was never moved. */
    get: guarded(() => select.get() ?? null),
    set: guarded(({ offsetMs, frozenAtMs }: ClockSetting) => void upsert.run({ offsetMs, frozenAtMs })),
  };
}
