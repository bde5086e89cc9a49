import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../support/tarball.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

it('the first sample of the guide runs as it stands', async () => {
  const guide = readFileSync(join(ROOT, 'docs', 'use-it-in-tests.md'), 'utf8');
  const [, sample = ''] = /^```js\n([^]*?)^```/m.exec(guide) ?? [];
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules', 'vivarium'));
  writeFileSync(join(folder, 'faults.test.mjs'), sample);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout: said } = await run(process.execPath, ['--test', '--test-reporter=tap'], { cwd: folder, env });
  expect(said).toMatch(/# pass 2\n# fail 0/);
});
