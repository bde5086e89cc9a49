import type { Reporter, TestCase, TestModule, TestSpecification } from 'vitest/node';

/** How often, in files, a run that is not watched in a terminal says how far it is. */
const FILES_BETWEEN_LINES = 20;

/** Says how many files are left. In a terminal vitest's own summary does so. */
export class ProgressReporter implements Reporter {
  #total = 0;
  #done = 0;

  onTestRunStart(specifications: ReadonlyArray<TestSpecification>): void {
    this.#total = specifications.length;
  }

  onTestModuleEnd(): void {
    this.#done += 1;
    const left = this.#total - this.#done;
    if (process.stdout.isTTY || left === 0 || this.#done % FILES_BETWEEN_LINES !== 0) return;
    process.stdout.write(`  ${left} of ${this.#total} test files are left\n`);
  }
}

const allTests = (modules: readonly TestModule[]): TestCase[] =>
  modules.flatMap((module) => [...module.children.allTests()]);

/** What was skipped. Why is in its title, or in the note of `context.skip(note)`. */
export function skippedLines(modules: readonly TestModule[]): string[] {
  const lines = allTests(modules).flatMap((test) => {
    const result = test.result();
    if (result.state !== 'skipped') return [];
    return [
      `  ${test.module.relativeModuleId}: ${test.fullName}${result.note === undefined ? '' : `: ${result.note}`}`,
    ];
  });
  return lines.length === 0 ? [] : ['Skipped:', ...lines];
}

/** `N passed, N failed, N skipped`, for build machines. A file that could not be run counts as one failure. */
export function closingLine(modules: readonly TestModule[]): string {
  const states = allTests(modules).map((test) => test.result().state);
  const count = (state: string): number => states.filter((one) => one === state).length;
  const broken = modules.filter((module) => module.errors().length > 0).length;
  return `${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped`;
}
