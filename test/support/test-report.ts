import type { Reporter, TestCase, TestModule, TestSpecification } from 'vitest/node';

/** After how many files a run outside a terminal reports its progress. */
const FILES_BETWEEN_LINES = 20;

/** Reports how many files remain. In a terminal vitest's own summary does so. */
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

/** The skipped tests. The reason is in the title, or in the note of `context.skip(note)`. */
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

const LOOP_ROUNDS = 100_000_000;

/** How long this machine needs for a fixed loop at the moment; of integers only, which V8 compiles in only one way. */
export function loopSeconds(): number {
  const startedAt = performance.now();
  let number = 1;
  for (let round = 0; round < LOOP_ROUNDS; round += 1) number = Math.imul(number, 1_664_525) ^ round;
  if (number === 0) throw new Error('The loop ran another course.');
  return (performance.now() - startedAt) / 1000;
}

/** The time of the tests, and that of a fixed loop before and after them, to compare the figures of two machines. */
export function timeLine(seconds: number, loops: readonly number[]): string {
  const [before = '', after = ''] = loops.map((loop) => loop.toFixed(2));
  return `${seconds.toFixed(0)} s; a fixed loop took ${before} s before and ${after} s after the tests`;
}
