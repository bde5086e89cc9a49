import { expect, test } from 'vitest';
import type { AcmeOrderInfo } from '../../../main/contract/acme.ts';
import { DAY_MS } from '../../../main/contract/duration.ts';
import type { Ask } from '../../../main/contract/index.ts';
import { darkOf, type YearEvent } from '../../../main/rehearsal/renewals/course.ts';
import { observe, type Observation, type RunningClient, type Scene } from '../../../main/rehearsal/renewals/observe.ts';

const FROM = Date.UTC(2028, 1, 16);
const NAME = 'lit.acme.test';
const LIFE_MS = 45 * DAY_MS;
const at = (days: number): number => FROM + days * DAY_MS;

/**
 * What a client does at a moment of the app’s clock, while it runs: order, and be refused if an event prevents the
 * order.
 */
interface World {
  scene: Scene;
  /** The procedures that changed something, with the day. */
  changes: string[];
  starts: number;
  /** What the user was told, with the real milliseconds. */
  said: [ms: number, sentence: string][];
}

/**
 * A minimal engine and client: real time passes as the scene sleeps. @param renews days after an issue on which the
 * client orders the next one; it does so as soon as it runs @param takesMs real milliseconds from there to the order
 * @param endsWith the exit code of a command that ends at once
 */
function worldOf({ renews, endsWith, takesMs = 0 }: { renews: number; endsWith?: number; takesMs?: number }): World {
  const orders: AcmeOrderInfo[] = [];
  let nowMs = FROM;
  let realMs = 0;
  let blocked: string | null = null;
  let failedMs = -Infinity;
  let dueMs: number | null = null;
  const world: World = { scene: undefined as never, changes: [], starts: 0, said: [] };
  let isRunning = false;

  function order(): void {
    const last = orders.find(({ status }) => status === 'valid');
    const isDue = last === undefined || nowMs - Date.parse(last.createdAt) >= renews * DAY_MS;
    // Like Caddy, it waits long before a retry.
    if (!isDue || failedMs === nowMs || (failedMs > -Infinity && isRunning)) return;
    dueMs ??= realMs;
    if (blocked === 'outage' || realMs - dueMs < takesMs) return;
    dueMs = null;
    if (blocked !== null) failedMs = nowMs;
    orders.unshift({
      ...{ id: `${orders.length}`, accountId: 'a', profile: 'p', names: [NAME] },
      ...{ createdAt: new Date(nowMs).toISOString(), expiresAt: new Date(nowMs).toISOString() },
      status: blocked === null ? 'valid' : 'invalid',
      ...(blocked !== null && { problem: `Refused: ${blocked}.` }),
    });
  }

  const answers: Record<string, (input: Record<string, unknown>) => unknown> = {
    'acme.orders': () => (isRunning && order(), orders),
    'acme.accounts': () => [],
    'acme.revokeAll': () => [],
    'acme.loseAuthorizations': () => (blocked = 'authorization'),
    'breaks.start': () => (blocked = 'outage'),
    'breaks.stopAll': () => (blocked = null),
    'clock.set': ({ to }) => (nowMs = Date.parse(String(to))),
    'records.put': ({ type }) => {
      blocked = type === 'CAA' ? 'caa' : null;
      return { id: String(type) };
    },
    'records.remove': ({ id }) => id === 'CAA' && (blocked = null),
    'zones.create': () => ({}),
  };
  world.scene = {
    call: ((procedure, input) => {
      if (!['acme.orders', 'acme.accounts', 'clock.set'].includes(procedure)) {
        world.changes.push(`${Math.round((nowMs - FROM) / DAY_MS)} ${procedure}`);
      }
      return Promise.resolve(answers[procedure]?.(input as Record<string, unknown>));
    }) as Ask,
    start(): Promise<RunningClient> {
      world.starts += 1;
      failedMs = -Infinity;
      isRunning = true;
      if (endsWith === 0) order();
      const ended = Promise.withResolvers<number>();
      if (endsWith !== undefined) {
        isRunning = false;
        ended.resolve(endsWith);
      }
      const end = (): Promise<void> => ((isRunning = false), ended.resolve(143), Promise.resolve());
      return Promise.resolve({ exited: ended.promise, end });
    },
    sleep: (ms) => ((realMs += ms), Promise.resolve()),
    monotonic: () => realMs,
    say: (sentence) => world.said.push([realMs, sentence]),
  };
  return world;
}

const options = (events: readonly YearEvent[], days = 100): Observation => ({
  names: [NAME],
  year: { fromMs: FROM, toMs: at(days), events },
  ...{ lifetimeMs: LIFE_MS, dayMs: 100, command: 'client', firstMs: 1_000, patienceMs: 1_000 },
});

const event = (kind: YearEvent['kind'], from: number, to: number): YearEvent => ({
  ...{ kind, fromMs: at(from), toMs: at(to) },
});

