import { describe, expect, it } from 'vitest';
import { type MannersRule, MANNERS_RULES } from '../../../main/contract/grades.ts';
import { OWN_AGENT } from '../../../main/base/config.ts';
import { gradeAll, gradeOf } from '../../../main/manners/report.ts';
import type { Entry } from '../../../main/traffic/entry.ts';
import { entry, record } from '../../support/traffic-entries.ts';

/** A request as the tests tell it: times in seconds, header fields of both messages. */
interface Told {
  at: number;
  /** The app's clock, where it differs. */
  appAt?: number;
  took?: number;
  target?: string;
  method?: string;
  status?: number | null;
  asked?: Record<string, string>;
  told?: Record<string, string>;
  body?: string;
  on?: Parameters<typeof entry>[0];
}

const BEGAN_MS = Date.parse('2026-11-20T09:00:00.000Z');
const fieldsOf = (fields: Record<string, string> = {}): string[] => Object.entries(fields).flat();

function requestsOf(all: readonly Told[]): Entry[] {
  return all.map(({ at, appAt = at, took = 0.01, asked, told, body, on, ...rest }, index) => ({
    ...entry({
      number: index + 1,
      realAtMs: BEGAN_MS + at * 1_000,
      connection: 1,
      place: index + 1,
      durationMs: took * 1_000,
      ...rest,
      ...on,
      record: record({
        requestFields: fieldsOf({ 'User-Agent': 'shop/1.2', ...asked }),
        responseFields: fieldsOf(told),
        requestBody: body === undefined ? { chunks: [], bytes: 0 } : { chunks: [body], bytes: body.length },
        firstByteMs: rest.status === null ? null : took * 1_000,
      }),
    }),
    atMs: BEGAN_MS + appAt * 1_000,
  }));
}

const findingsOf = (all: readonly Told[]) =>
  new Map(gradeAll(requestsOf(all))[0]?.rules.map(({ rule, ...found }) => [rule, found]));

const brokenBy = (all: readonly Told[]): MannersRule[] => [
  ...new Set(
    gradeAll(requestsOf(all))
      .flatMap(({ rules }) => rules.filter(({ verdict }) => verdict === 'broken'))
      .map(({ rule }) => rule),
  ),
];

const HINT = { 'Retry-After': '1' };
const times = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
/** Equal requests that fail, at these seconds, and one that succeeds. */
const failing = (seconds: readonly number[], rest: Omit<Told, 'at'> = {}): Told[] =>
  seconds.map((at, index) => ({
    at,
    status: 503,
    ...rest,
    ...(index === seconds.length - 1 && { status: 200, told: {} }),
  }));
/** Ten that were refused together, each on a connection of its own, and came back after `waits` seconds. */
const crowd = (waits: (index: number) => number, size = 10): Told[] =>
  times(size, (index) =>
    [0, 1.01 + waits(index)].map((at) => ({
      at: at + index / 100,
      status: at === 0 ? 429 : 200,
      told: at === 0 ? HINT : {},
      target: `/v1/pets/${index}`,
      on: { connection: index + 1, place: at === 0 ? 1 : 2 },
    })),
  ).flat();
const SUNSET = { Sunset: 'Fri, 20 Nov 2026 09:01:00 GMT', Deprecation: '@1' };
const NEXT = { Link: '</v1/pets?after=20>; rel="next"' };
/** A page, then the one after this id. */
const pages = (after: number): Told[] => [
  { at: 0, target: '/v1/pets', told: NEXT },
  { at: 1, target: `/v1/pets?after=${after}` },
];
/** An answer that leaves nothing of the quota for half a minute. */
const spent = (at: number): Told => ({
  ...{ at, target: `/v1/pets/${at}` },
  told: { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '30' },
});

