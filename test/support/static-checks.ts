/**
 * Formatting, lint, types and dead code: one after the other. A check that has passed is not repeated until a file
 * changes; then the slow ones have a cache of the other files.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const bin = (name: string, file: string): string => join(root, 'node_modules', name, file);
const cache = (name: string): string => join(root, 'node_modules', '.cache', 'vivarium', name);

/** The longest first, to leave short ones for the end of the tests. */
const CHECKS: readonly (readonly [name: string, args: readonly string[]])[] = [
  [
    'lint of components',
    [
      bin('eslint', 'bin/eslint.js'),
      ...[
        '--max-warnings',
        '0',
        '--cache',
        '--cache-strategy',
        'content',
        '--cache-location',
        cache('eslint.json'),
        '.',
      ],
    ],
  ],
  [
    'page types',
    [
      bin('svelte-check', 'bin/svelte-check'),
      // TypeScript 7, in half the time.
      ...['--tsconfig', 'renderer/tsconfig.json', '--fail-on-warnings', '--tsgo-experimental-api'],
    ],
  ],
  [
    'types',
    [
      bin('@typescript/native', 'bin/tsc'),
      ...['-p', '.', '--singleThreaded', '--incremental', '--tsBuildInfoFile', cache('types.json')],
    ],
  ],
  ['lint', [bin('oxlint', 'bin/oxlint'), '--max-warnings', '0', '--report-unused-disable-directives']],
  ['formatting', [bin('oxfmt', 'bin/oxfmt'), '--check']],
  ['dead code', [bin('knip', 'bin/knip.js')]],
  ['dead code but for tests', [bin('knip', 'bin/knip.js'), '--production']],
  ['preload types', [bin('@typescript/native', 'bin/tsc'), '-p', 'preload']],
];

/** The inputs with which each check has passed. */
const PASSED = cache('passed.json');
/** Generated from the rest, and Git's own. Installed packages are those of the lock file. */
const NO_INPUTS: readonly string[] = ['.git', 'coverage', 'dist', 'node_modules', 'out'];

/**
 * Runs the checks that have not passed with these inputs, even after a failure, and prints a line for each. @returns
 * the names of the failed ones.
 */
export async function runStaticChecks(): Promise<string[]> {
  const failed: string[] = [];
  const passed = readPassed();
  const inputs = hashInputs();
  for (const [name, args] of CHECKS) {
    if (passed[name] === inputs) {
      process.stderr.write(`— ${name}: passed before, and no file has changed\n`);
      continue;
    }
    const startedAt = performance.now();
    const { code, output } = await run(args);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    if (code === 0) passed[name] = inputs;
    else failed.push(name);
    process.stderr.write(`${code === 0 ? '' : output}— ${name}: ${code === 0 ? 'passed' : 'FAILED'} (${seconds} s)\n`);
  }
  // A file edited meanwhile may have been read before or after.
  if (hashInputs() === inputs) {
    mkdirSync(dirname(PASSED), { recursive: true });
    writeFileSync(PASSED, JSON.stringify(passed));
  }
  return failed;
}

/** The hash of all names and contents. */
function hashInputs(): string {
  const hash = createHash('sha256').update(process.version);
  const entries = readdirSync(root).filter((name) => !NO_INPUTS.includes(name));
  const paths = entries.flatMap((name) => filesIn(join(root, name)));
  for (const path of paths.toSorted()) hash.update(`\0${path}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

/** The file itself, or all below the folder. */
function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

function readPassed(): Record<string, string> {
  try {
    return JSON.parse(readFileSync(PASSED, 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}

function run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    // With room for garbage, and without threads that collect it, ESLint needs a seventh less CPU time.
    const child = spawn(process.execPath, ['--max-semi-space-size=128', '--single-threaded-gc', ...args], {
      cwd: root,
      // Otherwise TypeScript would leave its cache in the temporary folder. The programs in Go share the processors with
      // the tests: with one thread and a lazy collector they need two thirds of the CPU time.
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1', GOMAXPROCS: '1', GOGC: '400' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output: Buffer.concat(pieces).toString() }));
  });
}
