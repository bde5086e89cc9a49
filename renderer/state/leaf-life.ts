import { DAY_MS } from '../../main/contract/duration.ts';

/** How long a leaf lives, and how much of that is left when it is renewed: what the bars of a list are drawn to. */
const LEAF_LIFE_MS = 90 * DAY_MS;
const RENEWAL_LEFT_MS = 30 * DAY_MS;

/** What is left of a leaf at a moment of the app's clock, as a bar shows it. */
export interface LeafLife {
  leftMs: number;
  /** Of its whole life, from 0 to 1. */
  share: number;
  /** Where its renewal begins, from 0 to 1. */
  mark: number;
  /** `due`: it should have been renewed by now. */
  level: 'ok' | 'due' | 'expired';
}

/** Beside others, each to the length of the longest life. */
export function lifeInList(notAfter: string, nowMs: number): LeafLife {
  const leftMs = Math.max(0, Date.parse(notAfter) - nowMs);
  return {
    leftMs,
    share: Math.min(1, leftMs / LEAF_LIFE_MS),
    mark: RENEWAL_LEFT_MS / LEAF_LIFE_MS,
    level: levelOf(leftMs, RENEWAL_LEFT_MS),
  };
}

/** By itself, to its own length; without `renewAt` its renewal is due or was refused. */
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
