// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../../../main/contract/default-settings.ts';
import type { Project } from '../../../../../main/contract/projects.ts';
import { Connection } from '../../../../../renderer/connection/connection.svelte.ts';
import { KeptValues } from '../../../../../renderer/shared/session/storage.ts';
import { KeysAndLimits } from '../../../../../renderer/pages/limits/keys-and-limits.svelte.ts';
import { domainConsequence, readLimits } from '../../../../../renderer/shared/limits/plans.ts';
import { settingsQuery } from '../../../../../renderer/shared/session/settings-query.ts';
import { createMemoryStorage } from '../../../../../renderer/shared/session/storage.ts';
import { Toasts } from '../../../../../renderer/shared/session/toasts.svelte.ts';
import { UnreadSecrets } from '../../../../../renderer/shared/session/unread-secrets.svelte.ts';
import { createFakeClock, settle } from '../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../support/page/page-link.ts';
import { makeKey, makeProject } from '../../../../support/page/page-world.ts';

async function setUp(project: Project = makeProject('Demo', { plan: 'pro' }), domains = 0) {
  const time = createFakeClock();
  const transport = createFakeTransport();
  transport.stub('limits.usage', () => []);
  transport.stub('keys.list', () => [makeKey('key_ci', 'CI')]);
  transport.stub('domains.list', () => Array.from({ length: domains }, () => ({})));
  transport.stub('settings.get', () => DEFAULT_SETTINGS);
  const connection = new Connection({ transport, time, pulse: () => Promise.resolve() });
  connection.start();
  await settle();
  const toasts = new Toasts(time);
  const secrets = new UnreadSecrets(new KeptValues(createMemoryStorage(), ''));
  let current = project;
  transport.stub('projects.update', (input) => {
    current = { ...current, ...(input as Partial<Project>) };
    return current;
  });
  const source = { client: connection.client, changes: connection, time };
  const access = new KeysAndLimits({
    ...source,
    settings: settingsQuery(source),
    toasts,
    secrets,
    project: () => current,
  });
  await settle();
  const sent = (procedure: string) =>
    transport.calls.filter((call) => call.procedure === procedure).map(({ input }) => input);
  return { time, transport, toasts, secrets, access, sent, said: () => toasts.list.at(-1)?.text };
}

describe('a change of plan', () => {
  it('applies at once, reports the effect on the domains, and can be undone', async () => {
    const { access, toasts, sent, said } = await setUp(undefined, 3);
    await access.changingPlan.start('free');
    expect(said()).toBe('Demo is on Free now. 3 domains are suspended.');
    toasts.undoLast();
    await settle();
    expect(sent('projects.update')).toEqual([
      { projectId: 'prj_demo', plan: 'free' },
      { projectId: 'prj_demo', plan: 'pro' },
    ]);
    expect(said()).toBe('Demo is on Pro again.');
  });

  it('from Enterprise keeps its limits for Undo', async () => {
    const agreed = { ...makeProject('Demo', { plan: 'enterprise' }), limits: { perMinute: 7, perDay: 9 } };
    const { access, toasts, sent } = await setUp(agreed);
    await access.changingPlan.start('business');
    toasts.undoLast();
    await settle();
    expect(sent('projects.update').at(-1)).toEqual({
      projectId: 'prj_demo',
      plan: 'enterprise',
      limits: { perMinute: 7, perDay: 9 },
    });
  });

  it('to Enterprise sends both limits as typed, and shows the engine’s message at the field', async () => {
    const { access, transport, sent, said } = await setUp();
    access.beginAgreeing('enterprise');
    expect(access.agreed.values).toMatchObject({ 'limits.perMinute': '', 'limits.perDay': '' });
    access.agreed.values['limits.perMinute'] = ' 5000 ';
    const accept = (input: unknown) => ({ ...makeProject('Demo'), ...(input as Partial<Project>) });
    transport.stub('projects.update', () =>
      Promise.reject(
        new ORPCError('invalid_request', {
          data: { issues: [{ path: 'limits.perDay', message: 'is required: an integer' }] },
        }),
      ),
    );
    expect(await access.agreed.submit()).toBeUndefined();
    expect(access.agreed.fault('limits.perDay')).toBe('is required: an integer');
    expect(access.agreed.values['limits.perMinute']).toBe(' 5000 ');
    transport.stub('projects.update', accept);
    access.agreed.values['limits.perDay'] = '90000';
    await access.agreed.submit();
    expect(sent('projects.update').at(-1)).toEqual({
      projectId: 'prj_demo',
      plan: 'enterprise',
      limits: { perMinute: 5_000, perDay: 90_000 },
    });
    expect(said()).toBe('Demo is on Enterprise now: 5,000 a minute, 90,000 a day.');
  });

  it.each([
    ['pro', 'free', 2, '2 domains will be suspended: not served until the project is upgraded again.'],
    ['enterprise', 'free', 1, '1 domain will be suspended: not served until the project is upgraded again.'],
    ['free', 'pro', 1, '1 domain will come back from suspension.'],
    ['pro', 'business', 2, undefined],
    ['free', 'free', 2, undefined],
    ['pro', 'free', 0, undefined],
  ] as const)('from %s to %s with %d domains means: %s', (from, to, count, consequence) => {
    expect(domainConsequence(from, to, count)).toBe(consequence);
  });
});

