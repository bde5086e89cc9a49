// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { Connection } from '../../../../../renderer/connection/connection.svelte.ts';
import { figuresOf, partOf, RequestHistory } from '../../../../../renderer/pages/home/request-history.svelte.ts';
import { createFakeClock, settle } from '../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../support/page/page-link.ts';
import { makeRates } from '../../../../support/page/page-world.ts';

async function setUp() {
  const time = createFakeClock();
  const transport = createFakeTransport();
  let rates = makeRates([3, 5], [0, 1], 200);
  transport.stub('status.rates', () => rates);
  const connection = new Connection({ transport, time, pulse: () => Promise.resolve() });
  connection.start();
  await settle();
  const history = new RequestHistory({ client: connection.client, changes: connection, time, projectId: 'p' });
  await settle();
  return {
    time,
    transport,
    history,
    latest: (count: number) => history.seconds?.requests.slice(-count),
    becomes: (next: typeof rates) => {
      rates = next;
    },
    asked: () => transport.asked('status.rates'),
  };
}

describe('requests per second on the page', () => {
  it('are those that the engine has counted', async () => {
    const { history } = await setUp();
    expect(history.seconds?.requests).toHaveLength(300);
    expect(figuresOf(history.seconds ?? makeRates([]))).toEqual({
      now: 5,
      refusedNow: 1,
      total: 8,
      refusedTotal: 1,
      peak: 5,
    });
  });

  it('have parts, including the first and the last second', () => {
    const seconds = { requests: [1, 2, 3, 4], refused: [0, 1, 0, 2] };
    expect(partOf(seconds, 1, 2)).toEqual({ requests: [2, 3], refused: [1, 0] });
    expect(partOf(seconds, 3, 3)).toEqual({ requests: [4], refused: [2] });
  });

  it('continue with empty seconds while no event arrives, without a request', async () => {
    const { time, latest, asked } = await setUp();
    await time.pass(839);
    expect(latest(3)).toEqual([0, 3, 5]);
    await time.pass(1);
    expect(latest(3)).toEqual([3, 5, 0]);
    await time.pass(2_000);
    expect(latest(5)).toEqual([3, 5, 0, 0, 0]);
    expect(asked()).toBe(1);
  });

  it('are requested once at the end of a second in which there were requests', async () => {
    const { time, transport, latest, becomes, asked } = await setUp();
    becomes(makeRates([3, 5, 7], [], 40));
    for (let told = 0; told < 20; told++) transport.tell({ type: 'limits.changed', projectId: 'p' });
    transport.tell({ type: 'limits.changed', projectId: 'another' });
    await time.pass(800);
    expect(asked()).toBe(1);
    await time.pass(40);
    expect([asked(), latest(3)]).toEqual([2, [3, 5, 7]]);
    await time.pass(1_000);
    expect([asked(), latest(3)]).toEqual([2, [5, 7, 0]]);
  });

  it('are requested at the end of a second that had begun with requests before the page followed', async () => {
    const { time, transport, latest, becomes, asked } = await setUp();
    becomes({ ...makeRates([3, 5, 0], [], 40), running: 4 });
    transport.tell({ type: 'limits.changed', projectId: 'p' });
    await time.pass(840);
    expect([asked(), latest(2)]).toEqual([2, [5, 0]]);
    becomes(makeRates([3, 5, 0, 4], [], 40));
    await time.pass(1_000);
    expect([asked(), latest(2)]).toEqual([3, [0, 4]]);
  });

  it('are requested again after a lost connection', async () => {
    const { time, transport, latest, becomes } = await setUp();
    transport.becomes('unreachable');
    transport.drop();
    await time.pass(3_000);
    expect(latest(2)).toEqual([3, 5]);
    becomes(makeRates([9], [], 0));
    transport.becomes('reachable');
    await time.pass(10_000);
    expect(latest(12)).toContain(9);
  });

  it('are all zero after five silent minutes', async () => {
    const { time, history } = await setUp();
    await time.pass(400_000);
    expect(history.seconds?.requests.every((count) => count === 0)).toBe(true);
    expect(history.seconds?.requests).toHaveLength(300);
  });
});
