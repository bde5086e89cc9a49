import { iso } from '../contract/values.ts';
import type { EpochMs } from '../base/clock.ts';
import { DAY_MS, MINUTE_MS } from '../contract/duration.ts';
import { factsOf, type Plan } from '../contract/plans.ts';
import type { PlanLimits } from '../contract/projects.ts';

/**
 * The party that a request is counted for, within one project: an API key or, without a valid one, the client's
 * address.
 */
export type Caller =
  | { kind: 'key'; keyId: string; projectId: string }
  | { kind: 'address'; address: string; projectId: string }
  /** A connection to a provider's emulated API, and the row of its limits. */
  | { kind: 'provider'; connectionId: string; limit: string; projectId: string };

/** How many requests in the two rate windows. */
export interface RateLimits extends PlanLimits {
  /** The length of the first one, if not a minute. */
  minuteMs?: number;
}

/** The caller's name within its project: `key:<id>`, `address:<ip>` or `provider:<id>:<limit>`. */
export function callerName(caller: Caller): string {
  if (caller.kind === 'key') return `key:${caller.keyId}`;
  return caller.kind === 'address' ? `address:${caller.address}` : `provider:${caller.connectionId}:${caller.limit}`;
}

export interface RequestLimiter {
  /** Decides on one request, and counts it unless refused. */
  take(caller: Caller, limits: RateLimits): Decision;
  /** The rate state of a hypothetical request, without counting one. */
  peek(caller: Caller, limits: RateLimits): Decision;
}

/**
 * The limiter's answer to one request, from `main/ratelimit` through the proxy to the target. The three rate values
 * describe one rate window: the one that runs out first or, if refused, the one to wait for.
 */
export interface Decision {
  /** Null if the request is allowed. */
  refusal: Refusal | null;
  rate: RateState;
}

export interface RateState {
  limit: number;
  /** Requests left in the rate window, after this one. */
  remaining: number;
  /** When the rate window ends, on the app's clock. */
  resetAtMs: EpochMs;
  /**
   * The header fields, name, value, …, where they say more than the values above: with a moved clock, and with the
   * fields of the IETF draft.
   */
  fields?: readonly string[];
}

export interface Refusal {
  code: 'rate_limit_exceeded' | 'api_key_banned';
  /** The exhausted rate window; absent for a ban. */
  window?: 'minute' | 'day';
  /** Whole seconds, at least 1, that the client MUST wait (`Retry-After`, RFC 9110 §10.2.3). */
  retryAfterSeconds: number;
  /** A sentence for the Error body: which limit, until when, and what to do. */
  message: string;
}

/** A project's limits: its plan's or, where they are agreed, its own. */
export function limitsOf(project: { plan: Plan; limits: PlanLimits | null }): PlanLimits {
  const limits = factsOf(project.plan).limits ?? project.limits;
  if (limits === null) throw new Error(`A project with the plan "${project.plan}" has no limits stored.`);
  return limits;
}

/** A fixed rate window of one caller. It begins with the first counted request; null until then. */
export interface RateWindow {
  startedAtMs: EpochMs | null;
  used: number;
}

/** A caller's complete state. Immutable: decisions return a new one. */
export interface CallerState {
  minute: RateWindow;
  day: RateWindow;
  /** Refusals in the exhausted rate window that ends at `strikesUntilMs`. */
  strikes: number;
  strikesUntilMs: EpochMs | null;
  bannedUntilMs: EpochMs | null;
}

/** A caller's state as a database row, which survives a restart. */
export interface LimitRow {
  projectId: string;
  /** `key:<id>` or `address:<ip>`. */
  caller: string;
  minuteStartedAtMs: EpochMs | null;
  minuteUsed: number;
  dayStartedAtMs: EpochMs | null;
  dayUsed: number;
  strikes: number;
  strikesUntilMs: EpochMs | null;
  bannedUntilMs: EpochMs | null;
  lastRequestAtMs: EpochMs | null;
}

/** When to ban an API key, and for how long. Null for callers that are never banned (addresses). */
export interface BanRule {
  /** Refusals in one exhausted rate window. */
  afterRefusals: number;
  durationMs: number;
}

export interface Outcome {
  decision: Decision;
  state: CallerState;
  /** Whether this request started a ban. */
  banBegan: boolean;
}

const EMPTY_WINDOW: RateWindow = { startedAtMs: null, used: 0 };

export const NEW_CALLER: CallerState = {
  minute: EMPTY_WINDOW,
  day: EMPTY_WINDOW,
  strikes: 0,
  strikesUntilMs: null,
  bannedUntilMs: null,
};

