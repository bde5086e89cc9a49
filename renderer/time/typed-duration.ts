import { parseDuration } from '../../main/contract/duration.ts';

export const DURATION_UNITS = [
  { value: 'S', label: 'seconds', lengthMs: 1_000 },
  { value: 'M', label: 'minutes', lengthMs: 60_000 },
  { value: 'H', label: 'hours', lengthMs: 3_600_000 },
  { value: 'D', label: 'days', lengthMs: 86_400_000 },
] as const;

export type DurationUnit = (typeof DURATION_UNITS)[number]['value'];

/** A duration as it is typed: an amount, which may be anything, and its unit. */
export interface TypedDuration {
  amount: string;
  unit: DurationUnit;
}

const SINGLE = /^P(?:T(.*)([SMH])|(.*)(D))$/;
const PARTS = /\d[A-Z]+\d/;

/**
 * An ISO 8601 duration as amount and unit: `PT10M` is 10 minutes. One of several parts is said in the largest unit that
 * holds it whole, `PT1H30M` in minutes. What was typed and is no duration comes back as it was typed.
 */
export function splitDuration(text: string): TypedDuration {
  const [, timeAmount, timeUnit, days, dayUnit] = SINGLE.exec(text) ?? [];
  const amount = timeAmount ?? days;
  if (amount !== undefined && !PARTS.test(text)) return { amount, unit: (timeUnit ?? dayUnit) as DurationUnit };
  try {
    const ms = parseDuration(text);
    const unit = DURATION_UNITS.findLast(({ lengthMs }) => ms % lengthMs === 0) ?? DURATION_UNITS[0];
    return { amount: String(ms / unit.lengthMs), unit: unit.value };
  } catch {
    return { amount: text, unit: 'S' };
  }
}

/** The ISO 8601 form of what was typed; nothing typed is the empty text. The engine judges whether it is a duration. */
export function joinDuration({ amount, unit }: TypedDuration): string {
  const trimmed = amount.trim();
  if (trimmed === '') return '';
  return unit === 'D' ? `P${trimmed}D` : `PT${trimmed}${unit}`;
}

/** Whether two ISO 8601 durations are equally long; texts that are none are compared as they are. */
export function sameDuration(one: string, other: string): boolean {
  try {
    return parseDuration(one) === parseDuration(other);
  } catch {
    return one === other;
  }
}
