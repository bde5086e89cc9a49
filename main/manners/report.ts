import {
  EVIDENCE_MAX,
  type Grade,
  GRADES,
  MANNERS_RULES,
  type MannersRule,
  SEEN_RULES_MIN,
} from '../contract/grades.ts';
import type { MannersFinding } from '../contract/manners.ts';
import { type Attempt, attemptOf, callsOf, isPreflight, type Observed } from './attempts.ts';
import { ABOUT_MOST, crowdsIn, isLoop, type Observation, RULES } from './rules.ts';
import type { EpochMs } from '../base/clock.ts';
import { OWN_AGENT } from '../base/config.ts';
import type { PlanLimits } from '../contract/projects.ts';
import { type BanRule, type CallerState, decide, NEW_CALLER } from '../model/rate-decision.ts';

export interface Finding extends Omit<MannersFinding, 'entries'> {
  /** Numbers of entries: those that broke the rule or, if none did, that kept it; the newest, oldest first. */
  entries: number[];
}

/** Rules that protect the server: a client that breaks one gets a D at best. */
const GRAVE: ReadonlySet<MannersRule> = new Set(['waits-for-retry-after', 'stops-when-refused', 'gives-up']);

/**
 * The clients of recorded requests, each with its findings and grade, those with the most requests first. `of` is one of
 * its requests, which says who it is.
 */
export function gradeAll(entries: Iterable<Observed>) {
  const clients = new Map<string, { of: Observed; attempts: Attempt[] }>();
  for (const entry of entries) {
    if (entry.route === null || isPreflight(entry)) continue;
    const attempt = attemptOf(entry);
    if (attempt.userAgent === OWN_AGENT) continue;
    const client = clients.get(attempt.client) ?? { of: entry, attempts: [] };
    client.attempts.push(attempt);
    clients.set(attempt.client, client);
  }
  const subjects = [...clients.values()].map(({ of, attempts }) => {
    const inOrder = attempts.toSorted((a, b) => a.realAtMs - b.realAtMs || a.number - b.number);
    endInOrder(inOrder);
    return { of, attempts: inOrder, calls: callsOf(inOrder) };
  });
  const crowds = crowdsIn(subjects.flatMap(({ calls }) => calls));
  return subjects
    .map(({ of, attempts, calls }) => {
      const rules = MANNERS_RULES.map((rule) => findingOf(rule, RULES[rule]({ attempts, calls, crowds })));
      const [requests, userAgent] = [attempts.length, attempts[0]?.userAgent ?? ''];
      return { of, userAgent, requests, calls: calls.length, grade: gradeOf(rules, isLoop(calls)), rules };
    })
    .toSorted((a, b) => b.requests - a.requests);
}

/** A client that sends again over a connection of HTTP/1 has had its answer, before the server notices its end. */
function endInOrder(attempts: readonly Attempt[]): void {
  const last = new Map<number, Attempt>();
  for (const attempt of attempts) {
    if (attempt.isParallel || attempt.connection <= 0) continue;
    const before = last.get(attempt.connection);
    last.set(attempt.connection, attempt);
    const afterMs = before === undefined ? 0 : before.realEndMs - attempt.realAtMs;
    if (before === undefined || afterMs <= 0) continue;
    before.realEndMs -= afterMs;
    before.endMs -= afterMs;
  }
}

function findingOf(rule: MannersRule, observations: readonly Observation[]): Finding {
  const broken = observations.filter(({ isKept }) => !isKept);
  const seen = observations.length;
  const kept = seen - broken.length;
  const isBroken = broken.length > (ABOUT_MOST.has(rule) ? kept : 0);
  const shown = (broken.length > 0 ? broken : observations).flatMap((each) => each.shown.map(({ number }) => number));
  return {
    rule,
    seen,
    kept,
    verdict: seen === 0 ? 'not_seen' : isBroken ? 'broken' : 'kept',
    entries: [...new Set(shown)].toSorted((a, b) => a - b).slice(-EVIDENCE_MAX),
  };
}

/**
 * A for no broken rule, one grade less for each, to F for four; null if too few rules were seen. A loop gets an F by
 * that alone.
 */
export function gradeOf(rules: readonly Pick<Finding, 'rule' | 'verdict'>[], isLoop = false): Grade | null {
  if (isLoop) return 'F';
  if (rules.filter(({ verdict }) => verdict !== 'not_seen').length < SEEN_RULES_MIN) return null;
  const broken = rules.filter(({ verdict }) => verdict === 'broken');
  const least = broken.some(({ rule }) => GRAVE.has(rule)) ? GRADES.indexOf('D') : 0;
  return GRADES[Math.min(GRADES.length - 1, Math.max(least, broken.length))] ?? 'F';
}

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

interface Decided {
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
export function decideAgain(requests: readonly Counted[]) {
  const callers = new Map<string, Decided>();
  const states = new Map<string, CallerState>();
  let bans = 0;
  const refused = requests.map(({ caller, atMs, limits, ban }) => {
    const sum = callers.get(caller) ?? { requests: 0, refused: 0, firstRefusedAtMs: null, bannedAtMs: null };
    const { decision, state, banBegan } = decide(limits, states.get(caller) ?? NEW_CALLER, ban, atMs);
    callers.set(caller, sum);
    states.set(caller, state);
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
