import type { EpochMs } from '../../base/clock.ts';
import { DAY_MS, HOUR_MS } from '../../contract/duration.ts';
import { hash } from 'node:crypto';

/** The kinds of events, each of which happens once in a year of renewals. */
export type EventKind = 'revocation' | 'outage' | 'caa' | 'authorization';

/** The title and default length of each kind; a revocation has no length. */
export const EVENTS: Readonly<Record<EventKind, { title: string; lengthMs: number }>> = {
  revocation: { title: 'the CA revokes all certificates that are valid', lengthMs: 0 },
  outage: { title: 'the CA answers only with 503', lengthMs: 2 * DAY_MS },
  caa: { title: 'a CAA record permits only another CA', lengthMs: 7 * DAY_MS },
  authorization: { title: 'the authorization is lost, and the name cannot be validated', lengthMs: 7 * DAY_MS },
};

export const EVENT_KINDS = Object.keys(EVENTS) as EventKind[];

export const isEventKind = (text: string): text is EventKind => EVENT_KINDS.some((kind) => kind === text);

export interface YearEvent {
  readonly kind: EventKind;
  readonly fromMs: EpochMs;
  /** Equal to `fromMs` for a revocation. */
  readonly toMs: EpochMs;
  /** The only name affected; all names if undefined. */
  readonly name?: string;
}

export interface Year {
  readonly fromMs: EpochMs;
  readonly toMs: EpochMs;
  readonly events: readonly YearEvent[];
}

/** A pseudorandom number from 0 up to 1 for a seed and a purpose. */
export const draw = (seed: number, what: string): number =>
  hash('sha256', `vivarium renewals ${seed} ${what}`, 'buffer').readUInt32BE() / 2 ** 32;

/**
 * Plans the events of a year, which is divided into one part per event: events that fit into their part do not overlap.
 * @param lengths of events, in milliseconds; null leaves one out.
 */
export function planYear(options: {
  seed: number;
  fromMs: EpochMs;
  days: number;
  names: readonly string[];
  lengths?: Partial<Readonly<Record<EventKind, number | null>>>;
}): Year {
  const { seed, fromMs, days, names, lengths = {} } = options;
  const toMs = fromMs + days * DAY_MS;
  const kinds = EVENT_KINDS.filter((kind) => lengths[kind] !== null).toSorted(
    (one, other) => draw(seed, `order ${one}`) - draw(seed, `order ${other}`),
  );
  const partMs = (toMs - fromMs) / Math.max(1, kinds.length);
  const events = kinds.map((kind, index): YearEvent => {
    const lengthMs = lengths[kind] ?? EVENTS[kind].lengthMs;
    const roomMs = Math.max(0, partMs - lengthMs);
    const atMs = fromMs + index * partMs + draw(seed, `moment ${kind}`) * roomMs;
    const startMs = Math.floor(atMs / HOUR_MS) * HOUR_MS;
    const lost = kind === 'authorization' ? names[Math.floor(draw(seed, 'name') * names.length)] : undefined;
    return {
      kind,
      fromMs: Math.max(fromMs, startMs),
      toMs: Math.min(toMs, Math.max(fromMs, startMs) + lengthMs),
      ...(lost !== undefined && { name: lost }),
    };
  });
  return { fromMs, toMs, events };
}

/** The event of a kind at a given time. */
export const eventAt = (year: Year, kind: EventKind, atMs: EpochMs, names: readonly string[]): YearEvent | undefined =>
  year.events.find(
    (event) =>
      event.kind === kind &&
      event.fromMs <= atMs &&
      atMs < event.toMs &&
      (event.name === undefined || names.includes(event.name)),
  );

/** A certificate that a client obtained. Times are on the app's clock. */
export interface Held {
  readonly fromMs: EpochMs;
  readonly untilMs: EpochMs;
  readonly revokedAtMs: EpochMs | null;
}

/** An order of a client, after the first. */
export interface Attempt {
  readonly atMs: EpochMs;
  /** The event that made the order fail; `other` for another reason, null if it succeeded. */
  readonly failure: EventKind | 'other' | null;
  /** The CA's problem, if it answered with one. */
  readonly problem: string | null;
}

