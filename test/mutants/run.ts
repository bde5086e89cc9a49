/**
 * `npm run mutants [TEXT …]`: breaks one rule after the other, and runs the tests that state it. No file is changed:
 * Vite passes the broken text to the tests. A mutant that no test notices survives, and fails the run. See README.md in
 * this folder.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest, type TestModule, type Vitest } from 'vitest/node';
import config from '../../vitest.config.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');

/** Longer than the slowest of the named tests takes, so that a mutant that loops for ever is noticed. */
const RUN_MS_MAX = 120_000;

/** What the tests receive instead of a file's own text. */
let broken: { path: string; source: string } | null = null;

/** One Vitest for many runs: starting it takes longer than most of the tests. */
function start(): Promise<Vitest> {
  const plugin = {
    name: 'mutant',
    enforce: 'pre' as const,
    transform: (_code: string, id: string) => (broken?.path === id ? broken.source : null),
  };
  return createVitest(
    { root, config: false, watch: false, reporters: [{}] },
    {
      plugins: [...(config.plugins ?? []), plugin],
      test: {
        ...config.test,
        projects: undefined,
        include: ['test/{unit,integration}/**/*.test.ts'],
        // Otherwise it would serve the previous text.
        fsModuleCache: false,
      },
    },
  );
}

interface TestRun {
  passed: number;
  /** Full names of the failed tests. */
  failed: string[];
}

/** A file that could not be loaded counts neither as passed nor as failed. */
function summarize(modules: readonly TestModule[]): TestRun {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (wanted: string) => tests.filter((test) => test.result().state === wanted);
  return { passed: inState('passed').length, failed: inState('failed').map(({ fullName }) => fullName) };
}

async function runTests(vitest: Vitest, tests: readonly string[]): Promise<TestRun> {
  const specifications = await vitest.globTestSpecifications([...tests]);
  const { testModules } = await vitest.runTestSpecifications(specifications);
  // The results include other files of earlier runs.
  const asked = new Set(specifications.map(({ moduleId }) => moduleId));
  return summarize(testModules.filter(({ moduleId }) => asked.has(moduleId)));
}

const nameOf = ({ file, breaks }: Mutant): string => `${file}: ${breaks}`;

type Verdict = 'killed' | 'survived' | 'invalid' | 'endless';

/** Breaks one rule for as long as its tests run. */
async function judge(vitest: Vitest, mutant: Mutant): Promise<{ verdict: Verdict; by: string }> {
  const path = join(root, mutant.file);
  const source = readFileSync(path, 'utf8');
  const count = source.split(mutant.find).length - 1;
  if (count !== 1) {
    return { verdict: 'invalid', by: `its text is there ${count} times, not once; bring it up to date` };
  }
  broken = { path, source: source.replace(mutant.find, () => mutant.replace) };
  vitest.invalidateFile(path);
  let timer: NodeJS.Timeout | undefined;
  const endless = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), RUN_MS_MAX)));
  const run = await Promise.race([runTests(vitest, mutant.tests), endless]);
  clearTimeout(timer);
  broken = null;
  vitest.invalidateFile(path);
  if (run === null) return { verdict: 'endless', by: `not done after ${RUN_MS_MAX / 1000} s` };
  const [first] = run.failed;
  if (first !== undefined) return { verdict: 'killed', by: first };
  return run.passed > 0 ? { verdict: 'survived', by: '' } : { verdict: 'invalid', by: 'its tests could not be loaded' };
}

async function main(wanted: readonly string[]): Promise<number> {
  const has = (mutant: Mutant, text: string): boolean => nameOf(mutant).includes(text);
  const unknown = wanted.filter((text) => !MUTANTS.some((mutant) => has(mutant, text)));
  if (unknown.length > 0) {
    console.error(`No mutant has ${unknown.join(', ')} in its file or sentence; test/mutants/list lists them.`);
    return 2;
  }
  const chosen = MUTANTS.filter((mutant) => wanted.length === 0 || wanted.some((text) => has(mutant, text)));
  let vitest = await start();
  const before = await runTests(vitest, [...new Set(chosen.flatMap(({ tests }) => tests))]);
  if (before.failed.length > 0 || before.passed === 0) {
    console.error(`The tests fail without a mutant: ${before.failed[0] ?? 'none could be loaded'}`);
    return 2;
  }
  const counts: Record<Verdict, number> = { killed: 0, survived: 0, invalid: 0, endless: 0 };
  for (const mutant of chosen) {
    const { verdict, by } = await judge(vitest, mutant);
    counts[verdict] += 1;
    console.log(`${verdict.padEnd(8)} ${nameOf(mutant)}${by === '' ? '' : ` (${by})`}`);
    // Its worker cannot be stopped any more; it ends with this process.
    if (verdict === 'endless') vitest = await start();
  }
  console.log(`${counts.killed + counts.endless} killed, ${counts.survived} survived, ${counts.invalid} invalid`);
  return counts.survived + counts.invalid > 0 ? 1 : 0;
}

process.exit(await main(process.argv.slice(2)));
