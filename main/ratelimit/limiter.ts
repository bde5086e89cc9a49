import type { AdjustableClock } from '../base/clock.ts';
import { LruMap } from '../base/lru.ts';
import type { PlanLimits } from '../contract/projects.ts';
import { callerName, decide, NEW_CALLER, peek, rateLimitFields, settle } from '../model/rate-decision.ts';
import type { Caller, RequestLimiter, BanRule, CallerState, Decision, LimitRow } from '../model/rate-decision.ts';
import { specifiedRateFields } from '../model/problem.ts';

/** Stores counters and bans across restarts. Called in batches, outside of requests. */
export interface LimitStorage {
  load(): Iterable<LimitRow>;
  save(rows: readonly LimitRow[]): void;
  remove(callers: readonly { projectId: string; caller: string }[]): void;
}

export interface CallerReading {
  projectId: string;
  caller: string;
  state: CallerState;
}

/** Limit on callers in memory, about 300 bytes each. The one idle for longest is evicted first, banned ones last. */
export const CALLERS_MAX = 100_000;

/** States are written behind, because every request changes one: a crash loses at most this much real time. */
const FLUSH_INTERVAL_MS = 1_000;

/** How many idle callers to check for one that is not banned, before evicting a banned one. */
const EVICTION_SCAN_MAX = 32;

interface Entry {
  projectId: string;
  caller: string;
  state: CallerState;
  /** The state that a clock set back has left, until it comes back there; not stored. */
  left: CallerState | null;
  lastRequestAtMs: number | null;
  dirty: boolean;
}

const beginsAfter = ({ minute, day }: CallerState, nowMs: number): boolean =>
  Math.max(minute.startedAtMs ?? 0, day.startedAtMs ?? 0) > nowMs;

/** The present state: after the clock's way back and forth, the windows and bans that it left apply again. */
function stateNow({ state, left }: Entry, nowMs: number): CallerState {
  if (left === null || beginsAfter(left, nowMs)) return state;
  const windowOf = (name: 'minute' | 'day') =>
    left[name].startedAtMs === state[name].startedAtMs ? state[name] : left[name];
  const bannedUntilMs = Math.max(left.bannedUntilMs ?? 0, state.bannedUntilMs ?? 0) || null;
  return { ...left, minute: windowOf('minute'), day: windowOf('day'), bannedUntilMs };
}

interface LimiterOptions {
  clock: Pick<AdjustableClock, 'now' | 'realTimer' | 'state'>;
  /** Whether answers also have the fields of the IETF draft; read at each decision. */
  withDraftFields?: () => boolean;
  storage: LimitStorage;
  /** The current rule, read at each decision, so a changed setting applies immediately. */
  banRule: () => BanRule;
  onBan?: (caller: Caller) => void;
  /** Called if writing fails; the limiter continues in memory and retries. */
  onError?: (error: unknown) => void;
  callersMax?: number;
}

export type Limiter = ReturnType<typeof createLimiter>;

