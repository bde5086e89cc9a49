// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../../../../main/contract/default-settings.ts';
import type { Settings } from '../../../../../../main/contract/settings.ts';
import { Connection } from '../../../../../../renderer/connection/connection.svelte.ts';
import {
  createEngineSettings,
  presetOf,
} from '../../../../../../renderer/pages/machine/settings/engine-settings.svelte.ts';
import { readLicences } from '../../../../../../renderer/pages/machine/settings/licences.ts';
import { settingsQuery } from '../../../../../../renderer/shared/session/settings-query.ts';
import { Toasts } from '../../../../../../renderer/shared/session/toasts.svelte.ts';
import { createFakeClock, settle } from '../../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../../support/page/page-link.ts';

async function setUp(stored: Partial<Settings> = {}) {
  const time = createFakeClock();
  const transport = createFakeTransport();
  let current: Settings = { ...DEFAULT_SETTINGS, ...stored };
  transport.stub('settings.get', () => current);
  transport.stub('settings.update', (patch) => {
    current = { ...current, ...(patch as Partial<Settings>) };
    return current;
  });
  const connection = new Connection({ transport, time, pulse: () => Promise.resolve() });
  connection.start();
  await settle();
  const toasts = new Toasts(time);
  const source = { client: connection.client, changes: connection, time };
  const settings = createEngineSettings({ ...source, settings: settingsQuery(source), toasts });
  await settle();
  const sent = () =>
    transport.calls.filter(({ procedure }) => procedure === 'settings.update').map(({ input }) => input);
  const change = async (to: Partial<Settings>) => {
    current = { ...current, ...to };
    await time.pass(1_000);
    transport.tell({ type: 'settings.changed' });
    await settle();
  };
  return { transport, toasts, settings, sent, change };
}

describe('a group of settings', () => {
  it('shows the stored values, and is unchanged until something else is typed', async () => {
    const { settings } = await setUp({ banAfter: 7, banDuration: 'PT90M' });
    const { form } = settings.bans;
    expect(form.values).toEqual({ banAfter: '7', banDuration: 'PT90M' });
    expect([settings.bans.changed, settings.bans.isDefault]).toEqual([false, false]);
    form.values.banAfter = '8';
    expect(settings.bans.changed).toBe(true);
    form.values.banAfter = '7 ';
    expect(settings.bans.changed).toBe(false);
  });

  it('is saved separately, and Undo restores the previous values', async () => {
    const { settings, toasts, sent } = await setUp();
    settings.bans.form.values.banAfter = '3';
    settings.waiting.form.values.propagation = 'PT1H';
    await settings.bans.save();
    expect(toasts.list.at(-1)?.text).toBe('Bans: saved.');
    expect([settings.bans.changed, settings.waiting.changed]).toEqual([false, true]);
    toasts.undoLast();
    await settle();
    expect(sent()).toEqual([
      { banAfter: 3, banDuration: 'PT10M' },
      { banAfter: 20, banDuration: 'PT10M' },
    ]);
    expect(settings.bans.form.values.banAfter).toBe('20');
    expect(settings.waiting.form.values.propagation).toBe('PT1H');
  });

  it('sends settings with two choices as booleans', async () => {
    const { settings, sent } = await setUp();
    settings.dns.form.values = { httpsRecords: 'no', dohForwardsProbe: 'yes' };
    await settings.dns.save();
    expect(sent()).toEqual([{ httpsRecords: false, dohForwardsProbe: true }]);
  });

  it('keeps what was typed next to the engine’s message, and reports nothing', async () => {
    const { transport, settings, toasts } = await setUp();
    transport.stub('settings.update', () =>
      Promise.reject(
        new ORPCError('invalid_request', { data: { issues: [{ path: 'resolver', message: 'must be an address' }] } }),
      ),
    );
    settings.resolver.form.values = { kind: 'other', resolver: 'example.com' };
    await settings.resolver.save();
    expect(settings.resolver.form.fault('resolver')).toBe('must be an address');
    expect(settings.resolver.form.values.resolver).toBe('example.com');
    expect(toasts.list).toEqual([]);
  });

  it('follows changes from elsewhere, but does not overwrite typed text', async () => {
    const { settings, change } = await setUp();
    await change({ banAfter: 5 });
    expect(settings.bans.form.values.banAfter).toBe('5');
    settings.bans.form.values.banAfter = '9';
    await change({ banAfter: 6 });
    expect(settings.bans.form.values.banAfter).toBe('9');
    settings.bans.discard();
    expect(settings.bans.form.values.banAfter).toBe('6');
  });

  it('can be filled with its defaults', async () => {
    const { settings } = await setUp({ resolver: '192.0.2.1:53' });
    settings.resolver.fillDefaults();
    expect([settings.resolver.changed, settings.resolver.isDefault]).toEqual([true, true]);
  });
});

