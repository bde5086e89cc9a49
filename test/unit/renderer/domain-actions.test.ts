// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import { Announcer } from '../../../renderer/state/announcer.svelte.ts';
import { DomainActions } from '../../../renderer/state/domain-actions.svelte.ts';
import { Toasts } from '../../../renderer/state/toasts.svelte.ts';
import { fakeClient, type Answers } from '../../support/fake-client.ts';
import { createFakeClock, settle } from '../../support/fake-clock.ts';
import { makeDomain } from '../../support/page-domains.ts';
import { makeProject } from '../../support/page-world.ts';

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
  const time = createFakeClock();
  const toasts = new Toasts(time);
  const announcer = new Announcer(time);
  const kept = { ...PROJECT, primary: null, redirects: [PROJECT.redirects[1]] };
  let removed = false;
  const fake = fakeClient({
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
    ...answers,
  });
  const actions = new DomainActions({
    client: fake.client,
    toasts,
    announcer,
    projectId: PROJECT.id,
    onverified: () => undefined,
  });
  const texts = () => toasts.list.map(({ text }) => text);
  const undo = async () => {
    toasts.undoLast();
    await settle();
    await settle();
  };
  return { ...fake, actions, toasts, announcer, texts, undo };
}

describe('a domain', () => {
  it('is removed at once; Undo attaches and verifies it again, with its project’s settings for it', async () => {
    const { actions, calls, changes, texts, undo } = setUp();
    expect(await actions.remove(HOST)).toBe(true);
    expect(texts()).toEqual([`Removed ${HOST}. It is no longer served, and its certificate was deleted.`]);
    await undo();
    expect(changes()).toEqual([
      'domains.remove',
      'domains.attach',
      'domains.verify',
      'domains.setPrimary',
      'domains.setRedirects',
    ]);
    expect(calls.at(-1)?.input).toEqual({
      projectId: PROJECT.id,
      redirects: [PROJECT.redirects[1], PROJECT.redirects[0]],
    });
    expect(texts()).toEqual([`${HOST} is attached again, verified, with a certificate.`]);
  });

  it('reports which breaks have ended with it', async () => {
    const breaks = [{ id: 'brk_1', entry: 'domain.wrong-target' }];
    const { actions, texts } = setUp({ 'domains.remove': () => makeDomain(HOST, { breaks }) });
    await actions.remove(HOST);
    expect(texts()[0]).toMatch(/ was deleted\. No longer broken: domain\.wrong-target\.$/);
  });

  it('reports truthfully that it is back and not verified', async () => {
    const { actions, texts, undo } = setUp({ 'domains.verify': () => makeDomain(HOST, { state: 'pending' }) });
    await actions.remove(HOST);
    await undo();
    expect(texts()).toEqual([`${HOST} is attached again, not verified, pending.`]);
  });

  it('runs one action at a time, and announces the result of a check', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { actions, announcer, calls } = setUp({ 'domains.verify': () => promise });
    const verified = actions.verify(HOST);
    expect([actions.isBusy(HOST), actions.isBusy('other.acme.test')]).toEqual([true, false]);
    expect(await actions.verify(HOST)).toBeUndefined();
    resolve(makeDomain(HOST));
    await verified;
    expect([actions.isBusy(HOST), announcer.text, calls.length]).toEqual([
      false,
      `${HOST}: verified, with a certificate.`,
      1,
    ]);
  });

  it.each([
    ['omits a reason that is shown at the domain', 'conflict', `${HOST} was not renewed; its checks say why.`],
    ['reports any other failure in the engine’s own words', 'internal_error', 'The disk is full.'],
  ])('%s', async (_what, code, told) => {
    const { actions, toasts } = setUp({
      'certificates.renew': () => {
        throw new ORPCError(code, { message: 'The disk is full.' });
      },
    });
    await actions.renew(HOST);
    expect(toasts.list.map(({ tone, text }) => [tone, text])).toEqual([['failed', told]]);
  });

  it('changes the plan, and back again with Enterprise’s previous limits', async () => {
    const { actions, calls, texts, undo } = setUp({ 'projects.get': () => ({ ...PROJECT, plan: 'enterprise' }) });
    await actions.changePlan('pro');
    expect(texts()).toEqual(['Shop is on the Pro plan.']);
    await undo();
    expect(calls.at(-1)).toEqual({
      procedure: 'projects.update',
      input: { projectId: PROJECT.id, plan: 'enterprise', limits: PROJECT.limits },
    });
  });

  it('becomes primary, and this can be undone', async () => {
    const { actions, calls, undo } = setUp();
    await actions.makePrimary(null);
    await undo();
    const set = calls.filter(({ procedure }) => procedure === 'domains.setPrimary').map(({ input }) => input);
    expect(set).toEqual([
      { projectId: PROJECT.id, hostname: null },
      { projectId: PROJECT.id, hostname: HOST },
    ]);
  });
});
