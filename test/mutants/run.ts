/**
 * `npm run mutants [ID …]`: breaks one rule after the other in a copy of the sources, and runs the tests that state it. A mutant
 * that no test notices survives, and fails the run. See README.md beside this file.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mutant, MUTANTS } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');

/** What tests need of the project; `node_modules` is linked. */
const COPIED = [
  ...['main', 'preload', 'renderer', 'resources', 'test'],
  ...['package.json', 'tsconfig.json', 'vitest.config.ts', 'vite.renderer.config.ts'],
];

/** Longer than the slowest of the named tests takes; a mutant that loops for ever is noticed. */
const RUN_MS_MAX = 120_000;

type Verdict = 'killed' | 'survived' | 'invalid';

/** The sources with the mutant's change. @throws Error when the text that it replaces is not there exactly once. */
function mutate(source: string, { id, find, replace }: Mutant): string {
  const count = source.split(find).length - 1;
  if (count !== 1) throw new Error(`${id}: "${find}" is there ${count} times, not once; bring the mutant up to date.`);
  return source.replace(find, () => replace);
}

interface TestRun {
  passed: number;
  failed: number;
  /** The first failure, for people. */
  first: string;
}

/** Runs test files in the copy; a file that could not even be loaded counts neither as passed nor as failed. */
async function runTests(folder: string, tests: readonly string[]): Promise<TestRun> {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const args = ['run', ...tests, '--bail=1', '--reporter=json', `--outputFile=${report}`];
  const child = spawn(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), ...args], {
    cwd: folder,
    stdio: 'ignore',
    timeout: RUN_MS_MAX,
    killSignal: 'SIGKILL',
  });
  const signal = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (_code, by) => resolve(by));
  });
  if (signal !== null) return { passed: 0, failed: 1, first: `not done after ${RUN_MS_MAX / 1000} s` };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    numPassedTests: number;
    numFailedTests: number;
    testResults: { assertionResults: { status: string; fullName: string }[] }[];
  };
  const failures = testResults.flatMap((file) => file.assertionResults).filter(({ status }) => status === 'failed');
  return { passed: numPassedTests, failed: numFailedTests, first: failures[0]?.fullName ?? '' };
}

async function judge(folder: string, mutant: Mutant): Promise<{ verdict: Verdict; by: string }> {
  const path = join(folder, mutant.file);
  const source = readFileSync(path, 'utf8');
  try {
    writeFileSync(path, mutate(source, mutant));
    const { passed, failed, first } = await runTests(folder, mutant.tests);
    if (failed > 0) return { verdict: 'killed', by: first };
    return passed > 0 ? { verdict: 'survived', by: '' } : { verdict: 'invalid', by: 'its tests could not be loaded' };
  } catch (error) {
    return { verdict: 'invalid', by: error instanceof Error ? error.message : String(error) };
  } finally {
    writeFileSync(path, source);
  }
}

async function main(wanted: readonly string[]): Promise<number> {
  const unknown = wanted.filter((id) => !MUTANTS.some((mutant) => mutant.id === id));
  if (unknown.length > 0) {
    console.error(`No mutant is called ${unknown.join(', ')}; test/mutants/mutants.ts lists them.`);
    return 2;
  }
  const chosen = MUTANTS.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
  const folder = mkdtempSync(join(tmpdir(), 'vivarium-mutants-'));
  try {
    for (const name of COPIED) cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const before = await runTests(folder, [...new Set(chosen.flatMap(({ tests }) => tests))]);
    if (before.failed > 0 || before.passed === 0) {
      console.error(`The tests fail without a mutant: ${before.first}`);
      return 2;
    }
    const counts: Record<Verdict, number> = { killed: 0, survived: 0, invalid: 0 };
    for (const mutant of chosen) {
      const { verdict, by } = await judge(folder, mutant);
      counts[verdict] += 1;
      console.log(`${verdict.padEnd(8)} ${mutant.id}: ${mutant.breaks}${by === '' ? '' : ` (${by})`}`);
    }
    console.log(`${counts.killed} killed, ${counts.survived} survived, ${counts.invalid} invalid`);
    return counts.survived + counts.invalid > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
