import type { EpochMs } from '../base/clock.ts';
import { pairsOf } from '../base/http/message.ts';
import { MINUTE_MS } from '../contract/duration.ts';
import type { RecordedBody, RecordedExchange } from '../model/exchange-record.ts';

/** What the rules read of a recorded exchange. */
export interface Observed extends Omit<RecordedExchange, 'record' | 'startedMs' | 'decision'> {
  number: number;
  atMs: EpochMs;
  realAtMs: EpochMs;
  decision: { refusal: { code: string } | null } | null;
  record: {
    firstByteMs: number | null;
    requestFields: readonly string[];
    responseFields: readonly string[];
    requestBody: RecordedBody;
  };
}

/** `key:<id>` or `address:<ip>`, as the limiter names its callers. */
export const callerOf = ({ keyId, address }: Pick<Observed, 'keyId' | 'address'>): string =>
  keyId === null ? `address:${address}` : `key:${keyId}`;

/** Whether it is a CORS preflight, which a browser sends by itself and no limit counts. */
export const isPreflight = ({ method, record }: Pick<Observed, 'method' | 'record'>): boolean =>
  method === 'OPTIONS' && lowerCased(record.requestFields).has('access-control-request-method');

/** One request of an API client. Times in milliseconds; `endMs` and `realEndMs` are those of the answer's end. */
export type Attempt = ReturnType<typeof attemptOf>;

/** What the rules need of a recorded request. */
export function attemptOf(observed: Observed) {
  const { record, method, target, status, aborted, atMs, realAtMs, durationMs } = observed;
  const asked = lowerCased(record.requestFields);
  const told = lowerCased(record.responseFields);
  const userAgent = asked.get('user-agent') ?? '';
  const realEndMs = realAtMs + durationMs;
  return {
    ...{ number: observed.number, connection: observed.connection, place: observed.place, byProxy: observed.byProxy },
    ...{ method, target, status, atMs, realAtMs, durationMs, realEndMs, userAgent },
    endMs: atMs + durationMs,
    /** The project, the key or address, and the User-Agent: the one who is graded. */
    client: [observed.route?.projectId ?? '', callerOf(observed), userAgent].join(' '),
    /** Whether its connection carries several requests at a time. */
    isParallel: observed.httpVersion.startsWith('2'),
    /** Scheme and authority, for which one connection may be used again. */
    origin: `${observed.scheme}://${observed.authority ?? ''}`,
    same: sameOf(observed),
    /** Whether it may succeed later: no whole answer, 408, 425, 429 or 5xx. */
    failed: status === null || status >= 500 || (aborted && status !== 101) || [408, 425, 429].includes(status),
    /** Whether it ended before its answer was complete. */
    aborted,
    banned: observed.decision?.refusal?.code === 'api_key_banned',
    /** The entry of the catalogue that affected it. */
    fault: observed.fault?.entry ?? null,
    firstByteMs: record.firstByteMs,
    /** How long the answer asks to wait; null if it does not. */
    hintMs: hintIn(told.get('retry-after'), Date.parse(told.get('date') ?? '') || realEndMs),
    idempotencyKey: asked.get('idempotency-key'),
    remaining: told.get('x-ratelimit-remaining'),
    reset: told.get('x-ratelimit-reset'),
    link: told.get('link'),
    sunset: told.get('sunset'),
    /** Whether the answer closes its connection. */
    closes: told.get('connection')?.toLowerCase() === 'close',
  };
}

/** The same for equal calls: method, target, length, and the recorded part of the body. */
function sameOf({ method, target, record: { requestBody } }: Observed): string {
  const { chunks, encoding, bytes } = requestBody;
  const kept = chunks.map((chunk) =>
    (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk).toString('latin1'),
  );
  return `${method} ${target} ${bytes} ${kept.join('')}`;
}

const lowerCased = (fields: readonly string[]): Map<string, string> =>
  new Map(pairsOf(fields).map(([name, value]) => [name.toLowerCase(), value]));

/** `Retry-After` (RFC 9110 §10.2.3): whole seconds, or a date later than that of the answer. */
function hintIn(value: string | undefined, sentMs: EpochMs): number | null {
  if (value === undefined) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const waitMs = /^\w{3}, /.test(value) ? Date.parse(value) - sentMs : Number.NaN;
  return waitMs > 0 ? waitMs : null;
}

/** The pause between an attempt and the next one of its call. */
export type Wait = ReturnType<typeof waitBetween>;