/** For each rule, a client made for it that breaks it, and one that keeps it. */
const CLIENTS: Record<MannersRule, { breaks: Told[]; keeps: Told[] }> = {
  'waits-for-retry-after': {
    breaks: failing([0, 0.5], { status: 429, told: HINT }),
    keeps: failing([0, 0.992], { status: 429, told: HINT }),
  },
  'backs-off': { breaks: failing([0, 0.2, 0.4, 0.6]), keeps: failing([0, 0.2, 0.6, 1.4]) },
  spreads: { breaks: crowd((index) => index / 2_000), keeps: crowd((index) => index / 20) },
  'gives-up': {
    breaks: times(7, (index) => ({ at: 2 ** index, status: 503 })),
    keeps: times(6, (index) => ({ at: 2 ** index, status: 503 })),
  },
  'stops-when-refused': {
    breaks: times(3, (index) => ({ at: index, status: 401, target: `/v1/pets/${index}` })),
    keeps: [...times(2, (index) => ({ at: index, status: 401, target: `/v1/pets/${index}` })), { at: 62, status: 401 }],
  },
  'reads-remaining': { breaks: [0, 1, 2].map(spent), keeps: [0, 1, 31].map(spent) },
  'no-blind-repeat': {
    breaks: failing([0, 1], { method: 'POST', status: 500, body: '{}', asked: {} }),
    keeps: failing([0, 1], { method: 'POST', status: 500, body: '{}', asked: { 'Idempotency-Key': '"a"' } }),
  },
  'follows-links': { breaks: pages(40), keeps: pages(20) },
  'reuses-connections': {
    breaks: times(12, (index) => ({ at: index, target: `/v1/pets/${index}`, on: { connection: index + 1, place: 1 } })),
    keeps: times(12, (index) => ({ at: index, target: `/v1/pets/${index}` })),
  },
  'has-a-timeout': { breaks: [{ at: 0, took: 70 }], keeps: [{ at: 0, took: 5, status: null, on: { aborted: true } }] },
  'names-itself': { breaks: [{ at: 0, asked: { 'User-Agent': 'node' } }], keeps: [{ at: 0 }] },
  'heeds-deprecation': {
    breaks: [0, 61].map((at) => ({ at, target: `/v1/pet/${at}`, told: SUNSET })),
    keeps: [0, 59].map((at) => ({ at, target: `/v1/pet/${at}`, told: SUNSET })),
  },
};

describe('each rule', () => {
  it.each(MANNERS_RULES)('is broken by a client made for it, and no other rule is: %s', (rule) => {
    expect(brokenBy(CLIENTS[rule].breaks)).toEqual([rule]);
  });

  it.each(MANNERS_RULES)('is kept by one that does it right: %s', (rule) => {
    expect(brokenBy(CLIENTS[rule].keeps)).toEqual([]);
    expect(findingsOf(CLIENTS[rule].keeps).get(rule)?.verdict).toBe('kept');
  });

  it.each(MANNERS_RULES.filter((rule) => rule !== 'names-itself'))(
    'that could not be observed is not kept: %s',
    (rule) => {
      expect(findingsOf([{ at: 0 }]).get(rule)).toEqual({ seen: 0, kept: 0, verdict: 'not_seen', entries: [] });
    },
  );

  it('names the entries that broke it, oldest first', () => {
    const found = findingsOf([
      ...failing([0, 2], { status: 429, told: HINT }),
      ...failing([3, 3.5], { status: 429, told: HINT }),
    ]);
    expect(found.get('waits-for-retry-after')).toEqual({ seen: 2, kept: 1, verdict: 'broken', entries: [3, 4] });
  });
});

