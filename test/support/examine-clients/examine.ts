import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Examination } from '../../../main/contract/examine.ts';
import { sampleSuite } from '../examine/kept-examination.ts';
import { type Finished, finished, startCli } from '../rpc/rpc-cli.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const WORLD = `vivarium: 1
projects:
  shop: { plan: pro, pets: 40, keys: [ci] }
examine:
  own:
    - { break: api.unavailable, parameters: { seconds: 1 }, first: 2, on: { method: POST }, expect: survived }
    - { row: sunset, break: api.sunset, expect: survived }
    - { row: elsewhere, break: api.unavailable, on: { path: /none } }
`;

/** A folder with a suite and its world. */
export const sample = (suite?: string): string => sampleSuite(WORLD, suite);

const SUITE = ['--', process.execPath, '--test'];

/** Runs `vivarium examine` there, which must leave nothing in its folder for temporary files. */
export async function examine(
  words: readonly string[],
  env: Record<string, string> = {},
  command = SUITE,
  folder = sample(),
): Promise<Finished & { folder: string }> {
  const temporary = temporaryFolder();
  const own = { TMPDIR: temporary, VIVARIUM_DATA_DIR: join(folder, 'none') };
  const ended = await finished(startCli(['examine', ...words, ...command], { ...own, ...env }, folder));
  expect(readdirSync(temporary), ended.stderr).toEqual([]);
  return { ...ended, folder };
}

/** The verdicts of each row, and of its tests. */
export const verdictsOf = (stdout: string) =>
  (JSON.parse(stdout) as Examination).rows.map(({ row, verdict, tests }) => [
    row,
    verdict,
    ...tests.map((each) => each.verdict),
  ]);
