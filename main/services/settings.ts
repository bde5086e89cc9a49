import type { Services } from '../contract/index.ts';
import { DEFAULT_SETTINGS } from '../contract/default-settings.ts';
import { type Settings, settingsInForce, settingsValues } from '../contract/settings.ts';
import type { Effects, SettingRows } from './dependencies.ts';

/** The current settings: kept in memory because every request reads them; every change is stored. */
export type SettingsHolder = ReturnType<typeof holdSettings>;

/** Reads the stored settings; each value that is invalid in this version falls back to its default. */
export function holdSettings(rows: SettingRows) {
  let settings = readSettings(rows);
  let inForce = settingsInForce(settings);
  return {
    current: () => settings,
    /** The parsed settings. */
    inForce: () => inForce,
    update(patch: Partial<Settings>): Settings {
      for (const name of settingNames) if (patch[name] !== undefined) rows.set(name, patch[name]);
      settings = { ...settings, ...patch };
      inForce = settingsInForce(settings);
      return settings;
    },
    reload(): void {
      settings = readSettings(rows);
      inForce = settingsInForce(settings);
    },
  };
}

function readSettings(rows: Pick<SettingRows, 'get'>): Settings {
  const stored = rows.get();
  let settings: Settings = { ...DEFAULT_SETTINGS };
  for (const name of settingNames) {
    if (stored[name] === undefined) continue;
    const read = settingsValues.shape[name].safeParse(stored[name]);
    if (read.success) settings = { ...settings, [name]: read.data };
  }
  return settings;
}

const settingNames = Object.keys(settingsValues.shape) as (keyof Settings)[];

export function createSettingsServices(options: {
  holder: SettingsHolder;
  effects: Pick<Effects, 'emit' | 'publish'>;
  /** Applies the settings; they are in force when it resolves. @throws VivariumError on failure. */
  moveRootKey: (to: Settings['caKey']) => Promise<void>;
  /** Called after the resolver or the CA's identity may have changed. */
  lookupsChanged: () => void;
}): Services['settings'] {
  const { holder, effects, moveRootKey, lookupsChanged } = options;
  return {
    get: () => holder.current(),
    async update(patch) {
      if (patch.caKey !== undefined) {
        await moveRootKey(patch.caKey);
        effects.emit('ca.changed');
      }
      const { caaIdentity, ...rest } = patch;
      const identity = caaIdentity && { caaIdentity: { ...holder.current().caaIdentity, ...caaIdentity } };
      const settings = holder.update({ ...rest, ...identity });
      if (patch.httpsRecords !== undefined) effects.publish();
      effects.emit('settings.changed');
      if (patch.resolver !== undefined || identity !== undefined) lookupsChanged();
      return settings;
    },
  };
}