describe('what is not counted', () => {
  const waits = (all: readonly Told[]) => findingsOf(all).get('waits-for-retry-after')?.verdict;
  const early = failing([0, 0.5], { status: 429, told: HINT });
  const [first, second] = early as [Told, Told];
  /** The two with these changes. */
  const pair = (before: Partial<Told>, after: Partial<Told> = {}): Told[] => [
    { ...first, ...before },
    { ...second, ...after },
  ];
  const fault = { entry: 'api.retry-after-missing', breakId: 'brk_1' };
  const date = { 'Retry-After': 'Fri, 20 Nov 2026 09:00:05 GMT', Date: 'Fri, 20 Nov 2026 09:00:00 GMT' };

  it.each([
    ['a wait that the app’s clock shows', pair({}, { appAt: 90 }), 'kept'],
    ['a wait during which the clock was set back', pair({}, { appAt: -90 }), 'not_seen'],
    ['a wait that the real time shows on a frozen clock', pair({}, { at: 1.5, appAt: 0 }), 'kept'],
    ['a wait that a frozen clock does not excuse', pair({}, { appAt: 0 }), 'broken'],
    ['a hint that a break removed', pair({ told: {}, on: { fault } }), 'not_seen'],
    ['another body', pair({ body: 'a' }, { body: 'b' }), 'not_seen'],
    ['a repetition long after', pair({}, { at: 302 }), 'not_seen'],
    ['a date', pair({ told: date }, { at: 4 }), 'broken'],
    ['a word', pair({ told: { 'Retry-After': 'soon' } }), 'not_seen'],
  ])('%s', (_what, all, verdict) => {
    expect(waits(all)).toBe(verdict);
  });

  it('preflights, requests that reached no project, and what the window sends', () => {
    const preflight: Told = { at: 0, method: 'OPTIONS', asked: { 'Access-Control-Request-Method': 'GET' } };
    const own: Told = { at: 2, asked: { 'User-Agent': OWN_AGENT } };
    expect(gradeAll(requestsOf([preflight, { at: 1, on: { route: null } }, own]))).toEqual([]);
  });
});

describe('at its bounds', () => {
  it.each<[string, Told[], MannersRule, string]>([
    ['seven are no crowd', crowd(() => 0, 7), 'spreads', 'not_seen'],
    ['eight are one', crowd(() => 0, 8), 'spreads', 'broken'],
    ['waits that hardly grow do not back off', failing([0, 0.21, 0.481, 0.83, 1.28]), 'backs-off', 'broken'],
    ['waits half as long again do', failing([0, 0.21, 0.521, 0.982]), 'backs-off', 'kept'],
    ['waits of half a minute need not grow', failing([0, 31, 62, 93]), 'backs-off', 'not_seen'],
    ['408 is refused', failing([0, 0.5], { status: 408, told: HINT }), 'waits-for-retry-after', 'broken'],
    [
      'a minute is over if the app’s clock shows it',
      [0, 90, 91].map((appAt, at) => ({ at, appAt, status: 401, target: `/v1/pets/${at}` })),
      'stops-when-refused',
      'kept',
    ],
    [
      'an earlier link may be followed',
      [
        { at: 0, target: '/v1/pets', told: { Link: '</v1/pets?limit=20&after=20>; rel="next"' } },
        { at: 1, target: '/v1/pets?limit=20&after=20', told: { Link: '</v1/pets?after=40>; rel="next"' } },
        { at: 2, target: '/v1/pets?after=20&limit=20' },
      ],
      'follows-links',
      'kept',
    ],
    ['a tunnel is no wait', [{ at: 0, took: 70, status: 101 }], 'has-a-timeout', 'not_seen'],
    ['a wait cut off here is', [{ at: 0, took: 5, status: null, on: { byProxy: true } }], 'has-a-timeout', 'broken'],
    [
      'a connection that the answer closes is not reused',
      times(12, (index) => ({ at: index, told: { Connection: 'close' }, on: { connection: index + 1, place: 1 } })),
      'reuses-connections',
      'not_seen',
    ],
  ])('%s', (_what, all, rule, verdict) => {
    expect(findingsOf(all).get(rule)?.verdict).toBe(verdict);
  });

  it('half of a crowd that comes back together is none', () => {
    const half = crowd((index) => (index < 5 ? 0 : index / 10));
    expect(findingsOf(half).get('spreads')).toMatchObject({ seen: 10, kept: 10 });
  });

  it('a repetition of a page is no further page', () => {
    const found = findingsOf([
      { at: 0, target: '/v1/pets', told: NEXT },
      ...failing([1, 1.2, 1.6], { target: '/v1/pets?after=20', told: {} }),
      { at: 2, target: '/v1/pets?after=40' },
    ]);
    expect(found.get('follows-links')).toMatchObject({ seen: 2, kept: 1, entries: [1, 5] });
  });

  it('names the newest forty entries', () => {
    const early = times(50, (index) =>
      failing([index * 10, index * 10 + 0.5], { status: 429, told: HINT, target: `/v1/pets/${index}` }),
    ).flat();
    expect(findingsOf(early).get('waits-for-retry-after')?.entries).toEqual(times(40, (index) => 61 + index));
  });

  it('a client that sends again on its connection has had its answer', () => {
    const [client] = gradeAll(requestsOf([{ at: 0, took: 0.5, status: 503 }, { at: 0.4 }]));
    expect(client?.calls).toBe(1);
  });
});

