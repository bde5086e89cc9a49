// @vitest-environment ./test/support/page-environment.ts
import { expect, it } from 'vitest';
import { ConnectionLostError } from '../../../../../renderer/connection/transport.ts';
import { hostnamesIn } from '../../../../../renderer/shared/domains/attachment.svelte.ts';
import { attaching } from '../../../../../renderer/shared/domains/domain-works.ts';
import { Works } from '../../../../../renderer/shared/session/works.svelte.ts';
import { fakeClient, refuses } from '../../../../support/fake-client.ts';
import { createFakeClock, settle } from '../../../../support/fake-clock.ts';

const NAMES = ['a.test', 'b c.test', 'c.test', 'lost.test', 'e.test'];

async function attach(hostnames: readonly string[], refusal?: { message: string }) {
  const { client, calls } = fakeClient({
    'domains.attach': ({ hostname }: { hostname: string }) => {
      if (hostname.startsWith('lost')) throw new ConnectionLostError();
      if (hostname.includes(' ')) refuses('hostname_invalid', 'It contains a space.')();
      return { hostname };
    },
  });
  const options = { client, projectId: 'prj_1', hostnames, local: false, refusal };
  const work = new Works(createFakeClock(), () => 'Demo').start(attaching(options));
  await settle();
  const rows = work.report?.rejected.map(({ row, message, text }) => [row, message, text]);
  return { asked: calls.map(({ input }) => (input as { hostname: string }).hostname), work, rows };
}

it('attaches all but the first, which was asked for, and reports each refusal with its reason', async () => {
  const { asked, work, rows } = await attach(NAMES.slice(0, 3));
  expect(asked).toEqual(['b c.test', 'c.test']);
  expect([work.title, work.result]).toEqual(['Attached 2 of 3 domains', '1 not a hostname.']);
  expect(work.report?.created).toBe(2);
  expect(rows).toEqual([[2, 'It contains a space.', 'b c.test']]);
  // Without refusals, the title says it all.
  const { work: all } = await attach(['a.test', 'b.test']);
  expect([all.project, all.title, all.result]).toEqual(['Demo', 'Attached 2 domains', '']);
});

it('reports a line that is there twice, and does not ask for it again', async () => {
  const { asked, work, rows } = await attach(['a.test', 'b.test', 'a.test']);
  expect(asked).toEqual(['b.test']);
  expect(work.result).toBe('1 repeated.');
  expect(rows).toEqual([[3, 'It repeats an earlier line.', 'a.test']]);
});

it('loses none when the connection breaks', async () => {
  const { work, rows } = await attach(NAMES, { message: 'Attached elsewhere.' });
  expect([work.state, work.report?.created]).toEqual(['failed', 1]);
  expect(rows).toEqual([
    [1, 'Attached elsewhere.', 'a.test'],
    [2, 'It contains a space.', 'b c.test'],
    [4, 'Not attached yet.', 'lost.test'],
    [5, 'Not attached yet.', 'e.test'],
  ]);
});

const OK = { step: 'record', ok: true, message: 'The record' };

it('puts the records of attached domains, and reports those that are not served then', async () => {
  const { client, calls } = fakeClient({
    'domains.attach': ({ hostname }: { hostname: string }) =>
      hostname === 'a.test' ? { hostname, steps: [OK] } : { hostname, steps: [OK, { ...OK, ok: false }] },
  });
  const hostnames = ['a.test', 'b.test'];
  const work = new Works(createFakeClock()).start(attaching({ client, projectId: 'prj_1', hostnames, local: true }));
  await settle();
  expect(calls.map(({ input }) => (input as { local: boolean }).local)).toEqual([true, true]);
  expect([work.title, work.result]).toEqual(['Served 1 of 2 domains', '1 not served.']);
  expect(work.report?.rejected).toEqual([{ row: 2, message: 'The record', text: 'b.test' }]);
});

it('takes a line with a space as one hostname, and a repeated one again, which are then refused', () => {
  const hostnames = ['a.test', 'bad name!', 'a.test', 'c.test'];
  expect(hostnamesIn('a.test\nbad name!\r\n\n a.test \nhttps://c.test/x')).toEqual(hostnames);
});
