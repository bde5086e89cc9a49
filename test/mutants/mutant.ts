/** A rule that is broken on purpose: the text `find`, which is in `file` exactly once, becomes `replace`. */
export interface Mutant {
  /** The rule's part and what goes wrong with it: `limits.tie-goes-to-the-day`. */
  id: string;
  file: string;
  find: string;
  replace: string;
  /** What a user would see. */
  breaks: string;
  /** The test files that state the rule. They run in the runner's own workers: a program that a test starts is not broken. */
  tests: readonly string[];
}
