import { MINUTE_MS } from '../contract/duration.ts';
import type { MannersRule } from '../contract/grades.ts';
import {
  type Attempt,
  type Call,
  canKnow,
  hasWaited,
  isBetween,
  isHintBroken,
  READ_MS,
  type Wait,
  WAIT_MS_MIN,
} from './attempts.ts';

/** A client's requests, in order of their start. */
export interface Subject {
  attempts: readonly Attempt[];
  calls: readonly Call[];
  /** The waits at whose end several clients came back at the same moment, and those where they might have. */
  crowds: ReturnType<typeof crowdsIn>;
}

/** Requests that show how a rule was kept or broken once. */
export interface Observation {
  shown: Attempt[];
  isKept: boolean;
}

/** Rules about most of the observations; of the others, one that breaks them is enough. */
export const ABOUT_MOST: ReadonlySet<MannersRule> = new Set(['backs-off', 'spreads', 'reuses-connections']);

const GROWTH_MIN = 1.5;

/** A wait this long need not be followed by a longer one. */
const LONG_WAIT_MS = 30_000;

const ATTEMPTS_MAX = 6;

/** How long a client may wait for the beginning of an answer. */
const PATIENCE_MS = MINUTE_MS;

/** Connections idle for longer may have been closed by either side. */
const REUSED_WITHIN_MS = 4_000;

const REUSE_REQUESTS_MIN = 10;

const BLACK_HOLE = 'connection.black-hole';

/** User-Agent fields that name a library or nothing. */
const LIBRARY =
  /^(?:$|node(?:$|-fetch|[/ ])|undici|got|axios|ky[/ ]|superagent|curl|wget|python|urllib|requests|aiohttp|httpx|go-http-client|java|okhttp|apache-httpclient|ruby|faraday|guzzle|php|reqwest|hyper|libwww-perl|dart|deno|bun)/i;

/** Query parameters that name a page. */
const PAGING = /^(?:after|before|cursor|offset|page|skip|start|page_?token)$/i;

export const RULES: Readonly<Record<MannersRule, (subject: Subject) => Observation[]>> = {
  'waits-for-retry-after': ({ calls }) =>
    waitsOf(calls)
      .filter((wait) => wait.of.hintMs !== null && (!wait.moved || hasWaited(wait)))
      .map((wait) => ({ shown: pairOf(wait), isKept: hasWaited(wait) })),
  'backs-off'({ calls }) {
    const free = ({ of, moved }: Wait): boolean => of.hintMs === null && !isHintBroken(of) && !moved;
    return calls.flatMap(({ waits }) =>
      waits.flatMap((wait, index) => {
        const before = waits[index - 1];
        if (before === undefined || !free(before) || !free(wait) || before.ms >= LONG_WAIT_MS) return [];
        const growth = wait.ms < WAIT_MS_MIN ? 0 : wait.ms / Math.max(before.ms, 1);
        return [{ shown: [before.of, ...pairOf(wait)], isKept: growth >= GROWTH_MIN }];
      }),
    );
  },
  spreads: ({ calls, crowds }) =>
    waitsOf(calls)
      .filter((wait) => crowds.all.has(wait))
      .map((wait) => ({ shown: pairOf(wait), isKept: !crowds.together.has(wait) })),
  'gives-up': ({ calls }) =>
    calls
      .filter(({ attempts }) => attempts.at(-1)?.failed === true || attempts.length > ATTEMPTS_MAX)
      .map(({ attempts }) => ({ shown: attempts, isKept: attempts.length <= ATTEMPTS_MAX })),
  'stops-when-refused'({ attempts }) {
    const refused = attempts.filter(({ status, banned }) => banned || status === 401 || status === 403);
    return episodes(refused, (first) => ({
      untilMs: first.endMs + MINUTE_MS,
      realUntilMs: first.realEndMs + MINUTE_MS,
      later: refused,
    }));
  },
  'reads-remaining'({ attempts }) {
    const exhausted = attempts.filter((attempt) => attempt.remaining === '0' && resetMs(attempt) !== null);
    return episodes(exhausted, (first) => {
      const realUntilMs = resetMs(first) ?? 0;
      return { realUntilMs, untilMs: first.atMs + realUntilMs - first.realAtMs, later: attempts };
    });
  },
  'no-blind-repeat': ({ calls }) =>
    calls.flatMap(({ attempts }) =>
      attempts.flatMap((attempt, index) => {
        const { failed, status, aborted, method, idempotencyKey } = attempt;
        const isUnknown = failed && (status === null || status >= 500 || aborted);
        if (!isUnknown || (method !== 'POST' && method !== 'PATCH')) return [];
        const next = attempts[index + 1];
        if (next === undefined) return [{ shown: [attempt], isKept: true }];
        const isSame = idempotencyKey !== undefined && idempotencyKey === next.idempotencyKey;
        return [{ shown: [attempt, next], isKept: isSame }];
      }),
    ),
  'follows-links': ({ attempts, calls }) => followedLinks(attempts, calls),
  'reuses-connections': ({ attempts }) => reusedConnections(attempts),
  'has-a-timeout': ({ attempts }) =>
    attempts.flatMap((attempt) => {
      const { firstByteMs, durationMs, fault, status, byProxy } = attempt;
      const waitedMs = firstByteMs ?? durationMs;
      const isLong = fault === BLACK_HOLE || waitedMs >= PATIENCE_MS;
      if (isLong ? status === 101 : fault !== null || status !== null || waitedMs < 1_000) return [];
      return [{ shown: [attempt], isKept: status === null && !byProxy && waitedMs < PATIENCE_MS }];
    }),
  'names-itself': ({ attempts }) =>
    attempts.map((attempt) => ({ shown: [attempt], isKept: !LIBRARY.test(attempt.userAgent) })),
  'heeds-deprecation'({ attempts }) {
    const announced = new Map<string, Attempt>();
    return attempts.flatMap((attempt) => {
      const operation = operationOf(attempt);
      const first = announced.get(operation);
      const sunsetMs = Date.parse((first ?? attempt).sunset ?? '');
      if (Number.isNaN(sunsetMs)) return [];
      if (first === undefined) announced.set(operation, attempt);
      if (first === undefined || !canKnow(attempt, first)) return [];
      return [{ shown: [attempt], isKept: attempt.atMs < sunsetMs }];
    });
  },
};

