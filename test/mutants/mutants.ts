/** A rule that is broken on purpose: the text `find`, which is in `file` exactly once, becomes `replace`. */
export interface Mutant {
  /** The rule's part and what goes wrong with it: `limits.tie-goes-to-the-day`. */
  id: string;
  file: string;
  find: string;
  replace: string;
  /** What a user would see. */
  breaks: string;
  /** The test files that state the rule. */
  tests: readonly string[];
}

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'limits.strikes-outlive-their-window',
    file: 'main/model/rate-decision.ts',
    find: 'strikesUntilMs !== null && (strikesUntilMs <= nowMs || strikesUntilMs > nowMs + DAY_MS)',
    replace: 'strikesUntilMs !== null && strikesUntilMs > nowMs + DAY_MS',
    breaks: 'usage shows strikes of a window that has ended',
    tests: ['test/unit/model/rate-decision.test.ts'],
  },
];
