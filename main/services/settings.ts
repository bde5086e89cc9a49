import { isIPv4, isIPv6 } from 'node:net';
import type { Services } from '../contract/index.ts';
import { DEFAULT_SETTINGS } from '../contract/default-settings.ts';
import { type Settings, settingsValues } from '../contract/settings.ts';
import type { Effects, SettingRows } from './dependencies.ts';
import { parseDuration } from '../base/duration.ts';
import { inputError } from './project-rules.ts';

/** The settings in force: read on every request, so held in memory; every change is stored. */
export interface SettingsHolder {
  current(): Settings;
  update(patch: Partial<Settings>): Settings;
}

const BAN_DURATION_MS_MAX = 366 * 86_400_000;
const PROPAGATION_MS_MAX = 48 * 3_600_000;
const ISSUANCE_DELAY_MS_MAX = 48 * 3_600_000;

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

export function createSettingsServices(options: {
  holder: SettingsHolder;
  effects: Pick<Effects, 'emit'>;
  /** Done when it resolves. @throws VivariumError when it cannot be. */
  moveRootKey: (to: Settings['caKey']) => Promise<void>;
}): Services['settings'] {
  const { holder, effects, moveRootKey } = options;
  return {
    get: () => holder.current(),
    async update(patch) {
      if (patch.banDuration !== undefined) checkBanDuration(patch.banDuration);
      if (patch.propagation !== undefined) checkPropagation(patch.propagation);
      if (patch.issuanceDelay !== undefined) checkIssuanceDelay(patch.issuanceDelay);
      if (patch.resolver !== undefined) parseResolver(patch.resolver);
      if (patch.caKey !== undefined) {
        await moveRootKey(patch.caKey);
        effects.emit('ca.changed');
      }
      const { caaIdentity, ...rest } = patch;
      const identity = caaIdentity && { caaIdentity: { ...holder.current().caaIdentity, ...caaIdentity } };
      const settings = holder.update({ ...rest, ...identity });
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

function checkPropagation(text: string): void {
  if (!isWithin(text, 0, PROPAGATION_MS_MAX)) {
    throw inputError('propagation', 'must be 48 hours ("PT48H") at most; "PT0S" is none.');
  }
}

function checkIssuanceDelay(text: string): void {
  if (!isWithin(text, 0, ISSUANCE_DELAY_MS_MAX)) {
    throw inputError('issuanceDelay', 'must be 48 hours ("PT48H") at most; "PT0S" is none.');
  }
}

/**
 * The server that the setting `resolver` names; null is Vivarium's own.
 * @throws VivariumError invalid_request
 */
export function parseResolver(text: string): { address: string; port: number } | null {
  if (text === 'local') return null;
  const match = /^(?:\[([^\]]+)\]|([^:]+)):([0-9]+)$/.exec(text);
  const [, inBrackets, plain, digits] = match ?? [];
  const address = inBrackets ?? plain ?? '';
  const port = Number(digits);
  if (!(inBrackets === undefined ? isIPv4(address) : isIPv6(address)) || !(port >= 1 && port <= 65_535)) {
    throw inputError(
      'resolver',
      'must be "local", or an address and a port such as "192.0.2.53:53" or "[2001:db8::53]:53".',
    );
  }
  return { address, port };
}
