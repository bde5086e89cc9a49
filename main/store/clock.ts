import type { ClockSetting } from '../base/clock.ts';
import type { Connection } from './connection.ts';

/** What the app's clock continues from after a restart. */
export interface ClockSettings {
  /** Null when the clock was never adjusted. */
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
