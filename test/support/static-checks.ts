/** Formatting, lint, types and dead code: one after the other, the slow ones with a cache of what has not changed since. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

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
    [bin('@typescript/native', 'bin/tsc'), '-p', '.', '--incremental', '--tsBuildInfoFile', cache('types.json')],
  ],
  ['lint', [bin('oxlint', 'bin/oxlint'), '--max-warnings', '0', '--report-unused-disable-directives']],
  ['formatting', [bin('oxfmt', 'bin/oxfmt'), '--check']],
  ['dead code', [bin('knip', 'bin/knip.js')]],
  ['dead code but for tests', [bin('knip', 'bin/knip.js'), '--production']],
  ['preload types', [bin('@typescript/native', 'bin/tsc'), '-p', 'preload']],
];

/**
 * Runs all of them, even after a failure, and prints a line for each.
 * @returns the names of the failed ones.
 */
export async function runStaticChecks(): Promise<string[]> {
  const failed: string[] = [];
  for (const [name, args] of CHECKS) {
    const startedAt = performance.now();
    const { code, output } = await run(args);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    if (code !== 0) failed.push(name);
    process.stderr.write(`${code === 0 ? '' : output}— ${name}: ${code === 0 ? 'passed' : 'FAILED'} (${seconds} s)\n`);
  }
  return failed;
}

function run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      // TypeScript would leave its cache in the temporary folder.
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output: Buffer.concat(pieces).toString() }));
  });
}
