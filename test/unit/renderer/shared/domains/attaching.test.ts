// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { expect, it } from 'vitest';
import { ConnectionLostError } from '../../../../../renderer/connection/transport.ts';
import { hostnamesIn } from '../../../../../renderer/pages/domains/attach/pasted-hostnames.ts';
import { attaching, servingLocally } from '../../../../../renderer/shared/domains/domain-works.ts';
import { Works } from '../../../../../renderer/shared/session/works.svelte.ts';
import { fakeClient } from '../../../../support/fake-client.ts';
import { createFakeClock, settle } from '../../../../support/fake-clock.ts';

const NAMES = ['a.test', 'b c.test', 'c.test', 'lost.test', 'e.test'];

async function attach(hostnames: readonly string[], refusal?: string) {
  const { client, calls } = fakeClient({
    'domains.attach': ({ hostname }: { hostname: string }) => {
      if (hostname.startsWith('lost')) throw new ConnectionLostError();
      if (hostname.includes(' ')) throw new ORPCError('hostname_invalid', { message: 'It contains a space.' });
      return { hostname };
    },
  });
  const work = new Works(createFakeClock()).start(attaching({ client, projectId: 'prj_1' }, hostnames, refusal));
  await settle();
  const rows = work.report?.rejected.map(({ row, message, text }) => [row, message, text]);
  return { asked: calls.map(({ input }) => (input as { hostname: string }).hostname), work, rows };
}

it('attaches all but the first, which was asked for, and reports each refusal with its reason', async () => {
  const { asked, work, rows } = await attach(NAMES.slice(0, 3));
  expect(asked).toEqual(['b c.test', 'c.test']);
  expect([work.title, work.result]).toEqual(['Attached 2 of 3 domains', '2 domains attached, 1 not.']);
  expect(work.report?.created).toBe(2);
  expect(rows).toEqual([[2, 'It contains a space.', 'b c.test']]);
});

it('loses none when the connection breaks', async () => {
  const { work, rows } = await attach(NAMES, 'Attached elsewhere.');
  expect([work.state, work.report?.created]).toEqual(['failed', 1]);
  expect(rows).toEqual([
    [1, 'Attached elsewhere.', 'a.test'],
    [2, 'It contains a space.', 'b c.test'],
    [4, 'Not attached yet.', 'lost.test'],
    [5, 'Not attached yet.', 'e.test'],
  ]);
});

it('puts the records of attached domains, and names those that are not served then', async () => {
  const { client, calls } = fakeClient({
    'domains.attach': ({ hostname }: { hostname: string }) =>
      hostname === 'a.test' ? { hostname, url: 'https://a.test/' } : { hostname },
  });
  const work = new Works(createFakeClock()).start(servingLocally({ client, projectId: 'prj_1' }, ['a.test', 'b.test']));
  await settle();
  expect(calls.map(({ input }) => (input as { local: boolean }).local)).toEqual([true, true]);
  expect(work.result).toBe('1 domain served. Not yet: b.test; their pages say why.');
});

it('takes a pasted line with a space as one hostname, which is then refused', () => {
  expect(hostnamesIn('a.test\nbad name!\r\n\n a.test \nhttps://c.test/x')).toEqual(['a.test', 'bad name!', 'c.test']);
});