describe('limits as typed', () => {
  it.each([
    ['5000', 5_000],
    [' 7 ', 7],
    ['1,000 000_000', 1_000_000_000],
    ['', undefined],
    ['many', Number.NaN],
  ])('%j is %s', (text, count) => {
    expect(readLimits({ 'limits.perMinute': text, 'limits.perDay': text })).toEqual({
      perMinute: count,
      perDay: count,
    });
  });
});

describe('a new key', () => {
  const made = { ...makeKey('key_new', 'Storefront'), secret: 'viv_secret' };

  it('shows its secret until the user confirms having it', async () => {
    const { access, transport, secrets, sent } = await setUp();
    transport.stub('keys.create', () => made);
    access.newKey.values.name = 'Storefront';
    await access.newKey.submit();
    expect(sent('keys.create')).toEqual([{ projectId: 'prj_demo', name: 'Storefront' }]);
    expect(secrets.of('prj_demo')).toEqual([made]);
    expect(secrets.of('prj_other')).toEqual([]);
    secrets.acknowledge('key_new');
    expect(secrets.of('prj_demo')).toEqual([]);
  });

  it('without a name gets one from the engine', async () => {
    const { access, transport, sent } = await setUp();
    transport.stub('keys.create', () => made);
    access.newKey.values.name = '  ';
    await access.newKey.submit();
    expect(sent('keys.create')).toEqual([{ projectId: 'prj_demo' }]);
  });

  it('that is revoked before its secret was read hides the secret', async () => {
    const { access, transport, secrets } = await setUp();
    secrets.hold('prj_demo', made);
    transport.stub('keys.revoke', () => ({ ...made, revokedAt: made.createdAt }));
    await access.revoke(made);
    expect(secrets.of('prj_demo')).toEqual([]);
  });
});

describe('callers', () => {
  it('can be reset, one or all, and unbanned, with a confirmation for each', async () => {
    const { access, transport, sent, said } = await setUp();
    transport.stub('limits.reset', () => []);
    await access.resetting.start({ caller: 'key:key_ci', name: 'CI' });
    expect(said()).toBe('The counters of CI are at zero.');
    await access.resetting.start();
    expect(said()).toBe('All counters are at zero.');
    expect(sent('limits.reset')).toEqual([{ projectId: 'prj_demo', caller: 'key:key_ci' }, { projectId: 'prj_demo' }]);
    transport.stub('limits.unban', () => ({ keyId: 'key_ci', lifted: true }));
    await access.lifting.start('key_ci', 'CI');
    expect(said()).toBe('The ban of CI is lifted.');
    transport.stub('limits.unban', () => ({ keyId: 'key_ci', lifted: false }));
    await access.lifting.start('key_ci', 'CI');
    expect(said()).toBe('The ban of CI was over already.');
  });

  it('are read again after a request of this project, but of no other', async () => {
    const { time, transport } = await setUp();
    await time.pass(1_000);
    transport.tell({ type: 'limits.changed', projectId: 'prj_other' });
    await settle();
    expect(transport.asked('limits.usage')).toBe(1);
    transport.tell({ type: 'limits.changed', projectId: 'prj_demo' });
    await settle();
    expect([transport.asked('limits.usage'), transport.asked('keys.list')]).toEqual([2, 2]);
  });
});