describe('equal requests that run at the same time', () => {
  it('are not mixed up when one is told to wait longer', () => {
    const told = (connection: number, seconds: number, at: number, status = 429): Told => ({
      ...{ at, took: 0.1, status, on: { connection } },
      told: status === 429 ? { 'Retry-After': String(seconds) } : {},
    });
    const found = findingsOf([told(1, 1, 0), told(2, 3, 0.05), told(1, 1, 1.2, 200), told(2, 3, 3.2, 200)]);
    expect(found.get('waits-for-retry-after')).toMatchObject({ seen: 2, kept: 2 });
  });

  it('are calls of their own, and each is continued on its connection', () => {
    const pairs = [1, 2].flatMap((connection) =>
      [connection / 10, 1.4 + connection / 10].map((at): Told => ({
        at,
        took: 0.3,
        status: at < 1 ? 429 : 200,
        told: at < 1 ? HINT : {},
        on: { connection },
      })),
    );
    const [client] = gradeAll(requestsOf(pairs.toSorted((a, b) => a.at - b.at)));
    expect(client?.calls).toBe(2);
    expect(client?.rules[0]).toMatchObject({ seen: 2, kept: 2 });
  });
});

describe('what no client can have known', () => {
  const apart = (at: number, connection: number, rest: Partial<Told> = {}): Told => ({
    ...{ at, took: 0.001, status: 503, told: HINT, ...rest },
    on: { connection, place: 1, ...rest.on },
  });
  const calls = (all: readonly Told[]) => gradeAll(requestsOf(all))[0]?.calls;

  it.each<[string, Told[], number]>([
    ['a connection of its own, 19 ms after the answer', [apart(0, 1), apart(0.02, 2)], 2],
    ['a connection of its own, 21 ms after the answer', [apart(0, 1), apart(0.022, 2)], 1],
    ['an unknown connection, before the end of the answer', [apart(0, 0, { took: 0.5 }), apart(0.4, 0)], 2],
    ['the connection of the answer, at once', [apart(0, 1), apart(0.002, 1)], 1],
    [
      'the connection of the answer over HTTP/2, at once',
      [apart(0, 1, { on: { httpVersion: '2.0' } }), apart(0.002, 1, { on: { httpVersion: '2.0' } })],
      2,
    ],
    [
      'the connection of the answer over HTTP/2, before its end and after another request',
      [{ took: 1 }, { target: '/v1/store/orders' }, {}].map((rest, index) =>
        apart(index / 4, 1, { ...rest, on: { httpVersion: '2.0' } }),
      ),
      3,
    ],
  ])('is no repetition: %s', (_what, all, count) => {
    expect(calls(all)).toBe(count);
  });

  it('is no further refusal, and no connection that it could have used', () => {
    const found = findingsOf(times(10, (index) => apart(index / 500, index + 1, { status: 401, told: {} })));
    expect(found.get('stops-when-refused')).toMatchObject({ seen: 1, kept: 1 });
    expect(found.get('reuses-connections')?.verdict).toBe('not_seen');
  });

  it('the connection tells which of two was repeated too early', () => {
    const found = findingsOf([apart(0, 1), apart(0.01, 2), apart(0.5, 2)]);
    expect(found.get('waits-for-retry-after')).toMatchObject({ seen: 1, kept: 0, entries: [2, 3] });
  });

  it('eight workers that begin together, wait and share their connections keep each rule', () => {
    // Each waits a second and a part of its own after each answer; all but the first requests are sent on connection 1.
    const workers = times(8, (worker) =>
      times(3, (tries) => apart(tries * (1.05 + worker / 20) + worker / 1_000, tries === 0 ? worker + 1 : 1)),
    ).flat();
    const all = workers.toSorted((a, b) => a.at - b.at);
    const found = findingsOf(all);
    expect(found.get('waits-for-retry-after')).toMatchObject({ seen: 16, kept: 16 });
    expect(found.get('gives-up')).toMatchObject({ seen: 8, kept: 8 });
  });

  it('four that back off without Retry-After, over one connection, do so', () => {
    const all = times(4, (worker) =>
      [0, 0.2, 0.6, 1.4].map((at) => apart(at + worker / 200, at === 0 ? worker + 1 : 1, { told: {} })),
    );
    const found = findingsOf(all.flat().toSorted((a, b) => a.at - b.at));
    expect(found.get('backs-off')).toMatchObject({ seen: 8, kept: 8, verdict: 'kept' });
  });
});

