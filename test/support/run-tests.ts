/**
 * `npm test` and `npm run test:clients`, the same for developers and the build machine. Without arguments: formatting,
 * lint, types and dead code, and beside them all tests but the project `clients`. With arguments, which are vitest's
 * (`npm test -- test/unit/base -t decide`): those tests only. `--junit FILE` writes a report for build machines.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { runStaticChecks } from './static-checks.ts';
import { closingLine, loopSeconds, ProgressReporter, skippedLines, timeLine } from './test-report.ts';
import { installTools, installVercelCommand } from './tools.ts';

/** What `npm test` runs of `vitest.config.ts`. */
const PROJECTS = ['unit', 'integration', 'e2e'];

const MEMORY = '/dev/shm';
/** Enough for the browser profiles and packages of the workers. */
const ENOUGH_BYTES = 2 * 1024 ** 3;

/** Takes out `--junit FILE`, the short form of vitest's `--reporter=junit --outputFile=FILE`. */
function takeJunit(args: readonly string[]): { junit: string | null; rest: string[] } {
  const rest: string[] = [];
  let junit: string | null = null;
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? '';
    if (word === '--junit') junit = args[(index += 1)] ?? '';
    else if (word.startsWith('--junit=')) junit = word.slice('--junit='.length);
    else rest.push(word);
  }
  return { junit, rest };
}

/** Creates the report's file: a path that cannot be written is refused before the tests, not after them. */
function createReport(file: string): string | Error {
  const path = resolve(process.env.INIT_CWD ?? '.', file);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
  } catch (error) {
    return error as Error;
  }
  return path;
}

function refuse(reason: string): number {
  process.stderr.write(`${reason}\n`);
  return 1;
}

/**
 * Where the tests put their files: in memory on Linux, unless TMPDIR says otherwise, because each of hundreds of
 * engines waits several times until its files are on the disk.
 */
function fastFolder(): string {
  if (process.env.TMPDIR !== undefined || process.platform !== 'linux') return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES && canRunProgramsIn(MEMORY) ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Containers may mount it with `noexec`. */
function canRunProgramsIn(path: string): boolean {
  const folder = mkdtempSync(join(path, 'v-'));
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(folder, { recursive: true });
  return status === 0;
}

async function main(): Promise<number> {
  const { junit, rest } = takeJunit(process.argv.slice(2));
  if (junit === '' || junit?.startsWith('-')) return refuse('--junit needs a file, such as --junit results.xml.');
  const report = junit === null ? null : createReport(junit);
  if (report instanceof Error) return refuse(`--junit: ${report.message}`);
  // vitest treats build machines as terminals and decides when loaded; files and pipes get no colour codes.
  if (process.stdout.isTTY !== true && process.env.FORCE_COLOR === undefined) process.env.NO_COLOR = '1';
  const { parseCLI, startVitest } = await import('vitest/node');
  const { filter, options } = parseCLI(['vitest', 'run', ...rest]);
  const isWhole = rest.length === 0;
  if (rest.some((word) => word.includes('clients'))) installVercelCommand();
  const missing = installTools({ clients: !isWhole });
  if (missing.length > 0) {
    process.stderr.write(`Missing on this machine, tests that need it fail and say so: ${missing.join(', ')}.\n`);
  }
  const loopBefore = loopSeconds();
  const startedAt = performance.now();
  const checks = isWhole ? runStaticChecks() : Promise.resolve([]);
  const vitest = await startVitest('test', filter, {
    ...options,
    ...(isWhole && { project: PROJECTS }),
    watch: false,
    reporters: ['default', new ProgressReporter(), ...(report === null ? [] : ['junit'])],
    ...(report !== null && { outputFile: { junit: report } }),
  });
  const modules = vitest.state.getTestModules();
  const hasFailed = process.exitCode !== undefined && process.exitCode !== 0;
  await vitest.close();
  const failedChecks = await checks;

  // `-t NAME` skips all other tests, which need no mention.
  const skipped = options.testNamePattern === undefined ? skippedLines(modules) : [];
  for (const line of skipped) process.stdout.write(`${line}\n`);
  if (failedChecks.length > 0) process.stdout.write(`Failed besides tests: ${failedChecks.join(', ')}.\n`);
  process.stdout.write(`${timeLine((performance.now() - startedAt) / 1000, [loopBefore, loopSeconds()])}\n`);
  process.stdout.write(`${closingLine(modules)}\n`);
  return hasFailed || failedChecks.length > 0 ? 1 : 0;
}

const folder = mkdtempSync(join(fastFolder(), 'v-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
}
for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder;
// Tests start hundreds of programs: with their code compiled, each takes a quarter less.
process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
// A worker starts a thousand programs, each of which begins with a copy of the worker's page tables: one heap that is
// given back, in large pages, halves that. V8's own memory is not copied.
process.env['GLIBC_TUNABLES'] ??= 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1:glibc.malloc.trim_threshold=4194304';
process.exitCode = await main();
