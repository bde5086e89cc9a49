import { expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../main/contract/default-settings.ts';
import { holdSettings } from '../../../main/services/settings.ts';

it('stored settings are in effect; each that is missing, or invalid in this version, has its default', () => {
  const stored = { propagation: 'PT1H', issuanceDelay: 'P3D', resolver: 7, firstStartAt: 'not a setting' };
  const holder = holdSettings({ get: () => stored, set: () => undefined });
  expect(holder.current()).toEqual({ ...DEFAULT_SETTINGS, propagation: 'PT1H' });
});
