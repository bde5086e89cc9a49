import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openExaminations } from '../../../main/base/system/examinations.ts';
import type { KeptExamination, RowVerdict } from '../../../main/contract/examine.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A folder with a suite, by default four tests of a client that asks again, and its world. */
export function sampleSuite(world: string, suite = import.meta.dirname): string {
  const folder = temporaryFolder();
  cpSync(suite, folder, { recursive: true, filter: (path) => path !== import.meta.filename });
  writeFileSync(join(folder, 'vivarium.yaml'), world);
  return folder;
}

export const makeExamination = (id: string, rows: RowVerdict[] = []): KeptExamination => ({
  ...{ id, at: '2026-11-28T10:30:00.000Z', subject: 'npm test', repeat: 'vivarium examine -- npm test' },
  ...{ seed: 1, table: 'quick', calm: { tests: 4, ms: 900, left: [] }, total: 12, rows },
});

export const makeRow = (row: string, verdict: RowVerdict['verdict'], tests: RowVerdict['tests'] = []): RowVerdict => ({
  ...{ row, entry: 'api.unavailable', placedOn: { method: 'GET', path: '/v1/pets', ordinal: 1 }, verdict, tests },
  repeat: `vivarium examine --only ${row} -- npm test`,
});

/** Keeps an examination with one row in a data folder. */
export function keepExamination(dataDir: string, id = '20261128103000000-7'): void {
  const kept = openExaminations(dataDir);
  kept.begin(id);
  kept.write(makeExamination(id, [makeRow('503-once', 'survived', [{ name: 'lists pets', verdict: 'survived' }])]));
}
