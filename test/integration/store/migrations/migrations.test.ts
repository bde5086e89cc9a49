import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { latestVersion, MIGRATIONS, type Migration } from '../../../../main/store/migrations/migrations.ts';
import { FAKE_NOW_MS } from '../../../support/fake-clock.ts';
import { allPets, faultOf, HERE, memoryParts, pet, projectRow } from '../../../unit/store/parts.ts';
import { contentOf, newDatabase, openFile, temporaryFile } from '../files.ts';
import { commandsOf } from '../restoring.ts';
import { valueIn } from '../../../support/sqlite.ts';

const LATEST = latestVersion(MIGRATIONS);

/** The migration that many steps after the latest. */
const next = (step: number, sql: string): Migration => ({ version: LATEST + step, name: `test ${step}`, sql });
const LONGER = [
  ...MIGRATIONS,
  next(1, 'ALTER TABLE projects ADD COLUMN note TEXT'),
  next(2, "UPDATE projects SET note = 'migrated'; CREATE TABLE notes (id INTEGER PRIMARY KEY) STRICT"),
];

describe('migrations', () => {
  it('are numbered from 1 without gaps', () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  it('bring an older file to the latest schema, after a backup of it', async () => {
    const file = await newDatabase(3);
    const store = openFile(file, { migrations: LONGER });
    const [backup] = store.backupFiles();
    const stamp = new Date(FAKE_NOW_MS).toISOString().replaceAll(/[-:.]/g, '');
    expect(backup).toBe(join(dirname(file), 'backups', `vivarium-v${LATEST}-${stamp}.db`));
    expect(allPets(store.pets, HERE)).toHaveLength(3);
    store.close();
    expect([valueIn(file, 'PRAGMA user_version'), valueIn(file, 'SELECT note FROM projects')]).toEqual([
      LATEST + 2,
      'migrated',
    ]);
    const path = backup ?? '';
    expect([valueIn(path, 'PRAGMA user_version'), valueIn(path, 'SELECT count(*) FROM pets')]).toEqual([LATEST, 3]);
  });

  it('keep the plans of an older file, and what refers to its projects', () => {
    const file = temporaryFile();
    const older = memoryParts({ file, migrations: MIGRATIONS.slice(0, 16) });
    older.projects.insert(projectRow('prj_agreed', { plan: 'enterprise', limits: { perMinute: 5, perDay: 6 } }));
    older.pets.insert({ projectId: 'prj_agreed', environment: 'staging' }, pet('Rex'));
    older.sqlite.close();
    const store = openFile(file);
    expect(store.projects.get('prj_agreed')).toMatchObject({ plan: 'enterprise', limits: { perMinute: 5, perDay: 6 } });
    expect(allPets(store.pets, { projectId: 'prj_agreed', environment: 'staging' })).toHaveLength(1);
  });

  it('make no backup if there is nothing to migrate', async () => {
    const file = temporaryFile();
    openFile(file, { migrations: LONGER }).close();
    expect(openFile(file, { migrations: LONGER }).backupFiles()).toEqual([]);
  });

  it('rebuild a table that others refer to without losing their rows', async () => {
    const file = await newDatabase(3);
    const rebuild = next(
      1,
      `CREATE TABLE renewed (id INTEGER PRIMARY KEY AUTOINCREMENT, project_id TEXT REFERENCES projects (id)
         ON DELETE SET NULL, environment TEXT NOT NULL, last_pet_id INTEGER NOT NULL DEFAULT 0,
         last_order_id INTEGER NOT NULL DEFAULT 0, UNIQUE (project_id, environment)) STRICT;
       INSERT INTO renewed (id, project_id, environment, last_pet_id, last_order_id)
         SELECT id, project_id, environment, last_pet_id, last_order_id FROM datasets;
       DROP TABLE datasets; ALTER TABLE renewed RENAME TO datasets;`,
    );
    const store = openFile(file, { migrations: [...MIGRATIONS, rebuild] });
    expect(allPets(store.pets, HERE)).toHaveLength(3);
    expect(store.pets.insert(HERE, pet('Rex')).id).toBe(4n);
  });

  it.each([
    ['bad SQL in the second of two', [next(1, 'CREATE TABLE notes (id INTEGER) STRICT'), next(2, 'NONSENSE')]],
    ['rows that would refer to nothing', [next(1, 'DELETE FROM datasets')]],
  ])('that fail leave the file as it was: %s', async (_case, more) => {
    const file = await newDatabase(3);
    const before = contentOf(dirname(file)).get('vivarium.db');
    const fault = faultOf(() => openFile(file, { migrations: [...MIGRATIONS, ...more] }));
    expect(fault.code).toBe('internal_error');
    expect(fault.message).toContain(
      `could not be migrated from schema ${LATEST} to ${LATEST + more.length}; it is unchanged`,
    );
    expect(fault.message).toMatch(/a backup of it is .*backups.vivarium-v\d+-/);
    expect(contentOf(dirname(file)).get('vivarium.db')).toBe(before);
    expect(allPets(openFile(file).pets, HERE)).toHaveLength(3);
  });

  it('do not run if the backup before them cannot be made', async () => {
    const file = await newDatabase(3);
    writeFileSync(join(dirname(file), 'backups'), 'a file where the folder would be');
    const fault = faultOf(() => openFile(file, { migrations: LONGER }));
    expect(fault.code).toBe('unavailable');
    expect(fault.message).toContain('no backup of it could be made first, so nothing was changed');
    expect(valueIn(file, 'PRAGMA user_version')).toBe(LATEST);
  });
});

describe('a newer schema', () => {
  it('is refused with both versions and what to do, and nothing is changed', async () => {
    const file = temporaryFile();
    openFile(file, { migrations: LONGER }).close();
    const before = contentOf(dirname(file));
    const fault = faultOf(() => openFile(file));
    expect(fault.code).toBe('conflict');
    expect(fault.message).toContain(
      `${file} has schema ${LATEST + 2}, but this Vivarium supports schemas up to ${LATEST}`,
    );
    expect(fault.message).toContain('Start the newer Vivarium, use another folder with --data-dir');
    expect(fault.message).toContain(`there is no backup with schema ${LATEST} or older`);
    expect(contentOf(dirname(file)).get('vivarium.db')).toBe(before.get('vivarium.db'));
  });

  it('is noticed in the log of a Vivarium that was killed, and the log is kept', async () => {
    const file = await newDatabase(1);
    const copy = join(dirname(file), 'copy.db');
    const sqlite = new Sqlite(file);
    sqlite.pragma('user_version = 999');
    for (const suffix of ['', '-wal']) {
      writeFileSync(copy + suffix, contentOf(dirname(file)).get(`vivarium.db${suffix}`) ?? '', 'latin1');
    }
    sqlite.close();
    const before = contentOf(dirname(file));
    expect(before.get('copy.db-wal')?.length).toBeGreaterThan(0);
    expect(faultOf(() => openFile(copy)).message).toContain('has schema 999');
    const after = contentOf(dirname(file));
    for (const name of ['copy.db', 'copy.db-wal']) expect(after.get(name)).toBe(before.get(name));
  });

  it('names the newest usable backup, and the commands that restore it', async () => {
    const file = await newDatabase(3);
    const newer = openFile(file, { migrations: LONGER });
    newer.pets.insert(HERE, pet('added since'));
    newer.close();
    mkdirSync(join(dirname(file), 'backups'), { recursive: true });
    const tooNew = join(dirname(file), 'backups', `vivarium-v${LATEST + 2}-20261121T090000000Z.db`);
    writeFileSync(tooNew, contentOf(dirname(file)).get(basename(file)) ?? '', 'latin1');
    const { message } = faultOf(() => openFile(file));
    expect(message).toMatch(/go back to the backup .*vivarium-v\d+-20261120T090000000Z\.db, taken 2026-11-20T09:00:00/);
    for (const command of commandsOf(message)) execFileSync('sh', ['-c', command]);
    expect(allPets(openFile(file).pets, HERE).map(({ id }) => id)).toEqual([1n, 2n, 3n]);
  });
});
