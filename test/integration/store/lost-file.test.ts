import { copyFileSync, renameSync, rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { connect } from '../../../main/store/connection.ts';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { HERE, pet } from '../../unit/store/parts.ts';
import { newDatabase, openFile, temporaryFile } from './files.ts';
import { valueIn } from '../../support/sqlite.ts';

/** An open store whose file is removed by `take`; returns its log, and the pets after the next start. */
async function lose(take: (file: string) => void) {
  const file = await newDatabase(3);
  const clock = createFakeClock();
  const faults: unknown[] = [];
  const store = openFile(file, { clock, onFault: (error) => faults.push(error) });
  await store.pets.add(HERE, pet('Before'));
  await clock.pass(1_000);
  expect(faults).toEqual([]);
  take(file);
  await clock.pass(1_000);
  // Until it is closed, the unlinked file accepts changes.
  await store.pets.add(HERE, pet('After'));
  store.close();
  const again = openFile(file);
  return { faults, again, pets: again.pets.count(HERE, null) };
}

describe('a database that is removed while it is open', () => {
  it('is written again with all its content, and this is logged', async () => {
    const { faults, pets } = await lose((file) => ['', '-wal', '-shm'].forEach((end) => rmSync(file + end)));
    expect([faults, pets]).toEqual([
      [
        expect.objectContaining({
          code: 'unavailable',
          message: expect.stringContaining('removed or replaced') as string,
        }),
      ],
      5,
    ]);
  });

  it('is written again although its log was left', async () => {
    const { pets } = await lose((file) => rmSync(file));
    expect(pets).toBe(5);
  });

  it('leaves another file in its place, and keeps its content as a backup', async () => {
    const { faults, pets, again } = await lose((file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    });
    expect([faults.length, pets]).toEqual([1, 3]);
    expect(valueIn(again.backupFiles()[0] ?? '', 'SELECT count(*) FROM pets')).toBe(5);
  });
});

it.each([
  ['SQLITE_IOERR_WRITE', 1],
  ['SQLITE_NOTADB', 1],
  // Free space, or another page, is enough.
  ['SQLITE_FULL', 0],
  ['SQLITE_CORRUPT', 0],
])('an open database after %s has to be opened again: %i', (code, times) => {
  const sqlite = new Sqlite(':memory:');
  const connection = connect(sqlite, { file: temporaryFile(), backups: { list: () => [] } });
  const told: unknown[] = [];
  connection.onBroken((error) => told.push(error));
  const work = connection.guarded(() => {
    throw Object.assign(new Error('it failed'), { code });
  });
  for (let attempt = 0; attempt < 2; attempt++) expect(work).toThrow('vivarium.db');
  expect(told).toHaveLength(times);
  sqlite.close();
});
