// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../../../main/contract/default-settings.ts';
import type { Project } from '../../../../../main/contract/projects.ts';
import { KeysAndLimits } from '../../../../../renderer/pages/limits/keys-and-limits.svelte.ts';
import { domainConsequence, readLimits } from '../../../../../renderer/shared/limits/plans.ts';
import { settingsQuery } from '../../../../../renderer/shared/session/settings-query.ts';
import { UnreadSecrets } from '../../../../../renderer/shared/session/unread-secrets.svelte.ts';
import { refuses } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { noViews, pageParts } from '../../../../support/page/page-parts.ts';
import { makeKey, makeProject } from '../../../../support/page/page-world.ts';

async function setUp(project: Project = makeProject('Demo', { plan: 'pro' }), domains = 0) {
  let current = project;
  const parts = pageParts({
    'limits.usage': () => [],
    'keys.list': () => [makeKey('key_ci', 'CI')],
    'domains.list': () => Array.from({ length: domains }, () => ({})),
    'settings.get': () => DEFAULT_SETTINGS,
    'projects.update': (change: Partial<Project>) => (current = { ...current, ...change }),
  });
  const secrets = new UnreadSecrets(noViews());
  const access = new KeysAndLimits({
    ...{ ...parts.source, toasts: parts.toasts, secrets },
    settings: settingsQuery(parts.source),
    project: () => current,
  });
  await settle();
  return { ...parts, secrets, access };
}

describe('a change of plan', () => {
  it('applies at once, reports the effect on the domains, and can be undone', async () => {
    const { access, undo, asked, said } = await setUp(undefined, 3);
    await access.changingPlan.start('free');
    expect(said()).toEqual(['Demo is on Free now. 3 domains are suspended.']);
    await undo();
    expect(asked('projects.update')).toEqual([
      { projectId: 'prj_demo', plan: 'free' },
      { projectId: 'prj_demo', plan: 'pro' },
    ]);
    expect(said()).toEqual(['Demo is on Pro again.']);
  });

  it('from Enterprise keeps its limits for Undo', async () => {
    const limits = { perMinute: 7, perDay: 9 };
    const { access, undo, asked } = await setUp({ ...makeProject('Demo', { plan: 'enterprise' }), limits });
    await access.changingPlan.start('business');
    await undo();
    expect(asked('projects.update').at(-1)).toEqual({ projectId: 'prj_demo', plan: 'enterprise', limits });
  });

  it('to Enterprise sends both limits as typed, and shows the engine’s message at the field', async () => {
    const { access, answers, asked, said } = await setUp();
    access.beginAgreeing('enterprise');
    expect(access.agreed.values).toMatchObject({ 'limits.perMinute': '300', 'limits.perDay': '10000' });
    access.agreed.values['limits.perMinute'] = ' 5000 ';
    const accept = answers['projects.update'] ?? expect.fail();
    const message = 'is required: an integer';
    answers['projects.update'] = refuses('invalid_request', '', { path: 'limits.perDay', message });
    expect(await access.agreed.submit()).toBeUndefined();
    expect(access.agreed.fault('limits.perDay')).toBe(message);
    expect(access.agreed.values['limits.perMinute']).toBe(' 5000 ');
    answers['projects.update'] = accept;
    access.agreed.values['limits.perDay'] = '90000';
    await access.agreed.submit();
    const limits = { perMinute: 5_000, perDay: 90_000 };
    expect(asked('projects.update').at(-1)).toEqual({ projectId: 'prj_demo', plan: 'enterprise', limits });
    expect(said()).toEqual(['Demo is on Enterprise now: 5,000 a minute, 90,000 a day.']);
  });

  it.each([
    ['pro', 'free', 2, 'would suspend 2 domains: not served until an upgrade'],
    ['enterprise', 'free', 1, 'would suspend 1 domain: not served until an upgrade'],
    ['free', 'pro', 1, 'would serve 1 domain again'],
    ['pro', 'business', 2, undefined],
    ['free', 'free', 2, undefined],
    ['pro', 'free', 0, undefined],
  ] as const)('from %s to %s with %d domains means: %s', (from, to, count, consequence) => {
    expect(domainConsequence(from, to, count)).toBe(consequence);
  });
});

it.each([
  ['5000', 5_000],
  [' 7 ', 7],
  ['1,000 000_000', 1_000_000_000],
  ['', undefined],
  ['many', Number.NaN],
])('limits typed as %j are %s', (text, count) => {
  const typed = { 'limits.perMinute': text, 'limits.perDay': text };
  expect(readLimits(typed)).toEqual({ perMinute: count, perDay: count });
});

describe('a new key', () => {
  const made = { ...makeKey('key_new', 'Storefront'), secret: 'viv_secret' };

  it('shows its secret until the user confirms having it', async () => {
    const { access, answers, secrets, asked } = await setUp();
    answers['keys.create'] = () => made;
    access.newKey.values.name = 'Storefront';
    await access.newKey.submit();
    expect(asked('keys.create')).toEqual([{ projectId: 'prj_demo', name: 'Storefront' }]);
    expect(secrets.of('prj_demo')).toEqual([made]);
    expect(secrets.of('prj_other')).toEqual([]);
    secrets.acknowledge('key_new');
    expect(secrets.of('prj_demo')).toEqual([]);
  });

  it('without a name gets one from the engine', async () => {
    const { access, answers, asked } = await setUp();
    answers['keys.create'] = () => made;
    access.newKey.values.name = '  ';
    await access.newKey.submit();
    expect(asked('keys.create')).toEqual([{ projectId: 'prj_demo' }]);
  });

  it('that is revoked before its secret was read hides the secret', async () => {
    const { access, answers, secrets } = await setUp();
    secrets.hold('prj_demo', made);
    answers['keys.revoke'] = () => ({ ...made, revokedAt: made.createdAt });
    await access.revoke(made);
    expect(secrets.of('prj_demo')).toEqual([]);
  });
});

describe('callers', () => {
  it('can be reset, one or all, and unbanned, with a confirmation for each', async () => {
    const { access, answers, asked, said } = await setUp();
    answers['limits.reset'] = () => [];
    await access.resetting.start({ caller: 'key:key_ci', name: 'CI' });
    await access.resetting.start();
    expect(asked('limits.reset')).toEqual([{ projectId: 'prj_demo', caller: 'key:key_ci' }, { projectId: 'prj_demo' }]);
    for (const lifted of [true, false]) {
      answers['limits.unban'] = () => ({ keyId: 'key_ci', lifted });
      await access.lifting.start('key_ci', 'CI');
    }
    expect(said()).toEqual([
      ...['The counters of CI are at zero.', 'All counters are at zero.'],
      ...['The ban of CI is lifted.', 'The ban of CI was over already.'],
    ]);
  });

  it('are read again after a request of this project, but of no other', async () => {
    const { time, tell, asked } = await setUp();
    await time.pass(1_000);
    await tell('limits.changed', { projectId: 'prj_other' });
    expect(asked('limits.usage')).toHaveLength(1);
    await tell('limits.changed', { projectId: 'prj_demo' });
    expect([asked('limits.usage').length, asked('keys.list').length]).toEqual([2, 2]);
  });
});
