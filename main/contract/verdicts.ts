/** What came of one row of an examination, or of one test under it, in words; the worst last. */
export const VERDICTS = {
  not_met: 'not met',
  survived: 'survived',
  failed_as_it_should: 'failed as it should',
  hung: 'hung',
  wrong: 'wrong',
} as const;
export type Verdict = keyof typeof VERDICTS;
