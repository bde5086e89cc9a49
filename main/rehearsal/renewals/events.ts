import { hash } from 'node:crypto';
import type { EpochMs } from '../../base/clock.ts';
import { DAY_MS, HOUR_MS } from '../../contract/duration.ts';

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