export function createLimiter(options: LimiterOptions) {
  const { clock, storage, banRule } = options;
  const callersMax = options.callersMax ?? CALLERS_MAX;
  const { mark, drop, clear, flush, stop } = createWrites(options, callersMax);
  let entries = new LruMap<Entry>(callersMax, drop);

  function load(): void {
    for (const row of storage.load()) {
      entries.set(keyOf(row.projectId, row.caller), {
        projectId: row.projectId,
        caller: row.caller,
        state: stateOf(row),
        left: null,
        lastRequestAtMs: row.lastRequestAtMs,
        dirty: false,
      });
    }
  }
  load();

  const ruleFor = (caller: string): BanRule | null => (caller.startsWith('key:') ? banRule() : null);

  /**
   * The decision with its header fields. `X-RateLimit-Reset` is in real time, like `Date` and the dates of
   * certificates: a client compares it with its own clock.
   */
  function sent(decision: Decision, limits: PlanLimits, state: CallerState): Decision {
    const { now, offsetMs } = clock.state();
    const withDraftFields = options.withDraftFields?.() === true;
    if (offsetMs === 0 && !withDraftFields) return decision;
    const { rate } = decision;
    const fields = [
      ...specifiedRateFields(rate, offsetMs),
      ...(withDraftFields ? rateLimitFields(limits, state, now) : []),
    ];
    return { ...decision, rate: { ...rate, fields } };
  }

  function touch(projectId: string, caller: string): Entry {
    return entries.use(keyOf(projectId, caller), () => {
      if (entries.size >= callersMax) evict();
      return { projectId, caller, state: NEW_CALLER, left: null, lastRequestAtMs: null, dirty: false };
    });
  }

  /** Evicts before the map does, which would ignore bans. */
  function evict(): void {
    const nowMs = clock.now();
    let scanned = 0;
    for (const [key, entry] of entries) {
      const banned = entry.state.bannedUntilMs !== null && entry.state.bannedUntilMs > nowMs;
      if (banned && ++scanned < EVICTION_SCAN_MAX) continue;
      entries.delete(key);
      return;
    }
  }

  const requests: RequestLimiter = {
    take(caller, limits) {
      const entry = touch(caller.projectId, callerName(caller));
      const nowMs = clock.now();
      const state = stateNow(entry, nowMs);
      if (state !== entry.state) entry.left = null;
      else if (beginsAfter(state, nowMs)) entry.left ??= state;
      const outcome = decide(limits, state, ruleFor(entry.caller), nowMs);
      entry.lastRequestAtMs = nowMs;
      mark(entry, outcome.state);
      if (outcome.banBegan) {
        flush();
        options.onBan?.(caller);
      }
      return sent(outcome.decision, limits, outcome.state);
    },
    peek(caller, limits) {
      const name = callerName(caller);
      const entry = entries.peek(keyOf(caller.projectId, name));
      const [ban, nowMs] = [ruleFor(name), clock.now()];
      const state = entry === undefined ? NEW_CALLER : stateNow(entry, nowMs);
      return sent(peek(limits, state, ban, nowMs), limits, settle(state, ban, nowMs));
    },
  };

  return {
    ...requests,
    ...createCallers(() => entries, { clock, ruleFor, mark, flush }),
    /** Writes all changes since the last flush. */
    flush,
    /** Reads the storage again after its content was replaced. */
    reload(): void {
      entries = new LruMap<Entry>(callersMax, drop);
      clear();
      load();
    },
    stop,
  };
}

/** The changed entries, written behind. */
function createWrites({ clock, storage, onError }: LimiterOptions, callersMax: number) {
  const dirty = new Set<Entry>();
  let removed: { projectId: string; caller: string }[] = [];
  let stopped = false;

  function mark(entry: Entry, state: CallerState): void {
    entry.state = state;
    if (entry.dirty) return;
    entry.dirty = true;
    dirty.add(entry);
  }

  function flush(): void {
    try {
      if (removed.length > 0) {
        // An evicted caller that has returned is written again below.
        storage.remove(removed);
        removed = [];
      }
      if (dirty.size > 0) {
        storage.save([...dirty].map(rowOf));
        for (const entry of dirty) entry.dirty = false;
        dirty.clear();
      }
    } catch (error) {
      onError?.(error);
    }
  }

  function loop(): void {
    if (stopped) return;
    flush();
    timer = clock.realTimer(FLUSH_INTERVAL_MS, loop);
  }
  let timer = clock.realTimer(FLUSH_INTERVAL_MS, loop);

  return {
    mark,
    /** Removes an entry that left the memory from the storage too. */
    drop(entry: Entry): void {
      dirty.delete(entry);
      removed.push({ projectId: entry.projectId, caller: entry.caller });
      if (removed.length >= callersMax) flush();
    },
    clear(): void {
      dirty.clear();
      removed = [];
    },
    flush,
    stop(): void {
      stopped = true;
      timer.cancel();
      flush();
    },
  };
}

