import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../../support/cli-io.ts';
import { startEngine } from '../../support/engine.ts';
import { execute as run } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

const guide = readFileSync(join(ROOT, 'docs', 'use-it-in-tests.md'), 'utf8');

it('the guide begins with lines for a new engine: the first two fail, manners, and examine', async () => {
  const [, block = ''] = /^```text\n([^]*?)^```/m.exec(guide) ?? [];
  const [start = [], first = [], second = [], third = []] = block
    .trim()
    .split('\n')
    .map((line) => [...line.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", '')).slice(1));
  const engine = await startEngine();
  expect(start).toEqual(['start', '-d']);
  expect(await runHere([...first, '--data-dir', engine.dataDir])).toMatchObject({ code: 0 });
  const answers = [];
  for (let request = 0; request < 3; request++)
    answers.push(await engine.api({ host: 'demo.vivarium.localhost', path: '/v1/openapi.json' }));
  expect(answers.map(({ status, headers }) => [status, headers['retry-after']])).toEqual([
    ...[503, 503].map((status) => [status, '1']),
    [200, undefined],
  ]);
  // Three requests show too little for a grade.
  expect(await runHere([...second, '--data-dir', engine.dataDir])).toMatchObject({ code: 2 });
  expect(third).toEqual(['examine', '--', 'npm', 'test']);
});

it('the first sample of the guide runs as it stands', async () => {
  const [, sample = ''] = /^```js\n([^]*?)^```/m.exec(guide) ?? [];
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules', 'vivarium'));
  writeFileSync(join(folder, 'faults.test.mjs'), sample);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout: said } = await run(process.execPath, ['--test', '--test-reporter=tap'], { cwd: folder, env });
  expect(said).toMatch(/# pass 2\n# fail 0/);
});
