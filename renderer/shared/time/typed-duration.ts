import { orElse } from '../../../main/contract/errors.ts';
import { parseDuration } from '../../../main/contract/duration.ts';

export const DURATION_UNITS = [
  { value: 'S', label: 'seconds', lengthMs: 1_000 },
  { value: 'M', label: 'minutes', lengthMs: 60_000 },
  { value: 'H', label: 'hours', lengthMs: 3_600_000 },
  { value: 'D', label: 'days', lengthMs: 86_400_000 },
] as const;

export type DurationUnit = (typeof DURATION_UNITS)[number]['value'];

/** A duration as typed: an amount, which may be any text, and its unit. */
export interface TypedDuration {
  amount: string;
  unit: DurationUnit;
}

const SINGLE = /^P(?:T(.*)([SMH])|(.*)(D))$/;
const PARTS = /\d[A-Z]+\d/;

/**
 * An ISO 8601 duration as amount and unit: `PT10M` is 10 minutes. Several parts become the largest unit that holds them
 * exactly: `PT1H30M` is 90 minutes. Invalid text is returned as the amount.
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

/** The ISO 8601 form of a typed duration; empty for an empty amount. The engine validates the amount. */
export function joinDuration({ amount, unit }: TypedDuration): string {
  const trimmed = amount.trim();
  if (trimmed === '') return '';
  return unit === 'D' ? `P${trimmed}D` : `PT${trimmed}${unit}`;
}

/** Whether two ISO 8601 durations are equal; invalid texts are compared as strings. */
export const sameDuration = (one: string, other: string): boolean =>
  orElse(() => parseDuration(one) === parseDuration(other), one === other);