describe('the change that is sent', () => {
  it.each([
    ['any page', { kind: 'any', cors: 'http://a.test' }, '*'],
    ['none', { kind: 'none', cors: 'http://a.test' }, []],
    ['origins', { kind: 'list', cors: ' http://a.test \n\nhttp://b.test:81' }, ['http://a.test', 'http://b.test:81']],
  ])('for CORS contains: %s', async (_what, values, cors) => {
    const { settings, sent } = await setUp({ cors: ['http://old.test'] });
    settings.cors.form.values = values;
    await settings.cors.save();
    expect(sent()).toEqual([{ cors }]);
  });

  it('for a CAA identity without account contains null', async () => {
    const { settings, sent } = await setUp();
    settings.caaIdentity.form.values = {
      'caaIdentity.domain': ' letsencrypt.org ',
      'caaIdentity.accountUri': ' ',
      'caaIdentity.method': 'dns-01',
    };
    await settings.caaIdentity.save();
    expect(sent()).toEqual([{ caaIdentity: { domain: 'letsencrypt.org', accountUri: null, method: 'dns-01' } }]);
  });

  it('for a deleted number of refusals contains nothing that the engine would read as "unchanged"', async () => {
    const { settings, sent } = await setUp();
    settings.bans.form.values.banAfter = '';
    await settings.bans.save();
    expect(sent()).toEqual([{ banAfter: Number.NaN, banDuration: 'PT10M' }]);
  });
});

describe('the presets for delays', () => {
  it.each([
    ['instant', 'PT0S', 'PT0S'],
    ['realistic', 'PT1H', 'PT2M'],
    ['slowest', 'PT48H', 'PT2M'],
  ] as const)('%s: propagation %s, issuance %s', async (preset, propagation, issuanceDelay) => {
    const { settings } = await setUp({ propagation: 'PT5S' });
    expect(presetOf(settings.waiting.form.values)).toBeUndefined();
    settings.fillPreset(preset);
    expect(settings.waiting.form.values).toEqual({ propagation, issuanceDelay });
    expect(presetOf(settings.waiting.form.values)).toBe(preset);
  });

  it('are recognised in any notation', () => {
    expect(presetOf({ propagation: 'P2D', issuanceDelay: 'PT120S' })).toBe('slowest');
  });
});

describe('the licences', () => {
  const served = (files: Record<string, string>) => (path: string) =>
    Promise.resolve({ ok: path in files, text: () => Promise.resolve(files[path] ?? '') });

  it('are those of the interface and, if it is built, of the engine', async () => {
    const head = '# Licenses\n\nThe app bundles dependencies which contain the following licenses:\n\n';
    const interfaceOnly = { '/licences.txt': `${head}## a - 1 (MIT)\n` };
    expect(await readLicences(served(interfaceOnly))).toBe('## a - 1 (MIT)');
    expect(await readLicences(served({ ...interfaceOnly, '/licences-engine.txt': '## b - 2 (ISC)' }))).toBe(
      '## a - 1 (MIT)\n\n## b - 2 (ISC)',
    );
  });

  it('cause an error if they are missing', async () => {
    await expect(readLicences(served({}))).rejects.toThrow('No licence file');
  });
});
