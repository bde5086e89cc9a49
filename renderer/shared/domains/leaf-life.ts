import { DAY_MS } from '../../../main/contract/duration.ts';

/** A leaf's lifetime, and the part left at renewal: the scale of the bars in a list. */
const LEAF_LIFE_MS = 90 * DAY_MS;
const RENEWAL_LEFT_MS = 30 * DAY_MS;

/** The remaining life of a leaf at a moment of the app's clock, as a bar. */
export interface LeafLife {
  leftMs: number;
  /** Of the whole lifetime, from 0 to 1. */
  share: number;
  /** The start of renewal, from 0 to 1. */
  mark: number;
  /** `due`: its renewal is overdue. */
  level: 'ok' | 'due' | 'expired';
}

/** For a list: all bars use the standard lifetime as their scale. */
export function lifeInList(notAfter: string, nowMs: number): LeafLife {
  const leftMs = Math.max(0, Date.parse(notAfter) - nowMs);
  return {
    leftMs,
    share: Math.min(1, leftMs / LEAF_LIFE_MS),
    mark: RENEWAL_LEFT_MS / LEAF_LIFE_MS,
    level: levelOf(leftMs, RENEWAL_LEFT_MS),
  };
}

/** For a single leaf, scaled to its own lifetime; without `renewAt` its renewal is due or was refused. */
export function lifeOf(
  { notBefore, notAfter }: { notBefore: string; notAfter: string },
  renewAt: string | undefined,
  nowMs: number,
): LeafLife {
  const untilMs = Date.parse(notAfter);
  const wholeMs = untilMs - Date.parse(notBefore);
  const leftMs = Math.max(0, untilMs - nowMs);
  const renewalLeftMs = renewAt === undefined ? wholeMs / 3 : untilMs - Date.parse(renewAt);
  return {
    leftMs,
    share: Math.min(1, leftMs / wholeMs),
    mark: renewalLeftMs / wholeMs,
    level: levelOf(leftMs, renewAt === undefined ? wholeMs : renewalLeftMs),
  };
}

const levelOf = (leftMs: number, renewalLeftMs: number): LeafLife['level'] =>
  leftMs === 0 ? 'expired' : leftMs <= renewalLeftMs ? 'due' : 'ok';
