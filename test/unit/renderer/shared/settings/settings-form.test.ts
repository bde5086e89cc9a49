// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../../../main/contract/default-settings.ts';
import type { Settings } from '../../../../../main/contract/settings.ts';
import { settingsQuery } from '../../../../../renderer/shared/session/settings-query.ts';
import { SettingsForm } from '../../../../../renderer/shared/settings/settings-form.svelte.ts';
import { sectionOf, type SettingsSectionName } from '../../../../../renderer/shared/settings/settings-table.ts';
import { refuses } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';

async function setUp(section: SettingsSectionName, stored: Partial<Settings> = {}) {
  let current: Settings = { ...DEFAULT_SETTINGS, ...stored };
  const parts = pageParts({
    'settings.get': () => current,
    'settings.update': (patch: Partial<Settings>) => (current = { ...current, ...patch }),
  });
  const common = { ...parts.source, settings: settingsQuery(parts.source), toasts: parts.toasts };
  const settings = new SettingsForm(sectionOf(section), common);
  await settle();
  const change = async (to: Partial<Settings>) => {
    current = { ...current, ...to };
    await parts.tell('settings.changed');
  };
  return { ...parts, settings, sent: () => parts.asked('settings.update'), change };
}

describe('a section of settings', () => {
  it('shows the stored values, and is unchanged until something else is typed', async () => {
    const { settings } = await setUp('bans', { banAfter: 7, banDuration: 'PT90M' });
    expect(settings.form.values).toEqual({ banAfter: '7', banDuration: 'PT90M' });
    expect([settings.changed, settings.isDefault]).toEqual([false, false]);
    settings.type('banAfter', '8');
    expect(settings.changed).toBe(true);
    settings.type('banAfter', '7 ');
    expect(settings.changed).toBe(false);
  });

  it('saves what was changed, and Undo restores it', async () => {
    const { settings, said, undo, sent } = await setUp('bans');
    settings.type('banAfter', '3');
    await settings.save();
    expect(said()).toEqual(['Bans: saved.']);
    expect(settings.changed).toBe(false);
    await undo();
    expect(sent()).toEqual([{ banAfter: 3 }, { banAfter: 20 }]);
    expect(settings.text('banAfter')).toBe('20');
  });

  it('keeps what was typed next to the engine’s message, and reports nothing', async () => {
    const { answers, settings, said } = await setUp('lookups');
    answers['settings.update'] = refuses('invalid_request', '', { path: 'resolver', message: 'must be an address' });
    settings.choose('resolver', undefined);
    settings.type('resolver', 'example.com');
    await settings.save();
    expect(settings.form.fault('resolver')).toBe('must be an address');
    expect(settings.text('resolver')).toBe('example.com');
    expect(said()).toEqual([]);
  });

  it('follows changes from elsewhere; beside typed text it names them instead, and does not undo them', async () => {
    const { settings, sent, change } = await setUp('bans');
    await change({ banAfter: 5 });
    expect(settings.text('banAfter')).toBe('5');
    settings.type('banAfter', '9');
    await change({ banAfter: 6, banDuration: 'PT1H' });
    expect([settings.text('banAfter'), settings.text('banDuration')]).toEqual(['9', 'PT1H']);
    expect([settings.elsewhere('banAfter')?.value, settings.elsewhere('banDuration')]).toEqual(['6', undefined]);
    await settings.save();
    expect(sent()).toEqual([{ banAfter: 9 }]);
    expect(settings.elsewhere('banAfter')).toBeUndefined();
    settings.type('banAfter', '10');
    settings.discard();
    expect(settings.text('banAfter')).toBe('9');
  });

  it('can be filled with its defaults', async () => {
    const { settings } = await setUp('lookups', { resolver: '192.0.2.1:53' });
    settings.fillDefaults();
    expect([settings.changed, settings.isDefault]).toEqual([true, true]);
  });
});

describe('a setting with a choice', () => {
  it('shows the saved value as chosen in any notation, and a field for every other one', async () => {
    const { settings, change } = await setUp('lookups', { propagation: 'P2D' });
    expect(settings.choice('propagation')).toBe('PT48H');
    await change({ propagation: 'PT5S' });
    expect(settings.choice('propagation')).toBeUndefined();
  });

  it('keeps its field open while a value of another choice is typed, until it is discarded', async () => {
    const { settings } = await setUp('lookups');
    settings.choose('propagation', undefined);
    settings.type('propagation', 'PT1H');
    expect(settings.choice('propagation')).toBeUndefined();
    settings.discard();
    expect(settings.choice('propagation')).toBe('PT0S');
  });
});

it.each<[string, SettingsSectionName, string, string, object]>([
  ['CORS for any page', 'cors', 'cors', '*', { cors: '*' }],
  ['CORS for none', 'cors', 'cors', '', { cors: [] }],
  ['origins', 'cors', 'cors', ' http://a.test \n\nhttp://b.test:81', { cors: ['http://a.test', 'http://b.test:81'] }],
  ['a choice of two', 'answers', 'httpsRecords', 'false', { httpsRecords: false }],
  ['a CA’s domain', 'issuance', 'caaIdentity.domain', ' a.test ', { caaIdentity: { domain: 'a.test' } }],
  ['an identity without account', 'issuance', 'caaIdentity.accountUri', ' ', { caaIdentity: { accountUri: null } }],
  // A missing count would mean "unchanged".
  ['a deleted count', 'bans', 'banAfter', '', { banAfter: Number.NaN }],
])('the change that is sent for %s', async (_what, section, name, text, patch) => {
  const { settings, sent } = await setUp(section, { cors: ['http://old.test'] });
  settings.type(name, text);
  await settings.save();
  expect(sent()).toEqual([patch]);
});
