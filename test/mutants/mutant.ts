/** A rule that is broken on purpose: the text `find`, which `file` contains exactly once, becomes `replace`. */
export interface Mutant {
  file: string;
  /** What a user would see. */
  breaks: string;
  find: string;
  replace: string;
  /** The test files for the rule. They run in the runner's workers; programs that a test starts are not mutated. */
  tests: readonly string[];
}

/** A change as `git diff --word-diff` shows it. */
const CHANGE = /\[-([^]*?)-\]|\{\+([^]*?)\+\}/g;

/** The mutants of a file that the same tests notice (`unit/acme/rates`): by what they break, a word diff each. */
export const mutantsOf = (file: string, tests: readonly string[], broken: Readonly<Record<string, string>>): Mutant[] =>
  Object.entries(broken).map(([breaks, diff]) => ({
    ...{ file, breaks, tests: tests.map((test) => `test/${test}.test.ts`) },
    find: diff.replace(CHANGE, (_change, gone: string = '') => gone),
    replace: diff.replace(CHANGE, (_change, _gone, come: string = '') => come),
  }));