/** Of so many times to wait, a loop waits less than half of nine in ten. */
const LOOP_WAITS_MIN = 5;

/** Whether the client repeats its requests as if it had not been told how long to wait. */
export function isLoop(calls: readonly Call[]): boolean {
  const told = waitsOf(calls).filter(({ of, moved }) => of.hintMs !== null && !moved);
  const short = told.filter(({ of, ms }) => ms * 2 < (of.hintMs ?? 0));
  return told.length >= LOOP_WAITS_MIN && short.length >= told.length * 0.9;
}

const waitsOf = (calls: readonly Call[]): Wait[] => calls.flatMap(({ waits }) => waits);

const pairOf = ({ of, next }: Wait): Attempt[] => [of, next];

/**
 * Stretches of time in which at most one more request may begin. The first of `openers` opens one, and the first after
 * its end the next.
 */
function episodes(
  openers: readonly Attempt[],
  stretch: (first: Attempt) => { untilMs: number; realUntilMs: number; later: readonly Attempt[] },
): Observation[] {
  const found: Observation[] = [];
  let open: ReturnType<typeof stretch> | null = null;
  for (const opener of openers) {
    if (open !== null && opener.realAtMs < open.realUntilMs && opener.atMs < open.untilMs) continue;
    const { untilMs, realUntilMs, later } = (open = stretch(opener));
    const within = later.filter((each) => isBetween(each, opener, untilMs, realUntilMs));
    found.push({ shown: [opener, ...within], isKept: within.length <= 1 });
  }
  return found;
}

/** `X-RateLimit-Reset` in real epoch milliseconds: epoch seconds, or seconds from the answer on. */
function resetMs({ reset, realEndMs }: Attempt): number | null {
  const seconds = /^\d+$/.test(reset ?? '') ? Number(reset) : Number.NaN;
  if (Number.isNaN(seconds)) return null;
  return seconds > 1_000_000_000 ? seconds * 1_000 : realEndMs + seconds * 1_000;
}

/** Method and path, whatever ids are in it. */
const operationOf = ({ method, target }: Attempt): string =>
  `${method} ${(target.split('?', 1)[0] ?? '').replaceAll(/\/(?:\d+|[0-9a-f-]{36})(?=\/|$)/gi, '/…')}`;

