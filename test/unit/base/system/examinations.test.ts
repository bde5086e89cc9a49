import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  EXAMINATIONS_MAX,
  openExaminations,
  REQUESTS_BYTES_MAX,
  REQUESTS_MAX,
  TESTS_MAX,
} from '../../../../main/base/system/examinations.ts';
import type { RowVerdict } from '../../../../main/contract/examine.ts';
import { makeExamination, makeRow } from '../../../support/examine/kept-examination.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const idOf = (second: number): string => `202611281030${String(second).padStart(2, '0')}000-7`;

const report = makeExamination;
const row = (tests: RowVerdict['tests']): RowVerdict => makeRow('503-once', 'survived', tests);

function keep(second: number) {
  const dataDir = temporaryFolder();
  const kept = openExaminations(dataDir);
  kept.begin(idOf(second));
  kept.write(report(idOf(second)));
  return { kept, dataDir, folder: join(dataDir, 'examinations') };
}

it('keeps the last five, newest first, for their owner only', () => {
  const { kept, folder } = keep(1);
  for (let second = 2; second <= 8; second++) {
    kept.begin(idOf(second));
    kept.write(report(idOf(second)));
  }
  expect(kept.list().map(({ id }) => id)).toEqual([8, 7, 6, 5, 4].map(idOf));
  expect(readdirSync(folder)).toHaveLength(EXAMINATIONS_MAX);
  const modes = [join(folder, idOf(8)), join(folder, idOf(8), 'report.json')].map((path) => statSync(path).mode & 0o77);
  expect(modes).toEqual([0, 0]);
});

it('replaces a report whole: no part of a file is ever read', () => {
  const { kept, folder } = keep(1);
  const inode = () => statSync(join(folder, idOf(1), 'report.json')).ino;
  const before = inode();
  kept.write(report(idOf(1), [row([])]));
  expect(kept.read(idOf(1))?.rows).toHaveLength(1);
  expect(inode()).not.toBe(before);
  expect(readdirSync(join(folder, idOf(1)))).toEqual(['report.json']);
});

it('keeps at most 200 tests of a row, without those that survived', () => {
  const { kept } = keep(1);
  const tests = Array.from({ length: 300 }, (_, index) => ({ name: `test ${index}`, verdict: 'survived' as const }));
  kept.write(report(idOf(1), [row([...tests, { name: 'the last', verdict: 'wrong', message: '42 !== 41' }])]));
  const [found] = kept.read(idOf(1))?.rows ?? [];
  expect([found?.tests.length, found?.tests[0]]).toMatchObject([TESTS_MAX, { name: 'the last' }]);
});

it('keeps the requests that a fault struck, and as many others as there is room for', () => {
  const { kept } = keep(1);
  const entriesOf = (run: number) =>
    (JSON.parse(kept.requests(idOf(1), run) ?? '') as { log: { entries: { n: number }[] } }).log.entries;
  const entries = Array.from({ length: 3_000 }, (_, n) => ({ n, ...(n === 5 && { _fault: { entry: 'api.sunset' } }) }));
  kept.writeRequests(idOf(1), 1, { entries });
  expect([entriesOf(1).length, entriesOf(1)[0]?.n, entriesOf(1).at(-1)?.n]).toEqual([REQUESTS_MAX, 5, 2_999]);
  const text = 'x'.repeat(REQUESTS_BYTES_MAX / 3);
  kept.writeRequests(idOf(1), 2, { entries: entries.slice(0, 9).map((entry) => ({ ...entry, text })) });
  expect(entriesOf(2).map(({ n }) => n)).toEqual([5, 8]);
  expect(kept.requests(idOf(1), 3)).toBeNull();
});

it.each([
  ['no JSON', '{'],
  ['another shape', '{"id":"20261128103001000-7"}'],
  ['another verdict', JSON.stringify(report(idOf(1), [row([])])).replace('survived', 'fine')],
  ['the report of another one', JSON.stringify(report(idOf(2)))],
])('does not list a report that has %s', (_what, text) => {
  const { kept, folder } = keep(1);
  writeFileSync(join(folder, idOf(1), 'report.json'), text);
  expect([kept.list(), kept.read(idOf(1))]).toEqual([[], null]);
});

it('reads nothing beside its folders, and nothing where there are none', () => {
  const { kept, folder } = keep(1);
  writeFileSync(join(folder, '..', 'report.json'), readFileSync(join(folder, idOf(1), 'report.json')));
  writeFileSync(join(folder, 'notes.txt'), '');
  expect(kept.list()).toHaveLength(1);
  const empty = temporaryFolder();
  expect(openExaminations(empty).list()).toEqual([]);
  expect(existsSync(join(empty, 'examinations'))).toBe(false);
});
