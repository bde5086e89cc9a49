import type { AdjustableClock, EpochMs } from '../base/clock.ts';
import { nextTurn } from '../base/turns.ts';
import { formatDuration, parseDuration } from '../contract/duration.ts';
import type { ClockMove, ClockReading } from '../contract/status.ts';
import type { CertificateState } from '../contract/domains.ts';
import type { Services } from '../contract/index.ts';
import type { AttachedDomain } from '../domains/domain-set.ts';
import { inputError } from './projects/project-rules.ts';

export function createClockServices(options: {
  clock: AdjustableClock;
  /** Reads the state that changes with time alone. */
  observe: () => Omit<TimedState, 'nowMs'>;
  sunsets: readonly Sunset[];
  projectName: (projectId: string) => string;
}): Services['clock'] {
  const { clock, sunsets, projectName } = options;

  function reading(): ClockReading {
    const { now, realNow, offsetMs, frozen } = clock.state();
    return {
      now: new Date(now).toISOString(),
      realNow: new Date(realNow).toISOString(),
      offset: formatDuration(offsetMs),
      frozen,
    };
  }

  const observe = (): TimedState => ({ nowMs: clock.now(), ...options.observe() });

  async function move(path: string, adjustment: () => Promise<void>): Promise<ClockMove> {
    const before = observe();
    try {
      await adjustment();
    } catch (error) {
      if (error instanceof RangeError) throw inputError(path, error.message);
      throw error;
    }
    // The work just done may have covered thousands of domains.
    await nextTurn();
    return { ...reading(), happened: describeMove(before, observe(), sunsets, projectName) };
  }

  return {
    get: () => reading(),
    advance: ({ by }) => move('by', () => clock.advance(parseDuration(by))),
    set: ({ to }) => move('to', () => clock.set(Date.parse(to))),
    freeze() {
      clock.freeze();
      return reading();
    },
    resume() {
      clock.resume();
      return reading();
    },
    reset: () => move('', () => clock.reset()),
  };
}

/** State that changes with time alone, at one moment of the app's clock. */
export interface TimedState {
  nowMs: EpochMs;
  domains: readonly TimedDomain[];
  /** Open rate windows of all callers, and active bans. */
  limits: { minutes: number; days: number; bans: number };
  /** The titles of the running breaks and drill, by id. */
  breaks: ReadonlyMap<string, string>;
  /** RRsets whose pending changes have become visible, since the start. */
  published: number;
}

export type TimedDomain = Pick<AttachedDomain, 'hostname' | 'projectId' | 'state' | 'lastCheckedAtMs'> & {
  certificate: Pick<AttachedDomain['certificate'], 'state' | 'refusal' | 'notAfterMs'>;
};

/** An operation of the API and the time of its removal. */
export interface Sunset {
  operation: string;
  atMs: EpochMs;
}

/** Domains listed by name; the others are counted. */
const DOMAINS_LISTED_MAX = 6;

/** Breaks that ended, listed by name. */
const BREAKS_LISTED_MAX = 3;

/** Describes the effects of a clock change in sentences; empty when nothing fell due. */
export function describeMove(
  before: TimedState,
  after: TimedState,
  sunsets: readonly Sunset[],
  projectName: (projectId: string) => string,
): string[] {
  return [
    ...sunsets.flatMap((sunset) => sunsetCrossed(sunset, before.nowMs, after.nowMs)),
    ...breaksEnded(before.breaks, after.breaks),
    ...domainsMoved(before.domains, after.domains, projectName),
    ...counted(after.published - before.published, 'DNS change is visible now', 'DNS changes are visible now'),
    ...counted(before.limits.bans - after.limits.bans, 'ban is over', 'bans are over'),
    ...counted(
      before.limits.minutes - after.limits.minutes,
      'per-minute limit has reset',
      'per-minute limits have reset',
    ),
    ...counted(before.limits.days - after.limits.days, 'daily limit has reset', 'daily limits have reset'),
  ];
}

function sunsetCrossed({ operation, atMs }: Sunset, beforeMs: EpochMs, afterMs: EpochMs): string[] {
  const wasGone = beforeMs >= atMs;
  const isGone = afterMs >= atMs;
  if (wasGone === isGone) return [];
  return [isGone ? `${operation} is removed: it answers 410.` : `${operation} answers again.`];
}

function breaksEnded(before: TimedState['breaks'], after: TimedState['breaks']): string[] {
  const ended = [...before].filter(([id]) => !after.has(id)).map(([, title]) => title);
  const named = ended.slice(0, BREAKS_LISTED_MAX).join(', ');
  return ended.length === 0
    ? []
    : [`Ended: ${named}${ended.length > BREAKS_LISTED_MAX ? ` and ${ended.length - BREAKS_LISTED_MAX} more` : ''}.`];
}

function domainsMoved(
  before: readonly TimedDomain[],
  after: readonly TimedDomain[],
  projectName: (projectId: string) => string,
): string[] {
  const nameOf = ({ hostname, projectId }: TimedDomain) => `${hostname} (project ${projectName(projectId)})`;
  const known = new Map(before.map((domain) => [domain.hostname, domain]));
  const changes: (() => string)[] = [];
  let checked = 0;
  for (const domain of after) {
    const was = known.get(domain.hostname);
    if (was === undefined) continue;
    if (domain.lastCheckedAtMs !== was.lastCheckedAtMs) checked++;
    if (domain.state !== was.state) changes.push(() => `${nameOf(domain)} is ${domain.state}.`);
    const certificate = certificateMoved(was.certificate, domain.certificate);
    if (certificate !== null) changes.push(() => `The certificate of ${nameOf(domain)} ${certificate}.`);
  }
  return [
    ...counted(checked, 'domain was checked again', 'domains were checked again'),
    ...changes.slice(0, DOMAINS_LISTED_MAX).map((describe) => describe()),
    ...counted(changes.length - DOMAINS_LISTED_MAX, 'more change of a domain', 'more changes of domains'),
  ];
}

function certificateMoved(was: TimedDomain['certificate'], now: TimedDomain['certificate']): string | null {
  if (wordOf(now) !== wordOf(was)) return CERTIFICATE_WORDS[wordOf(now)];
  return now.state === 'issued' && now.notAfterMs !== was.notAfterMs ? 'was renewed' : null;
}

/** As in the lists: see `certificateWord`. */
const wordOf = ({ state, refusal }: TimedDomain['certificate']): CertificateState | 'refused' =>
  state === 'pending' && refusal !== null ? 'refused' : state;

const CERTIFICATE_WORDS: Record<CertificateState | 'refused', string> = {
  none: 'is gone',
  pending: 'will be requested automatically',
  issued: 'was issued',
  refused: 'is refused',
  failed: 'failed',
  expired: 'has expired',
};

const counted = (count: number, one: string, many: string): string[] =>
  count <= 0 ? [] : [`${count.toLocaleString('en')} ${count === 1 ? one : many}.`];
