import type { EpochMs } from '../base/clock.ts';
import type { PlanLimits } from '../contract/projects.ts';
import { type BanRule, type CallerState, decide, NEW_CALLER } from '../model/rate-decision.ts';

/** A counted request, and the limits to decide it by. */
export interface Counted {
  /** Unique among all projects. */
  caller: string;
  /** On the app's clock. */
  atMs: EpochMs;
  limits: PlanLimits;
  /** Null for callers that are never banned. */
  ban: BanRule | null;
}

export interface Decided {
  requests: number;
  refused: number;
  /** On the app's clock. */
  firstRefusedAtMs: EpochMs | null;
  bannedAtMs: EpochMs | null;
}

/**
 * Decides requests, in the order in which they came, by the limiter's rule, for callers that have used nothing yet. In
 * the result, whether each was refused, and the callers in order of their first request.
 */
export function decideAgain(requests: readonly Counted[]): {
  refused: boolean[];
  callers: Map<string, Decided>;
  bans: number;
} {
  const callers = new Map<string, Decided>();
  const known = new Map<string, { sum: Decided; state: CallerState }>();
  let bans = 0;
  const refused = requests.map(({ caller, atMs, limits, ban }) => {
    let entry = known.get(caller);
    if (entry === undefined) {
      entry = { sum: { requests: 0, refused: 0, firstRefusedAtMs: null, bannedAtMs: null }, state: NEW_CALLER };
      known.set(caller, entry);
      callers.set(caller, entry.sum);
    }
    const { decision, state, banBegan } = decide(limits, entry.state, ban, atMs);
    entry.state = state;
    const { sum } = entry;
    sum.requests += 1;
    if (decision.refusal === null) return false;
    sum.refused += 1;
    sum.firstRefusedAtMs ??= atMs;
    if (banBegan) {
      bans += 1;
      sum.bannedAtMs ??= atMs;
    }
    return true;
  });
  return { refused, callers, bans };
}