async function darkDays(world: World, given: Observation): Promise<[number, number, string][]> {
  const [course] = await observe(given, world.scene);
  if (course === undefined) throw new Error('no course');
  const days = (ms: number): number => Math.round((ms - FROM) / DAY_MS);
  return darkOf(course, given.year).map(({ fromMs, toMs, why }) => [days(fromMs), days(toMs), why]);
}

const EXPIRED = 'The certificate expired. A renewal failed:';

test.each<[string, number, readonly YearEvent[], readonly [number, number, string][]]>([
  ['a client that renews in time', 30, [], []],
  ['a client that renews at the last moment', 45, [], []],
  ['a client that renews late', 60, [], [[45, 60, 'The certificate expired before the client tried to renew it.']]],
  [
    'a CAA record, at whose end the client is restarted',
    30,
    [event('caa', 20, 70)],
    [[45, 70, `${EXPIRED} a CAA record forbade it. Refused: caa.`]],
  ],
  [
    'a lost authorization',
    30,
    [event('authorization', 20, 50)],
    [[45, 50, `${EXPIRED} the name could not be validated. Refused: authorization.`]],
  ],
  ['an outage', 30, [event('outage', 20, 50)], [[45, 50, `${EXPIRED} the CA was down.`]]],
  ['an outage that ends before', 30, [event('outage', 20, 40)], []],
  [
    'a revocation',
    30,
    [event('revocation', 20, 20)],
    [[20, 30, 'The CA revoked the certificate, and the client renewed it only at the end of this period.']],
  ],
])('%s', async (_what, renews, events, expected) => {
  const given = options(events);
  const dark = await darkDays(worldOf({ renews }), given);
  expect(dark.filter(([from]) => from < 60)).toEqual(expected);
});

test.each([
  ['is not dark for the duration of its renewal', 500, []],
  // The clock waits for a second, which is long enough.
  ['is dark when it takes too long', 5_000, ['The certificate expired before the client tried to renew it.']],
])('a client that renews on the last day %s', async (_what, takesMs, expected) => {
  const dark = await darkDays(worldOf({ renews: 44, takesMs }), { ...options([]), firstMs: 10_000 });
  expect(dark.slice(0, 1).map(([, , why]) => why)).toEqual(expected);
});

test('counts as attempts what follows the first issue', async () => {
  const [once] = await observe(options([], 20), worldOf({ renews: 30 }).scene);
  expect([once?.held.length, once?.attempts]).toEqual([1, []]);
  const [twice] = await observe(options([], 40), worldOf({ renews: 30 }).scene);
  expect([twice?.held.length, twice?.attempts]).toEqual([2, [{ atMs: at(30), failure: null, problem: null }]]);
});

test('does each thing on its day, and undoes it', async () => {
  const world = worldOf({ renews: 30 });
  await darkDays(world, options([event('outage', 10, 12), event('caa', 20, 25), event('authorization', 40, 45)], 50));
  expect(world.changes).toEqual([
    ...['0 zones.create', '0 records.put', '10 breaks.start', '12 breaks.stopAll', '20 records.put'],
    ...['25 records.remove', '40 acme.loseAuthorizations', '40 records.remove', '45 records.put'],
  ]);
  // At the beginning, and after each event.
  expect(world.starts).toBe(4);
});

test('runs a command that ends once a day', async () => {
  const world = worldOf({ renews: 30, endsWith: 0 });
  expect(await darkDays(world, options([], 50))).toEqual([]);
  expect(world.starts).toBe(50);
});

/** This world, whose engine answers a procedure with this. */
const answering = (world: World, procedure: string, answer: unknown): Scene => ({
  ...world.scene,
  call: ((called, input) => (called === procedure ? Promise.resolve(answer) : world.scene.call(called, input))) as Ask,
});

test.each([
  ['that cannot be started', 127, 'The client obtained no certificate for lit.acme.test. It ended with 127.'],
  ['that continues without a certificate', undefined, 'The client obtained no certificate for lit.acme.test.'],
])('refuses a command %s', async (_what, endsWith, message) => {
  const world = worldOf({ renews: Infinity, ...(endsWith !== undefined && { endsWith }) });
  await expect(observe(options([]), answering(world, 'acme.orders', []))).rejects.toThrow(message);
});

test.each([
  ['within seconds that nothing asked', [], [[5_000, expect.stringContaining('VIVARIUM_ACME_DIRECTORY')]]],
  ['nothing about a client that is only slow', [{ id: 'a' }], []],
])('says %s', async (_what, accounts, said) => {
  const world = worldOf({ renews: 30, takesMs: 20_000 });
  await observe({ ...options([], 10), firstMs: 120_000 }, answering(world, 'acme.accounts', accounts));
  expect(world.said).toEqual(said);
});
