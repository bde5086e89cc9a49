// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { Project } from '../../../../../main/contract/projects.ts';
import { Attachment } from '../../../../../renderer/shared/domains/attachment.svelte.ts';
import { type Answers, refuses } from '../../../../support/fake-client.ts';
import { makeDomain } from '../../../../support/page/page-domains.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';
import { makeProject } from '../../../../support/page/page-world.ts';

const SHOP = { ...makeProject('Shop'), id: 'prj_shop', plan: 'pro' } satisfies Project;

/** Refuses with `code`, if any, until a project is deployed. */
function setUp(code?: string, project: Project | null = SHOP, answers: Answers = {}) {
  const message = `Refused: ${code}.`;
  let refused = code !== undefined;
  const parts = pageParts({
    'domains.attach': ({ hostname }: { hostname: string }) => {
      if (refused) refuses(code ?? '', message, { path: 'hostname', message })();
      return makeDomain(hostname, { state: 'pending' });
    },
    'domains.get': ({ hostname }: { hostname: string }) => makeDomain(hostname, { projectId: 'prj_other' }),
    'deploys.create': () => {
      refused = false;
      return { id: 'dep_1', status: 'succeeded', createdAt: '2026-11-20T09:00:00.000Z' };
    },
    'projects.create': () => ({ ...SHOP, id: 'prj_new' }),
    'projects.update': () => SHOP,
    'projects.remove': () => SHOP,
    ...answers,
  });
  const { client, toasts } = parts;
  const attachment = new Attachment({ client, toasts, local: false, project: () => project ?? undefined });
  attachment.form.values.hostname = ' www.acme.test ';
  return { ...parts, attachment };
}

describe('attaching', () => {
  it.each(['hostname_invalid', 'hostname_reserved', 'plan_required', 'in_use'])(
    'shows the engine’s message at the field, and keeps what was typed: %s',
    async (code) => {
      const { attachment } = setUp(code);
      expect(await attachment.attach()).toBeUndefined();
      const { form } = attachment;
      expect([form.code, attachment.fault, form.failure, form.values.hostname]).toEqual([
        ...[code, `Refused: ${code}.`, undefined, ' www.acme.test '],
      ]);
    },
  );

  it('says on its one button that the plan changes, and the change can be undone', async () => {
    const { attachment, changed, calls, said, undo } = setUp(undefined, { ...SHOP, plan: 'free' });
    expect(attachment.verb).toBe('Change to Pro and attach');
    expect(await attachment.attach()).toMatchObject({ domain: { hostname: 'www.acme.test' } });
    expect(changed()).toEqual(['projects.update', 'domains.attach']);
    expect(said()).toEqual(['Shop is on the Pro plan now.']);
    await undo();
    expect(calls.at(-1)).toEqual({ procedure: 'projects.update', input: { projectId: 'prj_shop', plan: 'free' } });
  });

  it.each<[string, Project | null, string[]]>([
    ['the plan', { ...SHOP, plan: 'free' }, ['projects.update', 'domains.attach', 'projects.update']],
    ['no project', null, ['projects.create', 'domains.attach', 'projects.remove']],
  ])('leaves %s as it was when the hostname is refused', async (_what, project, steps) => {
    const { attachment, changed, said } = setUp('hostname_invalid', project);
    expect(await attachment.attach()).toBeUndefined();
    expect([changed(), said()]).toEqual([steps, []]);
  });

  it('deploys a project without deploys, and tries again', async () => {
    const { attachment, changed } = setUp('deploy_required');
    expect(await attachment.attach()).toMatchObject({ owner: { id: 'prj_shop' } });
    expect(changed()).toEqual(['domains.attach', 'deploys.create', 'domains.attach']);
  });

  it('shows why the deploy did not help, and does not try again', async () => {
    const deploy = { id: 'dep_1', status: 'failed', reason: 'No answer.', createdAt: '' };
    const { attachment, changed } = setUp('deploy_required', SHOP, { 'deploys.create': () => deploy });
    await attachment.attach();
    expect(attachment.fault).toBe('The deploy failed. No answer.');
    expect(changed()).toEqual(['domains.attach', 'deploys.create']);
  });

  it('extracts the hostname from a pasted URL, and asks for its records in local zones on request', async () => {
    const { attachment, calls } = setUp();
    attachment.form.values = { hostname: ' https://shop.acme.test:8443/cart?id=1 ', local: true };
    await attachment.attach();
    const input = { projectId: 'prj_shop', hostname: 'shop.acme.test', local: true };
    expect(calls).toEqual([{ procedure: 'domains.attach', input }]);
    attachment.form.values = { hostname: 'https://[', local: true };
    await attachment.attach();
    expect(calls.at(-1)).toMatchObject({ input: { hostname: 'https://[' } });
  });

  it('finds where a hostname is already attached', async () => {
    const { attachment } = setUp('in_use');
    await attachment.attach();
    expect(attachment.holder).toEqual({ hostname: 'www.acme.test', projectId: 'prj_other' });
  });

  it.each([
    ['in_use', { message: 'Refused: in_use.', counted: 'already attached' }, undefined],
    ['plan_required', undefined, 'plan_required'],
  ])('asks for the first of several, and goes on unless it is the project: %s', async (code, refusal, fault) => {
    const { attachment, changed } = setUp(code);
    attachment.form.values.hostname = 'a.acme.test\n https://b.acme.test/x , a.acme.test\n-x.test\n';
    expect([attachment.verb, attachment.fault]).toEqual([
      'Attach 2 of 4 domains',
      'Not a hostname, or repeated: a.acme.test, -x.test',
    ]);
    const hostnames = ['a.acme.test', 'b.acme.test', 'a.acme.test', '-x.test'];
    const several = refusal === undefined ? undefined : { several: { hostnames, refusal, local: false } };
    expect(await attachment.attach()).toEqual(several && { owner: SHOP, ...several });
    expect([attachment.form.code, changed()]).toEqual([fault, ['domains.attach']]);
  });
});
