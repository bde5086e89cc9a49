/** What came of one row of an examination, or of one test under it, in words; the worst last. */
export const VERDICTS = {
  not_met: 'not met',
  survived: 'survived',
  failed_as_it_should: 'failed as it should',
  hung: 'hung',
  wrong: 'wrong',
} as const;
export type Verdict = keyof typeof VERDICTS;

/** The verdicts that a row expects but does not have: `survived or hung`. */
export const expectedText = (expected: readonly Verdict[] = []): string =>
  expected.map((verdict) => VERDICTS[verdict]).join(' or ');

/** `, 1 not as expected`; empty if no row misses what it expects. */
export function missedText(rows: readonly { expected?: readonly Verdict[] }[]): string {
  const count = rows.filter(({ expected }) => expected !== undefined).length;
  return count === 0 ? '' : `, ${count} not as expected`;
}

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };
const ordinal = (n: number): string => `${n}${SUFFIXES[ORDINALS.select(n)] ?? 'th'}`;

/** Which requests a row strikes, such as `POST /v1/pets, the 1st`; empty for none. */
export function placeOf(placedOn: { method: string | null; path: string | null; ordinal: number } | null): string {
  if (placedOn === null) return '';
  const { method, path, ordinal: n } = placedOn;
  return path === null
    ? n === 1
      ? 'all requests'
      : `all requests from the ${ordinal(n)}`
    : `${method} ${path}, the ${ordinal(n)}`;
}
