/**
 * `npm test`: the words that a developer and the build machine say alike. Without arguments: formatting, lint, types,
 * dead code, then all tests. With arguments: those tests only, as in `npm test -- test/unit/base`.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installTools } from './tools.ts';

const root = join(import.meta.dirname, '..', '..');
const bin = (name: string, file: string): string => join(root, 'node_modules', name, file);

const STEPS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['format', [bin('prettier', 'bin/prettier.cjs'), '--check', '--log-level', 'warn', '.']],
  ['lint', [bin('eslint', 'bin/eslint.js'), '--max-warnings', '0', '.']],
  ['types', [bin('typescript', 'bin/tsc'), '-p', '.']],
  ['preload types', [bin('typescript', 'bin/tsc'), '-p', 'preload']],
  [
    'page types',
    [bin('svelte-check', 'bin/svelte-check'), '--tsconfig', 'renderer/tsconfig.json', '--fail-on-warnings'],
  ],
  ['dead code', [bin('knip', 'bin/knip.js')]],
];

const wanted = process.argv.slice(2);

const missing = installTools();
if (missing.length > 0) {
  process.stderr.write(`Missing on this machine, tests that need it fail and say so: ${missing.join(', ')}.\n`);
}

if (wanted.length === 0) for (const [name, args] of STEPS) step(name, args);
step('tests', [bin('vitest', 'vitest.mjs'), 'run', ...wanted]);

function step(name: string, args: readonly string[]): void {
  process.stderr.write(`— ${name}\n`);
  const done = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (done.status !== 0) {
    process.stderr.write(`${name} failed.\n`);
    process.exit(done.status ?? 1);
  }
}