describe('a grade', () => {
  const graded = (broken: MannersRule[], seen = MANNERS_RULES.length) =>
    gradeOf(
      MANNERS_RULES.map((rule, index) => ({
        rule,
        verdict: index >= seen ? 'not_seen' : broken.includes(rule) ? 'broken' : 'kept',
      })),
    );

  it.each<[string | null, MannersRule[], number?]>([
    ['A', []],
    ['B', ['spreads']],
    ['C', ['spreads', 'backs-off']],
    ['D', ['spreads', 'backs-off', 'names-itself']],
    ['F', ['spreads', 'backs-off', 'names-itself', 'follows-links']],
    ['D', ['gives-up']],
    ['D', ['stops-when-refused', 'spreads']],
    ['D', ['waits-for-retry-after', 'gives-up', 'spreads']],
    ['F', ['waits-for-retry-after', 'gives-up', 'spreads', 'backs-off']],
    ['A', [], 5],
    [null, [], 4],
    [null, ['gives-up'], 4],
  ])('%s: %j broken', (grade, broken, seen) => {
    expect(graded(broken, seen)).toBe(grade);
  });

  it.each<[string | null, number[], number?]>([
    ['F', times(6, (index) => index / 50)],
    [null, times(5, (index) => index / 50)],
    ['F', times(11, (index) => index / 5)],
    [null, times(6, (index) => index * 0.6)],
    ['F', [...times(10, (index) => index / 5), 3]],
    [null, [...times(9, (index) => index / 5), 3, 5]],
  ])(
    'is %s, of which fewer than five rules tell nothing, for a client told to wait a second that sends at %j',
    (grade, seconds) => {
      expect(gradeAll(requestsOf(failing(seconds, { told: HINT })))[0]?.grade).toBe(grade);
    },
  );

  it('of a loop that never waits is F', () => {
    const rate = { limit: 3, remaining: 0, resetAtMs: 0 };
    const banned = { refusal: { code: 'api_key_banned', retryAfterSeconds: 600, message: '' } as const, rate };
    const refused = (index: number): Told => ({
      at: index / 20,
      status: index < 3 ? 200 : 429,
      asked: { 'User-Agent': 'node' },
      told: {
        'X-RateLimit-Remaining': index < 3 ? String(2 - index) : '0',
        'X-RateLimit-Reset': '60',
        ...(index >= 3 && { 'Retry-After': '60' }),
      },
      on: index > 22 ? { decision: banned } : {},
    });
    const all = times(40, refused);
    expect(gradeAll(requestsOf(all))[0]?.grade).toBe('F');
    expect(brokenBy(all).join(' ')).toBe(
      'waits-for-retry-after gives-up stops-when-refused reads-remaining names-itself',
    );
  });
});