/** Attempts at the same thing, in order. */
export interface Call {
  attempts: Attempt[];
  waits: Wait[];
}

/** An equal request this long after a failure, or after the time to wait, is a call of its own. */
const NEXT_CALL_MS = 5 * MINUTE_MS;

/** Differences of clocks that have other reasons than a moved clock. */
const CLOCKS_MS = 50;

/** A client may come back this much too early, because timers and networks are not exact. */
const EARLY_MS = 20;

/** The most by which the end of an answer is recorded after its head was sent, though the client had both at once. */
const LATE_MS = 100;

/** A client needs this long to read an answer and react to it on another connection. */
export const READ_MS = 20;

/** A shorter pause is no wait: its length is that of the network and the machine. */
export const WAIT_MS_MIN = 50;

/**
 * Divides the requests of one client, in order of their start, into calls. An equal request continues a call that has
 * failed; of several such calls, one that it has waited for; of these that of its connection, else the one that failed
 * first.
 */
export function callsOf(attempts: readonly Attempt[]): Call[] {
  const calls: Call[] = [];
  const open = new Map<string, Call[]>();
  for (const attempt of attempts) {
    const failed = (open.get(attempt.same) ?? []).filter((call) => mayContinue(lastOf(call), attempt));
    const [call] = failed
      .filter((each) => canKnow(attempt, lastOf(each)))
      .toSorted((a, b) => rank(a, attempt) - rank(b, attempt) || lastOf(a).realEndMs - lastOf(b).realEndMs);
    const continued = call ?? { attempts: [], waits: [] };
    if (call === undefined) calls.push(continued);
    else continued.waits.push(waitBetween(lastOf(call), attempt));
    continued.attempts.push(attempt);
    const others = failed.filter((each) => each !== call);
    open.set(attempt.same, attempt.failed ? [...others, continued] : others);
  }
  return calls;
}

const lastOf = ({ attempts }: Call): Attempt => attempts.at(-1) as Attempt;

/** How well a call explains the next attempt: 0 best, 3 worst. */
function rank({ attempts, waits }: Call, next: Attempt): number {
  const of = attempts.at(-1) as Attempt;
  const wait = waitBetween(of, next);
  const isLong = of.hintMs === null ? wait.ms >= Math.max(WAIT_MS_MIN, waits.at(-1)?.ms ?? 0) : hasWaited(wait);
  return (isLong ? 0 : 2) + (of.connection === next.connection ? 0 : 1);
}

const mayContinue = (of: Attempt, next: Attempt): boolean =>
  Math.min(next.realAtMs - of.realEndMs, next.atMs - of.endMs) <= (of.hintMs ?? 0) + NEXT_CALL_MS;

function waitBetween(of: Attempt, next: Attempt) {
  const appMs = next.atMs - of.atMs;
  return {
    of,
    next,
    /** The longer one by the two clocks. */
    ms: Math.max(next.realAtMs - of.realEndMs, next.atMs - of.endMs),
    /** Whether the app's clock was moved meanwhile, which tells nothing about the client; a frozen one was not. */
    moved: appMs !== 0 && Math.abs(appMs - (next.realAtMs - of.realAtMs)) > CLOCKS_MS,
  };
}

/** A busy server notices the end of its answer late, and the client has waited since it had the answer. */
export const hasWaited = ({ of, ms }: Pick<Wait, 'of' | 'ms'>): boolean =>
  ms + Math.min(LATE_MS, of.durationMs - (of.firstByteMs ?? of.durationMs)) >= (of.hintMs ?? 0) - EARLY_MS;

/** Whether a break has taken the time to wait out of this answer, so that the client could not know it. */
export const isHintBroken = ({ fault, hintMs }: Attempt): boolean =>
  hintMs === null && fault?.startsWith('api.retry-after-') === true;

/** Whether the client can have read the answer to `earlier` before it began `later`. */
export const canKnow = (later: Attempt, earlier: Attempt): boolean =>
  later.realAtMs - earlier.realEndMs >= (later.connection === earlier.connection && !earlier.isParallel ? 0 : READ_MS);

/** Whether `later` may react to `earlier`, and began before `untilMs` and `realUntilMs` on both clocks. */
export const isBetween = (later: Attempt, earlier: Attempt, untilMs: EpochMs, realUntilMs: EpochMs): boolean =>
  canKnow(later, earlier) && later.realAtMs < realUntilMs && later.atMs < untilMs;
