import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { CLOCK_MAX_MS, type ClockSetting } from '../../base/clock.ts';
import { epochMs } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import { json, table } from './table.ts';

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

export function createSettings({ rows, run }: Connection) {
  const all = rows<[], { name: string; value: string }>('SELECT name, value FROM settings ORDER BY name');
  const upsert = run<[string, string]>('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)');
  return {
    /** All stored settings, by name. */
    get: () => Object.fromEntries(all().map(({ name, value }) => [name, JSON.parse(value) as unknown])),
    /** `value` is anything that JSON can represent. */
    set: (name: string, value: unknown) => upsert(name, JSON.stringify(value)),
  };
}

/** The state from which the app's clock continues after a restart. */
export const createClockSettings = ({ row, run }: Connection) => ({
  /** Null when the clock was never moved. */
  get: row<[], ClockSetting>(`SELECT ${CLOCK.selected} FROM clock`),
  set: run<[ClockSetting]>(
    'INSERT OR REPLACE INTO clock (id, offset_ms, frozen_at_ms) VALUES (1, :offsetMs, :frozenAtMs)',
  ),
});
