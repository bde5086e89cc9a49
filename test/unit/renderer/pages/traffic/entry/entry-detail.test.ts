// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import { EntryDetail, RUNNING_MS } from '../../../../../../renderer/pages/traffic/entry/entry-detail.svelte.ts';
import { protocolOf } from '../../../../../../renderer/pages/traffic/entry/entry-look.ts';
import { fakeChanges, fakeClient } from '../../../../../support/fake-client.ts';
import { createFakeClock, settle } from '../../../../../support/fake-clock.ts';
import { makeDetail } from '../../../../../support/page/page-traffic.ts';

async function setUp() {
  let kept: 'kept' | 'gone' | 'broken' = 'kept';
  const { client } = fakeClient({
    'traffic.get': () => {
      if (kept === 'gone') throw new ORPCError('not_found', { message: 'There is no entry "trf_1".' });
      if (kept === 'broken') throw new ORPCError('internal_error', { message: 'It failed.' });
      return makeDetail(1);
    },
  });
  const open = async () => {
    const detail = new EntryDetail({ client, changes: fakeChanges(), time: createFakeClock(), id: 'trf_1' });
    await settle();
    return detail;
  };
  return { open, become: (state: typeof kept) => (kept = state) };
}

describe('one entry', () => {
  it('is gone if the engine does not have it, which is not a failure', async () => {
    const { open, become } = await setUp();
    become('gone');
    const { entry } = await open();
    expect([entry.value, entry.failure]).toEqual([null, undefined]);
  });

  it('is read again repeatedly while its request runs', async () => {
    const time = createFakeClock();
    let reads = 0;
    const { client } = fakeClient({
      'traffic.get': () => ((reads += 1), reads < 3 ? makeDetail(1, { running: true, status: null }) : makeDetail(1)),
    });
    const { entry } = new EntryDetail({ client, changes: fakeChanges(), time, id: 'trf_a_r1' });
    await settle();
    expect(entry.value?.running).toBe(true);
    await time.pass(10 * RUNNING_MS);
    expect([entry.value?.running, reads]).toEqual([undefined, 3]);
  });

  it('stays as it was read when it is removed later', async () => {
    const { open, become } = await setUp();
    const { entry } = await open();
    become('gone');
    entry.reread('now');
    await settle();
    expect([entry.value?.id, entry.failure]).toEqual(['trf_1', undefined]);
  });

  it('shows why it could not be read', async () => {
    const { open, become } = await setUp();
    become('broken');
    const { entry } = await open();
    expect([entry.value, entry.failure]).toEqual([undefined, 'It failed.']);
  });

  it.each([
    ['1.0', 'HTTP/1.0'],
    ['1.1', 'HTTP/1.1'],
    ['2.0', 'HTTP/2'],
  ])('names protocol version %s %s', (httpVersion, named) => {
    expect(protocolOf({ httpVersion })).toBe(named);
  });
});
