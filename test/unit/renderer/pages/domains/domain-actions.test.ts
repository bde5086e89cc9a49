// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { Announcer } from '../../../../../renderer/shared/session/announcer.svelte.ts';
import { Breaks } from '../../../../../renderer/shared/session/breaks.svelte.ts';
import { DomainActions } from '../../../../../renderer/pages/domains/domain-actions.svelte.ts';
import { type Answers, refuses } from '../../../../support/fake-client.ts';
import { makeDomain } from '../../../../support/page/page-domains.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';
import { CREATED_AT, makeBreak, makeProject } from '../../../../support/page/page-world.ts';

const HOST = 'www.acme.test';
const PROJECT = {
  ...makeProject('Shop', { plan: 'pro' }),
  primary: HOST,
  redirects: [
    { from: 'old.acme.test', to: HOST, status: 301 as const },
    { from: 'a.acme.test', to: 'b.acme.test', status: 302 as const },
  ],
};

function setUp(answers: Answers = {}) {
  const kept = { ...PROJECT, primary: null, redirects: [PROJECT.redirects[1]] };
  let removed = false;
  const parts = pageParts({
    'projects.get': () => (removed ? kept : PROJECT),
    'projects.update': () => PROJECT,
    'domains.remove': () => {
      removed = true;
      return makeDomain(HOST);
    },
    'domains.attach': () => makeDomain(HOST, { state: 'pending' }),
    'domains.verify': () => makeDomain(HOST),
    'domains.setPrimary': () => PROJECT,
    'domains.setRedirects': () => PROJECT,
    'certificates.renew': () => ({}),
    'clock.set': () => ({}),
    'breaks.list': () => [],
    'breaks.start': (input: object) => makeBreak('brk_new', input),
    ...answers,
  });
  const announcer = new Announcer(parts.time);
  const { client, toasts } = parts;
  const actions = new DomainActions({
    ...{ client, toasts, announcer, projectId: PROJECT.id },
    breaks: new Breaks({ ...parts.source, clock: { nowMs: Date.parse(CREATED_AT) } }),
    run: () => undefined,
    onverified: () => undefined,
  });
  return { ...parts, actions, announcer };
}

describe('a domain', () => {
  it('is removed at once; Undo attaches and verifies it again, with its project’s settings for it', async () => {
    const { actions, calls, changed, said, undo } = setUp();
    expect(await actions.remove(HOST)).toBe(true);
    expect(said()).toEqual([`Removed ${HOST}. It is no longer served, and its certificate was deleted.`]);
    await undo();
    expect(changed()).toEqual([
      ...['domains.remove', 'domains.attach', 'domains.verify'],
      ...['domains.setPrimary', 'domains.setRedirects'],
    ]);
    const redirects = [PROJECT.redirects[1], PROJECT.redirects[0]];
    expect(calls.at(-1)?.input).toEqual({ projectId: PROJECT.id, redirects });
    expect(said()).toEqual([`${HOST} is attached again, verified, with a certificate.`]);
  });

  it('reports which breaks have ended with it; Undo starts them again, after the domain is verified', async () => {
    const over = '2026-11-20T08:59:00.000Z';
    const running = [
      makeBreak('brk_1', { entry: 'domain.wrong-target', on: { hostname: HOST } }),
      makeBreak('brk_2', { entry: 'http.garbage', on: { hostname: HOST }, until: over }),
      makeBreak('brk_3', { on: { hostname: HOST } }),
    ];
    const breaks = running.slice(0, 2).map(({ id, entry }) => ({ id, entry }));
    const { actions, asked, changed, said, undo } = setUp({
      'breaks.list': () => running,
      'domains.remove': () => makeDomain(HOST, { breaks }),
    });
    await actions.remove(HOST);
    expect(said()[0]).toMatch(/ was deleted\. No longer broken: domain\.wrong-target title, http\.garbage title\.$/);
    await undo();
    const again = { entry: 'domain.wrong-target', on: { hostname: HOST }, for: 'PT10M' };
    expect(asked('breaks.start')).toMatchObject([again]);
    expect(changed().indexOf('breaks.start')).toBeGreaterThan(changed().indexOf('domains.verify'));
    expect(said()).toEqual([
      `${HOST} is attached again, verified, with a certificate. Broken again: domain.wrong-target title. Still repaired: http.garbage title.`,
    ]);
  });

  it('is back even if one of its breaks is refused, and says so', async () => {
    const before = makeBreak('brk_1', { entry: 'http.garbage', on: { hostname: HOST } });
    const { actions, said, undo } = setUp({
      'breaks.list': () => [before],
      'breaks.start': refuses('invalid_request', `${HOST} is not served.`),
      'domains.remove': () => makeDomain(HOST, { breaks: [{ id: 'brk_1', entry: 'http.garbage' }] }),
      'domains.verify': () => makeDomain(HOST, { state: 'pending' }),
    });
    await actions.remove(HOST);
    await undo();
    expect(said()).toEqual([`${HOST} is attached again, not verified, pending. Still repaired: http.garbage title.`]);
  });

  it('reports truthfully that it is back and not verified', async () => {
    const { actions, said, undo } = setUp({ 'domains.verify': () => makeDomain(HOST, { state: 'pending' }) });
    await actions.remove(HOST);
    await undo();
    expect(said()).toEqual([`${HOST} is attached again, not verified, pending.`]);
  });

  it('runs one action at a time, and announces the result of a check', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { actions, announcer, asked } = setUp({ 'domains.verify': () => promise });
    const verified = actions.verify(HOST);
    expect([actions.isBusy(HOST), actions.isBusy('other.acme.test')]).toEqual([true, false]);
    expect(await actions.verify(HOST)).toBeUndefined();
    resolve(makeDomain(HOST));
    await verified;
    expect([actions.isBusy(HOST), announcer.text]).toEqual([false, `${HOST}: verified, with a certificate.`]);
    expect(asked('domains.verify')).toHaveLength(1);
  });

  it.each([
    ['omits a reason that is shown at the domain', 'conflict', `${HOST} was not renewed; its checks say why.`],
    ['reports any other failure in the engine’s own words', 'internal_error', 'The disk is full.'],
  ])('%s', async (_what, code, told) => {
    const { actions, toasts } = setUp({ 'certificates.renew': refuses(code, 'The disk is full.') });
    await actions.renew(HOST);
    expect(toasts.list.map(({ tone, text }) => [tone, text])).toEqual([['failed', told]]);
  });

  it('changes the plan to Pro, and back again', async () => {
    const { actions, calls, said, undo } = setUp({ 'projects.get': () => ({ ...PROJECT, plan: 'free' }) });
    await actions.changePlan();
    expect(said()).toEqual(['Shop is on the Pro plan now.']);
    await undo();
    expect(calls.at(-1)).toEqual({ procedure: 'projects.update', input: { projectId: PROJECT.id, plan: 'free' } });
  });

  it('becomes primary, and this can be undone', async () => {
    const { actions, asked, undo } = setUp();
    await actions.makePrimary(null);
    await undo();
    expect(asked('domains.setPrimary')).toEqual([
      { projectId: PROJECT.id, hostname: null },
      { projectId: PROJECT.id, hostname: HOST },
    ]);
  });
});
