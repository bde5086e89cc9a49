import type { RunningBreak } from './breaks.ts';

const firstText = (count: number): string => (count === 1 ? 'the first' : `the first ${count.toLocaleString('en')}`);

/** How much a rule breaks of what it selects: `all`, or `the first 2 of 10 % of 1 in 3 of all but the first 5`. */
export function shareText({ first, after, nth, rate }: Pick<RunningBreak, 'first' | 'after' | 'nth' | 'rate'>): string {
  const parts = [
    first !== undefined && firstText(first),
    rate < 1 && `${Number((rate * 100).toFixed(4))} %`,
    nth > 1 && `1 in ${nth.toLocaleString('en')}`,
    after > 0 && `all but ${firstText(after)}`,
  ];
  return parts.filter((part) => part !== false).join(' of ') || 'all';
}