/** A page is taken by its link, if one of the links before led there, or else by the client's own arithmetic. */
function followedLinks(attempts: readonly Attempt[], calls: readonly Call[]): Observation[] {
  const repetitions = new Set(calls.flatMap((call) => call.attempts.slice(1)));
  const offered = new Map<string, { by: Attempt; pages: Set<string> }>();
  const found: Observation[] = [];
  for (const attempt of attempts) {
    const { path, page, isPage } = placeOf(attempt.target);
    const before = offered.get(path);
    if (before !== undefined && isPage && !repetitions.has(attempt) && attempt.realAtMs >= before.by.realEndMs)
      found.push({ shown: [before.by, attempt], isKept: before.pages.has(page) });
    const next = /<([^>]*)>\s*;[^,]*\brel="?next\b/i.exec(attempt.link ?? '')?.[1];
    if (next === undefined) continue;
    const pages = before?.pages ?? new Set<string>();
    offered.set(path, { by: attempt, pages: pages.add(placeOf(next, attempt.target).page) });
  }
  return found;
}

/** The path of a target or URL; its query in a fixed order; and whether that names a page. */
function placeOf(target: string, from = '/'): { path: string; page: string; isPage: boolean } {
  const url = URL.parse(target, URL.parse(from, 'http://host/')?.href);
  if (url === null) return { path: target, page: '', isPage: false };
  const isPage = [...url.searchParams.keys()].some((name) => PAGING.test(name));
  url.searchParams.sort();
  return { path: url.pathname, page: url.searchParams.toString(), isPage };
}

/** A request could have used a connection of the client that was idle and open; then a new one breaks the rule. */
function reusedConnections(attempts: readonly Attempt[]): Observation[] {
  const usable = new Map<number, Attempt>();
  const found: Observation[] = [];
  for (const attempt of attempts) {
    if (attempt.connection <= 0) continue;
    const before = [...usable.values()].find((each) => isIdle(each, attempt));
    const known = usable.get(attempt.connection);
    if (before !== undefined) found.push({ shown: [known ?? before, attempt], isKept: attempt.place > 1 });
    usable.delete(attempt.connection);
    if (attempt.closes || attempt.aborted || attempt.fault !== null) continue;
    const busy = known !== undefined && known.realEndMs > attempt.realEndMs ? known : attempt;
    usable.set(attempt.connection, busy);
    for (const [connection, each] of usable) {
      if (attempt.realAtMs - each.realEndMs <= REUSED_WITHIN_MS) break;
      usable.delete(connection);
    }
  }
  return found.length < REUSE_REQUESTS_MIN - 1 ? [] : found;
}

function isIdle(before: Attempt, { origin, connection, realAtMs }: Attempt): boolean {
  const idleMs = realAtMs - before.realEndMs;
  const isOpen = idleMs >= (before.connection === connection ? 0 : READ_MS) && idleMs <= REUSED_WITHIN_MS;
  return isOpen && before.origin === origin;
}

/** So many have to be refused together, within so long, for their return to be a crowd. */
const CROWD_MIN = 8;
const CROWD_WITHIN_MS = 1_000;

/** Compares how long clients, or connections of one, waited that were refused together with the same time to wait. */
export function crowdsIn(calls: readonly Call[]) {
  const hinted = waitsOf(calls)
    .filter(({ of, ms, moved }) => of.hintMs !== null && !moved && hasWaited({ of, ms }))
    .toSorted((a, b) => a.of.realEndMs - b.of.realEndMs);
  const all = new Set<Wait>();
  const together = new Set<Wait>();
  for (const [hintMs, waits] of Map.groupBy(hinted, ({ of }) => of.hintMs ?? 0)) {
    for (let from = 0; from < waits.length;) {
      const endMs = (waits[from]?.of.realEndMs ?? 0) + CROWD_WITHIN_MS;
      const crowd = waits.slice(from).filter(({ of }) => of.realEndMs < endMs);
      from += crowd.length;
      if (new Set(crowd.map(({ of }) => `${of.connection} ${of.client}`)).size < CROWD_MIN) continue;
      for (const wait of crowd) all.add(wait);
      const same = largestWithin(crowd, hintMs / 100);
      if (same.length * 2 > crowd.length) for (const wait of same) together.add(wait);
    }
  }
  return { all, together };
}

/** The most waits that differ by no more than `spanMs`. */
function largestWithin(waits: readonly Wait[], spanMs: number): Wait[] {
  const sorted = waits.toSorted((a, b) => a.ms - b.ms);
  let best: Wait[] = [];
  let from = 0;
  for (const [to, wait] of sorted.entries()) {
    while ((sorted[from]?.ms ?? 0) < wait.ms - spanMs) from++;
    if (to - from + 1 > best.length) best = sorted.slice(from, to + 1);
  }
  return best;
}