/** What people see of the callers, and change. */
function createCallers(
  entries: () => LruMap<Entry>,
  parts: {
    clock: LimiterOptions['clock'];
    ruleFor: (caller: string) => BanRule | null;
    mark: (entry: Entry, state: CallerState) => void;
    flush: () => void;
  },
) {
  const { clock, ruleFor, mark, flush } = parts;
  const present = (entry: Entry): CallerState => {
    const nowMs = clock.now();
    return settle(stateNow(entry, nowMs), ruleFor(entry.caller), nowMs);
  };

  return {
    /** The project's callers with current counts, strikes or bans. */
    usage(projectId: string): CallerReading[] {
      const readings: CallerReading[] = [];
      for (const [, entry] of entries()) {
        if (entry.projectId !== projectId) continue;
        const state = present(entry);
        if (state.minute.used > 0 || state.day.used > 0 || state.strikes > 0 || state.bannedUntilMs !== null) {
          readings.push({ projectId, caller: entry.caller, state });
        }
      }
      return readings.reverse();
    },
    /** The numbers of open rate windows and current bans, over all callers. */
    totals(): { minutes: number; days: number; bans: number } {
      const count = { minutes: 0, days: 0, bans: 0 };
      for (const [, entry] of entries()) {
        const { minute, day, bannedUntilMs } = present(entry);
        if (minute.startedAtMs !== null) count.minutes++;
        if (day.startedAtMs !== null) count.days++;
        if (bannedUntilMs !== null) count.bans++;
      }
      return count;
    },
    /** When an API key was last used, even if refused, in epoch milliseconds; null if never, or no longer known. */
    lastRequestOf: (projectId: string, keyId: string): number | null =>
      entries().peek(keyOf(projectId, `key:${keyId}`))?.lastRequestAtMs ?? null,
    /** Sets used counts and strikes to zero, for one caller or for the whole project; keeps bans. */
    reset(projectId: string, caller?: string): void {
      for (const [, entry] of entries()) {
        if (entry.projectId !== projectId || (caller !== undefined && entry.caller !== caller)) continue;
        const { bannedUntilMs } = stateNow(entry, clock.now());
        entry.left = null;
        mark(entry, { ...NEW_CALLER, bannedUntilMs });
      }
      flush();
    },
    /** Lifts the ban of an API key; returns false if there was none. */
    unban(projectId: string, keyId: string): boolean {
      const entry = entries().peek(keyOf(projectId, `key:${keyId}`));
      if (entry === undefined) return false;
      const state = present(entry);
      if (state.bannedUntilMs === null) return false;
      entry.left = null;
      mark(entry, { ...state, strikes: 0, strikesUntilMs: null, bannedUntilMs: null });
      flush();
      return true;
    },
    /** Forgets a project's callers, or one revoked API key. */
    forget(projectId: string, caller?: string): void {
      for (const [key, entry] of entries()) {
        if (entry.projectId === projectId && (caller === undefined || entry.caller === caller)) entries().delete(key);
      }
      flush();
    },
  };
}

const keyOf = (projectId: string, caller: string): string => `${projectId} ${caller}`;

const stateOf = (row: LimitRow): CallerState => ({
  minute: { startedAtMs: row.minuteStartedAtMs, used: row.minuteUsed },
  day: { startedAtMs: row.dayStartedAtMs, used: row.dayUsed },
  strikes: row.strikes,
  strikesUntilMs: row.strikesUntilMs,
  bannedUntilMs: row.bannedUntilMs,
});

const rowOf = ({ projectId, caller, state, lastRequestAtMs }: Entry): LimitRow => ({
  projectId,
  caller,
  minuteStartedAtMs: state.minute.startedAtMs,
  minuteUsed: state.minute.used,
  dayStartedAtMs: state.day.startedAtMs,
  dayUsed: state.day.used,
  strikes: state.strikes,
  strikesUntilMs: state.strikesUntilMs,
  bannedUntilMs: state.bannedUntilMs,
  lastRequestAtMs,
});