/** One of the two windows at the current time. */
interface OpenWindow {
  name: 'minute' | 'day';
  limit: number;
  used: number;
  remaining: number;
  lengthMs: number;
  endsAtMs: EpochMs;
}

/**
 * The state at `nowMs`: windows that have ended, or that begin in the future because the clock was set back, are reset;
 * expired bans are removed with their strikes; a ban is capped at its length.
 */
export function settle(
  state: CallerState,
  ban: BanRule | null,
  nowMs: EpochMs,
  minuteMs: number = MINUTE_MS,
): CallerState {
  const minute = current(state.minute, minuteMs, nowMs);
  const day = current(state.day, DAY_MS, nowMs);
  let { strikes, strikesUntilMs, bannedUntilMs } = state;
  if (bannedUntilMs !== null && (ban === null || bannedUntilMs <= nowMs)) {
    bannedUntilMs = null;
    strikes = 0;
    strikesUntilMs = null;
  }
  if (bannedUntilMs !== null && ban !== null) bannedUntilMs = Math.min(bannedUntilMs, nowMs + ban.durationMs);
  if (strikesUntilMs !== null && (strikesUntilMs <= nowMs || strikesUntilMs > nowMs + DAY_MS)) {
    strikes = 0;
    strikesUntilMs = null;
  }
  if (
    minute === state.minute &&
    day === state.day &&
    strikes === state.strikes &&
    bannedUntilMs === state.bannedUntilMs
  ) {
    return state;
  }
  return { minute, day, strikes, strikesUntilMs, bannedUntilMs };
}

function current(window: RateWindow, lengthMs: number, nowMs: EpochMs): RateWindow {
  if (window.startedAtMs === null) return window;
  return nowMs >= window.startedAtMs && nowMs < window.startedAtMs + lengthMs ? window : EMPTY_WINDOW;
}

/** The caller's state and windows at this time. */
function at(limits: RateLimits, caller: CallerState, ban: BanRule | null, nowMs: EpochMs) {
  const minuteMs = limits.minuteMs ?? MINUTE_MS;
  const state = settle(caller, ban, nowMs, minuteMs);
  return {
    state,
    minute: open('minute', state.minute, limits.perMinute, minuteMs, nowMs),
    day: open('day', state.day, limits.perDay, DAY_MS, nowMs),
  };
}

/**
 * Decides on one counted request (specification, section 8). Pure: takes the caller's state and the time, returns the
 * decision and the new state. A refused request is not counted. Under `ban`, refusals in one exhausted window add up to
 * a ban, and requests during a ban do not extend it.
 */
export function decide(limits: RateLimits, caller: CallerState, ban: BanRule | null, nowMs: EpochMs): Outcome {
  const { state, minute, day } = at(limits, caller, ban, nowMs);

  if (state.bannedUntilMs !== null) {
    return { decision: banned(narrower(minute, day), state.bannedUntilMs, nowMs), state, banBegan: false };
  }

  const exhausted = waitFor(minute, day);
  if (exhausted !== null) return refuse(state, exhausted, ban, nowMs);

  const counted = { ...state, minute: count(state.minute, nowMs), day: count(state.day, nowMs) };
  const rate = rateState(narrower(spent(minute), spent(day)));
  return { decision: { refusal: null, rate }, state: counted, banBegan: false };
}

/** The rate state without counting a request, for answers that do not count, such as preflights. */
export function peek(limits: RateLimits, caller: CallerState, ban: BanRule | null, nowMs: EpochMs): Decision {
  const { state, minute, day } = at(limits, caller, ban, nowMs);
  if (state.bannedUntilMs !== null) return banned(narrower(minute, day), state.bannedUntilMs, nowMs);
  return { refusal: null, rate: rateState(waitFor(minute, day) ?? narrower(minute, day)) };
}

/**
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4) for both rate windows:
 * Lists of Strings with Integer parameters (RFC 9651). `t` counts the seconds within which the caller can use no more
 * than `r`. During a ban that is nothing until the ban ends, or until the end of an exhausted window if that is later.
 */
