/** A rule that is broken on purpose: the text `find`, which `file` contains exactly once, becomes `replace`. */
export interface Mutant {
  /** The rule's area and what goes wrong: `limits.tie-goes-to-the-day`. */
  id: string;
  file: string;
  find: string;
  replace: string;
  /** What a user would see. */
  breaks: string;
  /** The test files for the rule. They run in the runner's workers; programs that a test starts are not mutated. */
  tests: readonly string[];
}

/** The mutants of one file that the same tests notice, by their ids. */
export const mutantsOf = (
  file: string,
  tests: readonly string[],
  broken: Readonly<Record<string, Pick<Mutant, 'find' | 'replace' | 'breaks'>>>,
): Mutant[] => Object.entries(broken).map(([id, rule]) => ({ id, file, tests, ...rule }));