/** The course of one certificate over a year. */
export interface Course {
  /** The policy, or the command. */
  readonly client: string;
  readonly about: string;
  readonly names: readonly string[];
  /** In issue order; a client uses the last. */
  readonly held: readonly Held[];
  readonly attempts: readonly Attempt[];
}

/** A period without a valid certificate. */
export interface Dark {
  readonly fromMs: EpochMs;
  readonly toMs: EpochMs;
  /** In sentences. */
  readonly why: string;
  readonly remedy: string;
}

/** The periods in which the names of a course had no valid certificate, and why. */
export function darkOf({ held, attempts }: Course, { toMs }: Pick<Year, 'toMs'>): Dark[] {
  return held.flatMap((each, index): Dark[] => {
    const endMs = Math.min(each.untilMs, each.revokedAtMs ?? Infinity);
    const nextMs = held[index + 1]?.fromMs ?? toMs;
    if (endMs >= nextMs) return [];
    const failed = attempts.filter(({ atMs, failure }) => failure !== null && atMs > each.fromMs && atMs < nextMs);
    const before = failed.filter(({ atMs }) => atMs <= endMs);
    const isRevoked = each.revokedAtMs !== null && each.revokedAtMs < each.untilMs;
    return [
      {
        fromMs: endMs,
        toMs: nextMs,
        ...causeOf(isRevoked, (before.length > 0 ? before : failed).at(-1), before.length),
      },
    ];
  });
}

function causeOf(isRevoked: boolean, failed: Attempt | undefined, before: number): Pick<Dark, 'why' | 'remedy'> {
  if (failed?.failure !== undefined && failed.failure !== null) {
    const count =
      before === 0
        ? 'The renewal was late, and failed'
        : `${before === 1 ? 'A renewal' : `${before.toLocaleString('en')} renewals`} failed`;
    const ended = isRevoked ? 'The certificate was revoked.' : 'The certificate expired.';
    const said = failed.problem === null ? '' : ` ${failed.problem}`;
    return {
      why: `${ended} ${count}: ${FAILURES[failed.failure].why}${said}`,
      remedy: FAILURES[failed.failure].remedy,
    };
  }
  if (isRevoked) {
    return {
      why: 'The CA revoked the certificate, and the client renewed it only at the end of this period.',
      remedy: 'With a client that asks for renewal information (RFC 9773) every 6 h, names are dark for at most 6 h.',
    };
  }
  return {
    why: 'The certificate expired before the client tried to renew it.',
    remedy: 'Renew when a third of the lifetime is left, or by renewal information (RFC 9773).',
  };
}

const FAILURES: Readonly<Record<EventKind | 'other', { why: string; remedy: string }>> = {
  revocation: { why: 'the CA had revoked it.', remedy: 'Ask for renewal information (RFC 9773).' },
  outage: { why: 'the CA was down.', remedy: 'Renew earlier and retry daily, or configure a second CA.' },
  caa: {
    why: 'a CAA record forbade it.',
    remedy: 'Add the CA to the CAA record, and monitor failed renewals: there was time to fix it.',
  },
  authorization: {
    why: 'the name could not be validated.',
    remedy: 'Fix the record or the port that the validation uses, and monitor failed renewals.',
  },
  other: { why: 'the CA refused it.', remedy: 'Fix the problem that the CA reports.' },
};

/** Revokes the certificates that are valid at a given time. */
export function revokeAt(held: Held[], atMs: EpochMs): void {
  for (const [index, each] of held.entries()) {
    if (each.fromMs < atMs && atMs < each.untilMs) held[index] = { ...each, revokedAtMs: atMs };
  }
}

/** Formats a duration in one unit: `15 days`, `6 h`. */
export function spanOf(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.round(ms / DAY_MS).toLocaleString('en')} days`;
  const hours = Math.max(1, Math.round(ms / HOUR_MS));
  return `${hours} h`;
}