export function rateLimitFields(limits: PlanLimits, state: CallerState, nowMs: EpochMs): string[] {
  const { bannedUntilMs } = state;
  const policies = [
    `"minute";q=${limits.perMinute};w=${MINUTE_MS / 1000}`,
    `"day";q=${limits.perDay};w=${DAY_MS / 1000}`,
  ];
  const left = ({ name, remaining, endsAtMs }: OpenWindow): string => {
    const outlastsBan = bannedUntilMs === null || (remaining === 0 && endsAtMs > bannedUntilMs);
    const [available, untilMs] = outlastsBan ? [remaining, endsAtMs] : [0, bannedUntilMs];
    return `"${name}";r=${available};t=${secondsUntil(untilMs, nowMs)}`;
  };
  const windows = [
    open('minute', state.minute, limits.perMinute, MINUTE_MS, nowMs),
    open('day', state.day, limits.perDay, DAY_MS, nowMs),
  ];
  return ['RateLimit-Policy', policies.join(', '), 'RateLimit', windows.map(left).join(', ')];
}

function open(
  name: OpenWindow['name'],
  window: RateWindow,
  limit: number,
  lengthMs: number,
  nowMs: EpochMs,
): OpenWindow {
  return {
    name,
    limit,
    used: window.used,
    remaining: Math.max(limit - window.used, 0),
    lengthMs,
    endsAtMs: (window.startedAtMs ?? nowMs) + lengthMs,
  };
}

const count = (window: RateWindow, nowMs: EpochMs): RateWindow => ({
  startedAtMs: window.startedAtMs ?? nowMs,
  used: window.used + 1,
});

const spent = (window: OpenWindow): OpenWindow => ({ ...window, remaining: window.remaining - 1 });

/** The window that runs out first; when equal, the minute. */
const narrower = (minute: OpenWindow, day: OpenWindow): OpenWindow => (day.remaining < minute.remaining ? day : minute);

/** The exhausted window that ends last, because no request can succeed before. Null if none is exhausted. */
function waitFor(minute: OpenWindow, day: OpenWindow): OpenWindow | null {
  if (minute.remaining > 0) return day.remaining > 0 ? null : day;
  return day.remaining > 0 || day.endsAtMs <= minute.endsAtMs ? minute : day;
}

const rateState = (window: OpenWindow): RateState => ({
  limit: window.limit,
  remaining: window.remaining,
  resetAtMs: window.endsAtMs,
});

/** Many refusals in a row name the same end, and writing it is half of the work. */
let written = { atMs: Number.NaN, text: '' };

function endText(atMs: EpochMs): string {
  if (written.atMs !== atMs) written = { atMs, text: iso(atMs) };
  return written.text;
}

function refuse(state: CallerState, exhausted: OpenWindow, ban: BanRule | null, nowMs: EpochMs): Outcome {
  const rate = rateState(exhausted);
  const strikes = (state.strikesUntilMs === exhausted.endsAtMs ? state.strikes : 0) + 1;
  const banBegan = ban !== null && strikes >= ban.afterRefusals;
  const refusal: Refusal = {
    code: 'rate_limit_exceeded',
    window: exhausted.name,
    retryAfterSeconds: secondsUntil(exhausted.endsAtMs, nowMs),
    message: limitMessage(exhausted),
  };
  return {
    decision: { refusal, rate },
    state: {
      ...state,
      strikes,
      strikesUntilMs: exhausted.endsAtMs,
      bannedUntilMs: banBegan ? nowMs + ban.durationMs : null,
    },
    banBegan,
  };
}

/** During a ban nothing remains, and the client must wait for its end; both headers say so. */
function banned(window: OpenWindow, untilMs: EpochMs, nowMs: EpochMs): Decision {
  return {
    rate: { limit: window.limit, remaining: 0, resetAtMs: untilMs },
    refusal: {
      code: 'api_key_banned',
      retryAfterSeconds: secondsUntil(untilMs, nowMs),
      message: `This API key kept sending requests after refusals, and is banned until ${endText(untilMs)}. Wait for Retry-After, and back off exponentially after a 429.`,
    },
  };
}

/** Rounded up, like `X-RateLimit-Reset`, so a client that waits by either value is never too early. */
const secondsUntil = (atMs: EpochMs, nowMs: EpochMs): number => Math.max(1, Math.ceil(atMs / 1000 - nowMs / 1000));

function limitMessage({ name, limit, lengthMs, endsAtMs }: OpenWindow): string {
  // Windows of other lengths are those of providers, which no plan of a project widens.
  const isOfPlan = name === 'day' || lengthMs === MINUTE_MS;
  const minutes = lengthMs / MINUTE_MS;
  const period = isOfPlan ? name : minutes === 60 ? 'hour' : `${minutes} minutes`;
  const advice = isOfPlan ? 'back off exponentially, or upgrade the plan' : 'and back off exponentially';
  return `The limit of ${limit} requests per ${period} is used up until ${endText(endsAtMs)}. Wait for Retry-After, ${advice}.`;
}
