import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { connect } from '../../../main/store/connection.ts';
import { explainStart, openDatabase } from '../../../main/store/database.ts';
import { MIGRATIONS, latestVersion } from '../../../main/store/migrations/migrations.ts';
import { track } from '../../support/engine.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { runIn, valueIn } from '../../support/sqlite.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { HERE, allPets, faultOf, pet, projectRow } from '../../unit/store/parts.ts';
import { contentOf, makeDatabase, newDatabase, openFile, takeBackup, temporaryFile } from './files.ts';

describe('opening the store', () => {
  it('creates a file that only its owner can read, and finds everything in it again', async () => {
    const file = temporaryFile();
    const store = openFile(file);
    store.projects.insert(projectRow(HERE.projectId));
    const { id } = await store.pets.add(HERE, pet('a\0b'));
    store.settings.set('banAfter', 7);
    store.clock.set({ offsetMs: 5, frozenAtMs: null });
    store.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = openFile(file);
    expect(again.projects.list()).toEqual([projectRow(HERE.projectId)]);
    expect(allPets(again.pets, HERE)).toEqual([{ id, ...pet('a\0b') }]);
    expect(again.pets.insert(HERE, pet('next')).id).toBe(2n);
    expect([again.settings.get(), again.clock.get()]).toEqual([{ banAfter: 7 }, { offsetMs: 5, frozenAtMs: null }]);
    expect(again.warnings).toEqual([]);
  });

  it('uses a write-ahead log, synced at every commit, and foreign keys', () => {
    const { connection } = openDatabase({ file: temporaryFile(), clock: createFakeClock(), log: silentLog });
    onTestFinished(() => void connection.sqlite.close());
    const pragma = (name: string) => connection.sqlite.pragma(name, { simple: true });
    expect(
      ['journal_mode', 'synchronous', 'foreign_keys', 'user_version', 'application_id', 'busy_timeout'].map(pragma),
    ).toEqual(['wal', 2, 1, latestVersion(MIGRATIONS), 0x56495641, 1_000]);
  });

  it('leaves nothing beside the file once it is closed, even twice', async () => {
    const file = await newDatabase(10);
    const store = openFile(file);
    store.pets.insert(HERE, pet('Rex'));
    store.close();
    store.close();
    expect([...contentOf(dirname(file)).keys()]).toEqual(['vivarium.db']);
    expect(faultOf(() => store.projects.list())).toEqual({
      code: 'unavailable',
      message: 'Vivarium is stopping; its database is closed.',
    });
  });

  it('is refused over a row that no part can use; beyond the first ones, if the row ends the start', async () => {
    const file = await newDatabase(6_000);
    const spoil = (sql: string) => runIn(file, sql);
    const backUp = () => takeBackup(file, latestVersion(MIGRATIONS));
    const failed = new TypeError('Something failed.');
    expect(explainStart(failed, file)).toBe(failed);
    spoil("UPDATE pets SET name = '' WHERE id = 5999");
    openFile(file).close();
    const row = 'the row dataset_id 1, id 5999 in the table pets: name must';
    expect(explainStart(failed, file)).toMatchObject({ message: expect.stringContaining(row) });
    const copy = backUp();
    spoil("UPDATE projects SET redirects = '1'");
    const { message } = faultOf(() => openFile(file));
    expect(message).toContain('in the table projects: redirects must be a list. To leave out such rows');
    expect([message.includes(copy), message.includes('There is no backup without such rows.')]).toEqual([false, true]);
    spoil("UPDATE projects SET redirects = '[]'; UPDATE pets SET name = 'Rex'");
    const newest = backUp();
    spoil("UPDATE projects SET redirects = '1'");
    expect(faultOf(() => openFile(file)).message).toContain(`The newest backup without such rows is ${newest}.`);
  });

  it('treats an empty file as missing, with a warning if there was a database before', async () => {
    const file = temporaryFile();
    writeFileSync(file, '');
    await makeDatabase(file);
    mkdirSync(join(dirname(file), 'backups'));
    const other = join(dirname(file), 'other.db');
    const backup = join(dirname(file), 'backups', 'other-v1-20261120T090000000Z.db');
    writeFileSync(backup, readFileSync(file));
    expect(openFile(file).warnings).toEqual([]);
    expect(openFile(other).warnings).toEqual([expect.stringContaining(`the newest is ${backup}`)]);
  });
});

describe('a foreign file', () => {
  const foreign = {
    'text.db': (path: string) => writeFileSync(path, 'Dear diary, today I saw a fox.\n'.repeat(10)),
    'one-byte.db': (path: string) => writeFileSync(path, 'x'),
    'sqlite-of-another-program.db': (path: string) =>
      runIn(path, 'CREATE TABLE notes (text TEXT); INSERT INTO notes (text) VALUES (1)'),
    'sqlite-with-another-application-id.db': (path: string) => runIn(path, 'PRAGMA application_id = 252006673'),
    'folder.db': (path: string) => mkdirSync(path),
  };

  it.each(Object.keys(foreign) as (keyof typeof foreign)[])('is refused and left as it is: %s', (name) => {
    const path = join(dirname(temporaryFile()), name);
    foreign[name](path);
    const before = contentOf(dirname(path));
    const fault = faultOf(() => openFile(path));
    expect(fault.code).toBe('conflict');
    expect(fault.message).toContain(`${path} is `);
    expect(fault.message).toContain('not a Vivarium database, so it was left unchanged');
    expect(fault.message).toContain('--data-dir');
    expect(contentOf(dirname(path))).toEqual(before);
  });
});

const FOLDERS = 6;
/** Real milliseconds until both processes are ready. */
const READY_MS = 500;

it('of two processes that claim a folder at the same time, one gets it', async () => {
  const folder = temporaryFolder();
  const child = join(import.meta.dirname, 'claiming-child.ts');
  const claim = (firstMs: number) => {
    const process_ = spawn(process.execPath, [child, folder, String(FOLDERS), String(firstMs)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    track(() => void process_.kill());
    return new Promise<number[]>((resolve) => {
      process_.stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString()) as number[]));
    });
  };
  const firstMs = Date.now() + READY_MS;
  const [one, other] = await Promise.all([claim(firstMs), claim(firstMs)]);
  expect([...one, ...other].toSorted((a, b) => a - b)).toEqual(Array.from({ length: FOLDERS }, (_, index) => index));
});

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
      [expect.objectContaining({ code: 'unavailable', message: expect.stringContaining('removed or replaced') })],
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
