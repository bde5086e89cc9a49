import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { openDatabase } from '../../../main/store/database.ts';
import { createDatasets } from '../../../main/store/tables/datasets.ts';
import { createPets } from '../../../main/store/tables/pets.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { faultOf, HERE, pet } from '../../unit/store/parts.ts';
import { contentOf, makeDatabase, newDatabase, openFile, temporaryFile } from './files.ts';

/** The user "nobody"; root may write everywhere, and would never get these faults. */
const NOBODY = 65_534;

function asOrdinaryUser<Result>(work: () => Result): Result {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

function restrict(path: string, mode: number, after: number): void {
  chmodSync(path, mode);
  onTestFinished(() => chmodSync(path, after));
}

/** The folders down to the file have to be passable for the ordinary user; the last one is what the test is about. */
async function sharedDatabase(): Promise<string> {
  const file = await newDatabase(10);
  chmodSync(dirname(dirname(file)), 0o755);
  chmodSync(dirname(file), 0o777);
  chmodSync(file, 0o666);
  return file;
}

describe('an unwritable place', () => {
  it.each([
    { what: 'a read-only folder', path: dirname, mode: 0o555, after: 0o777 },
    { what: 'a folder that can not be entered', path: dirname, mode: 0o000, after: 0o777 },
    { what: 'a read-only file', path: (file: string) => file, mode: 0o444, after: 0o666 },
    { what: 'a file that can not be read', path: (file: string) => file, mode: 0o000, after: 0o666 },
  ])('is reported with the path and the fix: $what', async ({ path, mode, after }) => {
    const file = await sharedDatabase();
    const before = contentOf(dirname(file));
    restrict(path(file), mode, after);
    const fault = asOrdinaryUser(() => faultOf(() => openFile(file)));
    expect(fault.code).toBe('unavailable');
    expect(fault.message).toContain(`The database ${file} can't be used: `);
    expect(fault.message).toContain('correct their permissions, or use another folder with --data-dir');
    chmodSync(path(file), after);
    expect(contentOf(dirname(file)).get('vivarium.db')).toBe(before.get('vivarium.db'));
  });

  it('is reported even if there is no database yet', () => {
    const file = temporaryFile();
    chmodSync(dirname(dirname(file)), 0o755);
    restrict(dirname(file), 0o555, 0o755);
    expect(asOrdinaryUser(() => faultOf(() => openFile(file))).message).toContain('correct their permissions');
  });

  it('is reported when the folder is missing, or not a folder', async () => {
    const file = temporaryFile();
    const missing = join(dirname(file), 'missing', 'vivarium.db');
    expect(faultOf(() => openFile(missing))).toEqual({
      code: 'unavailable',
      message: expect.stringContaining(`the folder ${dirname(missing)} does not exist`),
    });
    await makeDatabase(file);
    expect(faultOf(() => openFile(join(file, 'vivarium.db'))).code).toBe('unavailable');
  });
});

describe('a running store', () => {
  function open(file: string) {
    const clock = createFakeClock();
    const { connection } = openDatabase({ file, clock, log: silentLog });
    const pets = createPets(connection, createDatasets(connection, silentLog));
    onTestFinished(() => {
      pets.close();
      connection.sqlite.close();
    });
    return { sqlite: connection.sqlite, pets };
  }

  it('refuses new data on a full disk, keeps existing data, and accepts data again when there is space', async () => {
    const file = await newDatabase(10);
    const { sqlite, pets } = open(file);
    const pages = Number(sqlite.pragma('page_count', { simple: true }));
    sqlite.pragma(`max_page_count = ${pages}`);
    const big = pet('x'.repeat(1_000));
    const full = {
      code: 'unavailable',
      message: `The disk that holds ${file} is full; this change was not stored. Free some space on it, then try again.`,
    };
    const added = await Promise.allSettled(Array.from({ length: 50 }, () => pets.add(HERE, big)));
    const stored = added.filter(({ status }) => status === 'fulfilled').length;
    expect(stored).toBeLessThan(50);
    expect(added.find(({ status }) => status === 'rejected')).toMatchObject({ reason: full });
    expect(pets.count(HERE, null)).toBe(10 + stored);
    expect(faultOf(() => Array.from({ length: 50 }, () => pets.insert(HERE, big)))).toEqual(full);
    await expect(pets.insertMany(HERE, Array(500).fill(big) as (typeof big)[])).rejects.toMatchObject({
      code: 'unavailable',
    });
    const before = pets.count(HERE, null);
    sqlite.pragma('max_page_count = 100000');
    await pets.add(HERE, big);
    expect(pets.count(HERE, null)).toBe(before + 1);
    expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok');
  });

  it('names another program’s lock, and continues once the lock is released', async () => {
    const file = await newDatabase(10);
    const { pets } = open(file);
    const other = new Sqlite(file);
    other.exec('BEGIN IMMEDIATE');
    const fault = faultOf(() => pets.insert(HERE, pet('Rex')));
    expect(fault.code).toBe('unavailable');
    expect(fault.message).toContain(`Another program holds a lock on ${file}`);
    await expect(pets.add(HERE, pet('Rex'))).rejects.toMatchObject({ code: 'unavailable' });
    other.exec('COMMIT');
    other.close();
    expect(pets.insert(HERE, pet('Rex')).id).toBe(11n);
  });

  it('does not touch a folder that is named like the database', () => {
    const folder = temporaryFile();
    mkdirSync(folder);
    expect(faultOf(() => openFile(folder)).message).toContain('is a folder, not a Vivarium database');
  });
});
