import type { Services } from '../contract/index.ts';
import { DEFAULT_SETTINGS, type Settings, settingsValues } from '../contract/settings.ts';
import type { Effects, SettingRows } from './dependencies.ts';
import { parseDuration } from '../base/duration.ts';
import { inputError } from './project-rules.ts';

/** The settings in force: read on every request, so held in memory; every change is stored. */
export interface SettingsHolder {
  current(): Settings;
  update(patch: Partial<Settings>): Settings;
}

const BAN_DURATION_MS_MAX = 366 * 86_400_000;

/** Stored values that are no longer acceptable (from another version) fall back to their defaults, each by itself. */
export function holdSettings(rows: SettingRows): SettingsHolder {
  const stored = rows.get();
  let settings: Settings = { ...DEFAULT_SETTINGS };
  for (const name of settingNames) {
    const read = settingsValues.partial().safeParse({ [name]: stored[name] });
    if (read.success && stored[name] !== undefined) settings = { ...settings, ...read.data };
  }
  return {
    current: () => settings,
    update(patch) {
      for (const name of settingNames) if (patch[name] !== undefined) rows.set(name, patch[name]);
      settings = { ...settings, ...patch };
      return settings;
    },
  };
}

const settingNames = Object.keys(settingsValues.shape) as (keyof Settings)[];

export function createSettingsServices(holder: SettingsHolder, effects: Pick<Effects, 'emit'>): Services['settings'] {
  return {
    get: () => holder.current(),
    update(patch) {
      if (patch.banDuration !== undefined) checkBanDuration(patch.banDuration);
      const settings = holder.update(patch);
      effects.emit('settings.changed');
      return settings;
    },
  };
}

function checkBanDuration(text: string): void {
  if (!isWithin(text, 1_000, BAN_DURATION_MS_MAX)) {
    throw inputError('banDuration', 'must be from one second ("PT1S") to 366 days ("P366D").');
  }
}

function isWithin(duration: string, leastMs: number, mostMs: number): boolean {
  try {
    const durationMs = parseDuration(duration);
    return durationMs >= leastMs && durationMs <= mostMs;
  } catch {
    // Longer than milliseconds can be counted.
    return false;
  }
}
