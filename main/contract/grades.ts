/** Grades of API clients and verdicts on test suites, in words. Without schemas, because the page uses them too. */

/** The rules, in order: what each is called, and what an API client has to do. */
export const MANNERS = {
  'waits-for-retry-after': ['Waits for Retry-After', 'Repeats a request no earlier than the answer said.'],
  'backs-off': ['Waits longer each time', 'Without Retry-After, each wait is at least 1.5 × the last, in the median.'],
  spreads: [
    'Does not return in a crowd',
    'Of eight or more that were refused together, most do not come back at the same moment.',
  ],
  'gives-up': ['Gives up', 'Repeats a request at most five times.'],
  'stops-when-refused': ['Stops when refused', 'After 401, 403 or a ban, tries at most once more within a minute.'],
  'reads-remaining': [
    'Stops once its quota is used',
    'After X-RateLimit-Remaining: 0, sends at most one more request before the reset.',
  ],
  'no-blind-repeat': [
    'No blind repeat of writes',
    'Repeats POST and PATCH after a failure only with the same Idempotency-Key.',
  ],
  'follows-links': [
    'Follows next-page links',
    'Takes the address of the next page from the Link header, instead of making it itself.',
  ],
  'reuses-connections': ['Reuses connections', 'Sends at least two requests over a connection that stays open.'],
  'has-a-timeout': ['Has a time limit', 'Ends a request that gets no answer, within a minute.'],
  'names-itself': ['Names itself', 'Sends a User-Agent of its own, not that of its library.'],
  'heeds-deprecation': ['Stops calling what has ended', 'After the moment in Sunset, no longer calls that operation.'],
} as const satisfies Record<string, readonly [title: string, sentence: string]>;

export type MannersRule = keyof typeof MANNERS;
export const MANNERS_RULES = Object.keys(MANNERS) as MannersRule[];

export const GRADES = ['A', 'B', 'C', 'D', 'F'] as const;
export type Grade = (typeof GRADES)[number];

/** Fewer seen rules give no grade. */
export const SEEN_RULES_MIN = 5;

/** Maximum entries named for one rule: as many as a filter of Traffic can have. */
export const EVIDENCE_MAX = 40;

/** Maximum callers in one answer, those with the most requests. */
export const GRADED_MAX = 100;

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
