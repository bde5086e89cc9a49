import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { boundConnections, readOpenFilesMax } from '../../../../main/proxy/front/proxy-limits.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

test.each([
  ['Max open files            1024                 524288               files     ', 1024],
  ['Max open files            unlimited            unlimited            files     ', null],
  ['Max processes             1024                 1024                 processes ', null],
])('%s', (line, expected) => {
  const directory = temporaryFolder();
  const file = join(directory, 'limits');
  writeFileSync(file, `Limit                     Soft Limit           Hard Limit           Units     \n${line}\n`);
  expect(readOpenFilesMax(file)).toBe(expected);
});

test('without a value from the system, there is no limit', () => {
  expect(readOpenFilesMax('/no/such/file')).toBeNull();
});

test.each([
  [2048, null, 2048],
  [2048, 524_288, 2048],
  [2048, 1024, 512],
  [2048, 1, 1],
])('of %i wanted connections with %s descriptors, %i are kept', (wanted, files, kept) => {
  expect(boundConnections(wanted, files)).toBe(kept);
});
