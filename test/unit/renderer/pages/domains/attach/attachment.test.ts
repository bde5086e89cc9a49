// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import { Attachment } from '../../../../../../renderer/pages/domains/attach/attachment.svelte.ts';
import { fakeClient, type Answers } from '../../../../../support/fake-client.ts';
import { makeDomain } from '../../../../../support/page/page-domains.ts';

/** Refuses with `code` until `fix` is called. */
function setUp(code: string, answers: Answers = {}) {
  const message = `Refused: ${code}.`;
  let refuses = true;
  const fix = () => (refuses = false);
  const fake = fakeClient({
    'domains.attach': ({ hostname }: { hostname: string }) => {
      if (refuses) throw new ORPCError(code, { message, data: { issues: [{ path: 'hostname', message }] } });
      return makeDomain(hostname, { state: 'pending' });
    },
    'domains.get': ({ hostname }: { hostname: string }) => makeDomain(hostname, { projectId: 'prj_other' }),
    'deploys.list': () => [{ id: 'dep_0', status: 'succeeded', createdAt: '2026-11-20T08:00:00.000Z' }],
    'deploys.create': () => {
      fix();
      return { id: 'dep_1', status: 'succeeded', createdAt: '2026-11-20T09:00:00.000Z' };
    },
    ...answers,
  });
  const changePlan = async () => {
    fake.calls.push({ procedure: 'plan', input: 'pro' });
    return fix() === false;
  };
  const attachment = new Attachment({ client: fake.client, actions: { changePlan }, projectId: 'prj_shop' });
  attachment.form.values.hostname = ' www.acme.test ';
  return { ...fake, attachment };
}

describe('attaching', () => {
  it.each(['hostname_invalid', 'hostname_reserved', 'plan_required', 'deploy_required', 'in_use'])(
    'shows the engine’s message at the field, and keeps what was typed: %s',
    async (code) => {
      const { attachment } = setUp(code);
      expect(await attachment.attach()).toBeUndefined();
      const { form } = attachment;
      expect([form.code, form.fault('hostname'), form.failure, form.values.hostname]).toEqual([
        code,
        `Refused: ${code}.`,
        undefined,
        ' www.acme.test ',
      ]);
    },
  );

  it('changes the plan, and tries again', async () => {
    const { attachment, changes } = setUp('plan_required');
    await attachment.attach();
    expect((await attachment.changePlan.start())?.state).toBe('pending');
    expect(attachment.form.code).toBeUndefined();
    expect(changes()).toEqual(['domains.attach', 'plan', 'domains.attach']);
  });

  it.each([
    ['succeeded', ['domains.attach', 'deploys.create', 'plan', 'domains.attach'], undefined],
    ['failed', ['domains.attach', 'deploys.create'], 'The deploy failed. No answer.'],
  ])('deploys a project without deploys before it changes the plan: %s', async (status, steps, fault) => {
    const { attachment, changes } = setUp('plan_required', {
      'deploys.list': () => [{ id: 'dep_1', status: 'failed', createdAt: '' }],
      'deploys.create': () => ({ id: 'dep_2', status, reason: 'No answer.', createdAt: '' }),
    });
    await attachment.attach();
    await attachment.changePlan.start();
    expect(changes()).toEqual(steps);
    expect(attachment.deployFault).toBe(fault);
  });

  it('deploys, and tries again', async () => {
    const { attachment, changes } = setUp('deploy_required');
    await attachment.attach();
    await attachment.deploy.start();
    expect(changes()).toEqual(['domains.attach', 'deploys.create', 'domains.attach']);
  });

  it('shows why the deploy did not help, and does not try again', async () => {
    const { attachment, changes } = setUp('deploy_required', {
      'deploys.create': () => ({ id: 'dep_1', status: 'failed', reason: 'Nobody answers.', createdAt: '' }),
    });
    await attachment.attach();
    await attachment.deploy.start();
    expect(attachment.deployFault).toBe('The deploy failed. Nobody answers.');
    expect(changes()).toEqual(['domains.attach', 'deploys.create']);
  });

  it('extracts the hostname from a pasted URL', async () => {
    const { attachment } = setUp('none', {
      'domains.attach': ({ hostname }: { hostname: string }) => makeDomain(hostname),
    });
    attachment.form.values.hostname = ' https://shop.acme.test:8443/cart?id=1 ';
    expect(await attachment.attach()).toMatchObject({ hostname: 'shop.acme.test' });
  });

  it('finds where a hostname is already attached', async () => {
    const { attachment } = setUp('in_use');
    await attachment.attach();
    expect(attachment.holder).toEqual({ hostname: 'www.acme.test', projectId: 'prj_other' });
  });

  it.each([
    ['in_use', 'Refused: in_use.', 'in_use'],
    ['plan_required', undefined, 'plan_required'],
  ])(
    'asks for the first of several, and goes on unless the project is the reason: %s',
    async (code, refusal, fault) => {
      const { attachment, changes } = setUp(code);
      attachment.form.values.hostname = 'a.acme.test\n https://b.acme.test/x , a.acme.test\n\n';
      expect(await attachment.attach()).toBeUndefined();
      const hostnames = ['a.acme.test', 'b.acme.test'];
      expect(attachment.several).toEqual(refusal === undefined ? undefined : { hostnames, refusal });
      expect(attachment.form.code).toBe(refusal === undefined ? fault : undefined);
      expect(changes()).toEqual(['domains.attach']);
    },
  );
});
