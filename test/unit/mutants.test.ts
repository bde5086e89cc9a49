import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MUTANTS } from '../mutants/mutants.ts';

const ROOT = join(import.meta.dirname, '..', '..');

it('every mutant’s text occurs once in its file, and its tests exist; otherwise update its list', () => {
  const stale = MUTANTS.filter(
    ({ file, find, replace, tests }) =>
      find === replace ||
      readFileSync(join(ROOT, file), 'utf8').split(find).length !== 2 ||
      tests.some((test) => !existsSync(join(ROOT, test))),
  );
  expect(stale.map(({ file, breaks }) => `${file}: ${breaks}`)).toEqual([]);
});
