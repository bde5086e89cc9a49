import { expect } from 'vitest';
import { demoTest as it } from '../../support/engine-test.ts';

it('a loop that never waits gets an F, with the entries that show why', async ({ call, api }) => {
  for (let request = 0; request < 150; request++) await api();
  const report = await call('manners.report', { projectId: 'demo', since: 'PT10M' });
  expect(report.callers).toMatchObject([{ grade: 'F', key: { name: 'Demo key' }, requests: 150 }]);
  // 60 that were answered, and the refused ones together; one that meets the end of another, or follows it at once on
  // another connection, is a call of its own.
  const calls = report.callers[0]?.calls ?? 0;
  expect([calls >= 61, calls < 120]).toEqual([true, true]);
  const [waits] = report.callers[0]?.rules ?? [];
  expect(waits).toMatchObject({ rule: 'waits-for-retry-after', verdict: 'broken', kept: 0 });
  const filter = `id:${waits?.entries.join(',')}`;
  const { items } = await call('traffic.list', { filter });
  expect(items.map(({ id }) => id).toReversed()).toEqual(waits?.entries);
  expect(new Set(items.map(({ status }) => status))).toEqual(new Set([429]));
  expect(await call('manners.report', { caller: 'nobody' })).toMatchObject({ callers: [] });
});

it('a report has a hundred callers, and counts the others', async ({ call, api }) => {
  for (let caller = 0; caller < 102; caller++) await api({ headers: { 'User-Agent': `client-${caller}` } });
  const { callers, omitted } = await call('manners.report', { projectId: 'demo' });
  expect([callers.length, omitted]).toEqual([100, 2]);
});

it('the recorded requests are decided again as they were, and under another plan', async ({ call, api }) => {
  await call('clock.freeze');
  const statuses: number[] = [];
  for (let round = 0; round < 4; round++) {
    const answers = await Promise.all(
      Array.from({ length: 45 }, (_, index) => api({ ...(index % 9 === 0 && { key: null }), method: 'GET' })),
    );
    statuses.push(...answers.map(({ status }) => status));
    await call('clock.advance', { by: 'PT40S' });
  }
  const refused = statuses.filter((status) => status === 429).length;
  expect(refused).toBeGreaterThan(10);
  const asItWas = await call('manners.whatIf', { projectId: 'demo' });
  expect(asItWas).toMatchObject({ requests: 180, refused });
  expect(await call('manners.whatIf', { plan: 'pro' })).toMatchObject({ refused: 0, bans: 0 });
  const strict = await call('manners.whatIf', { limits: { perMinute: 1, perDay: 100 } });
  expect(strict).toMatchObject({ bans: 1, callers: [{ key: { name: 'Demo key' } }, { caller: 'address:127.0.0.1' }] });
  const { steps } = strict;
  // A chart of a second or two would have nothing but its edges.
  expect(steps).toMatchObject({ stepSeconds: 5, allowed: { length: 13 }, refused: { length: 13 } });
  expect([steps.allowed, steps.refused].flat().reduce((sum, count) => sum + count)).toBe(180);
});
