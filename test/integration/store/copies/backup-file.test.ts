import { hash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BACKUP_ID, beginFile, FILES_TABLE } from '../../../../main/store/copies/copy-file.ts';
import { claimDataFolder } from '../../../../main/store/data-folder.ts';
import { restoreFolder } from '../../../../main/store/copies/folder-backup.ts';
import { HERE, pet } from '../../../unit/store/parts.ts';
import { contentOf, openFile } from '../files.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { backUp, BESIDES, databaseOf, dataFolder, keptBy, keptIn, KEY, makeRoot } from './data-folders.ts';
import { runIn, valueIn } from '../../../support/sqlite.ts';

it('the file of a copy stays while another of its name is begun', () => {
  const folder = temporaryFolder();
  const [one, other] = [beginFile(folder, 'a.'), beginFile(folder, 'a.')];
  other.end();
  one.store();
  one.appearAs(join(folder, 'a'));
  one.end();
  expect([...contentOf(folder).keys()]).toEqual(['a']);
});

describe('a backup file', () => {
  it('contains the database and the files beside it, is readable only for its owner, and leaves nothing else', async () => {
    const folder = await dataFolder('Old', 30);
    const file = await backUp(folder);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect([...contentOf(dirname(file)).keys()]).toEqual([basename(file)]);
    expect(valueIn(file, 'PRAGMA application_id')).toBe(BACKUP_ID);
    const paths = `SELECT group_concat(path ORDER BY path) FROM ${FILES_TABLE}`;
    expect(valueIn(file, paths)).toBe(Object.keys(BESIDES).sort().join());
    const target = join(temporaryFolder(), 'new');
    const lock = claimDataFolder(target);
    expect(restoreFolder(target, file)).toMatchObject({ aside: null, whole: true, rootChanged: false });
    lock.release();
    expect(keptIn(target)).toEqual(keptBy('Old', 30));
    expect(['ca/root-key.pem', 'control-token', 'vivarium.db', 'ca/root.pem'].map(modeIn(target))).toEqual([
      0o600, 0o600, 0o600, 0o644,
    ]);
  });

  it('is consistent while pets are added', async () => {
    const folder = await dataFolder('Old', 3_000);
    const store = openFile(databaseOf(folder));
    const file = join(temporaryFolder(), 'backup');
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) await store.pets.add(HERE, pet('meanwhile'));
    })();
    const { bytes } = await store.backUpTo({ file, force: false });
    isWriting = false;
    await writing;
    expect(statSync(file).size).toBe(bytes);
    expect(valueIn(file, 'PRAGMA integrity_check')).toBe('ok');
    expect(valueIn(file, 'SELECT count(*) FROM pets')).toBe(valueIn(file, 'SELECT sum(pets) FROM pet_counts'));
  });

  it('replaces nothing without force, and with force only a backup', async () => {
    const folder = await dataFolder('Old', 1);
    const file = await backUp(folder);
    const before = readFileSync(file);
    await expect(backUp(folder, file)).rejects.toThrow(/exists; choose another name, or replace it with --force/);
    expect(readFileSync(file).equals(before)).toBe(true);
    await backUp(folder, file, true);
    for (const other of [databaseOf(folder), join(folder, 'logs', 'today.log'), folder]) {
      await expect(backUp(folder, other, true)).rejects.toThrow(/not a Vivarium backup, so it is not replaced/);
    }
    await expect(backUp(folder, join(folder, 'none', 'backup'))).rejects.toThrow(/its folder does not exist/);
  });

  it('is not made of a damaged database, and an older one is kept', async () => {
    const folder = await dataFolder('Old', 2_000);
    const file = await backUp(folder);
    const before = readFileSync(file);
    const store = openFile(databaseOf(folder));
    const bytes = readFileSync(databaseOf(folder));
    bytes.fill(0xff, bytes.length - 40_960, bytes.length - 20_480);
    writeFileSync(databaseOf(folder), bytes);
    await expect(store.backUpTo({ file, force: true })).rejects.toThrow(
      /The database is damaged: .*No backup was written/,
    );
    store.close();
    expect(readFileSync(file).equals(before)).toBe(true);
    expect([...contentOf(dirname(file)).keys()]).toEqual([basename(file)]);
  });
});

const modeIn = (folder: string) => (path: string) => statSync(join(folder, path)).mode & 0o777;

describe('restoring', () => {
  it('moves the previous content aside, and leaves the root’s key in no database', async () => {
    const file = await backUp(await dataFolder('Old', 3));
    const folder = await dataFolder('New', 7);
    const { aside, rootChanged } = restoreFolder(folder, file);
    expect([aside, rootChanged]).toEqual([join(folder, 'backups', 'set-aside-1'), true]);
    expect(keptIn(folder)).toEqual(keptBy('Old', 3));
    expect(keptIn(aside ?? '')).toEqual(keptBy('New', 7));
    expect(readFileSync(file).includes(KEY)).toBe(true);
    expect(readFileSync(databaseOf(folder)).includes(KEY.slice(0, 60))).toBe(false);
    expect(existsSync(join(folder, 'restore'))).toBe(false);
    expect(restoreFolder(folder, file).aside).toBe(join(folder, 'backups', 'set-aside-2'));
  });

  it('uses a file in the backups folder for the database alone', async () => {
    const old = await dataFolder('Old', 3);
    const folder = await dataFolder('New', 7);
    const copy = join(temporaryFolder(), 'copy.db');
    copyFileSync(databaseOf(old), copy);
    const log = `${databaseOf(folder)}-wal`;
    writeFileSync(log, 'of the former database');
    expect(restoreFolder(folder, copy)).toMatchObject({ whole: false, rootChanged: false });
    expect(existsSync(log)).toBe(false);
    expect(keptIn(folder)).toEqual({ ...keptBy('New', 7), pets: 3 });
  });

  it.each<{ of: string; change: (file: string) => void; says: RegExp }>([
    { of: 'no file', change: (file) => truncateSync(file, 0), says: /does not begin like an SQLite database/ },
    { of: 'a text', change: (file) => writeFileSync(file, 'x'.repeat(9_000)), says: /does not begin like an SQLite/ },
    { of: 'another program', change: inside('PRAGMA application_id = 1'), says: /database of another program/ },
    { of: 'a newer one', change: inside('PRAGMA user_version = 900'), says: /schema 900, but this Vivarium supports/ },
    { of: 'a part', change: (file) => truncateSync(file, 50_000), says: /it is cut off: 50000 of \d+ bytes exist/ },
    { of: 'a damaged one', change: damage, says: /is damaged: .*Nothing was changed/ },
    {
      of: 'a path that leads out of the folder',
      change: inside(`INSERT INTO ${FILES_TABLE} VALUES ('../x', x'00', '')`),
      says: /contains the unknown file "\.\.\/x"/,
    },
    {
      of: 'one with another key',
      change: inside(`UPDATE ${FILES_TABLE} SET content = x'00' WHERE path = 'ca/root-key.pem'`),
      says: /is damaged: ca\/root-key\.pem in it .*Nothing was changed/,
    },
    { of: 'one without its root', change: without('ca/root.pem'), says: /damaged: it has no root \(ca\/root\.pem\)/ },
    { of: 'one without its key', change: without('ca/root-key.pem'), says: /it has no private key of the root/ },
    { of: 'a root of one octet', change: replaced('ca/root.pem', '\n'), says: /the root in it can’t be read/ },
    { of: 'a key that is none', change: replaced('ca/root-key.pem', '\n'), says: /the root in it can’t be read/ },
    {
      of: 'the key of another root',
      change: replaced('ca/root-key.pem', makeRoot().key),
      says: /the private key in it is not that of its root\. Nothing was changed/,
    },
    {
      of: 'a row that a start would refuse',
      change: inside('UPDATE pet_counts SET pets = 9007199254740991'),
      says: /is damaged: Vivarium can't use the row .* in the table pet_counts: pets .*Nothing was changed/,
    },
    { of: 'a missing table', change: inside(`DROP TABLE ${FILES_TABLE}`), says: /is damaged|could not be restored/ },
  ])('is refused for $of, with nothing changed', async ({ change, says }) => {
    const file = await backUp(await dataFolder('Old', 900));
    change(file);
    const folder = await dataFolder('New', 7);
    const before = contentOf(folder);
    expect(() => restoreFolder(folder, file)).toThrow(says);
    expect(contentOf(folder)).toEqual(before);
  });

  it('is refused for a missing file', async () => {
    const folder = await dataFolder('New', 1);
    expect(() => restoreFolder(folder, join(folder, 'none.db'))).toThrow(/There is no file/);
  });
});

const inside = (sql: string) => (file: string) => runIn(file, sql);

const without = (path: string) => inside(`DELETE FROM ${FILES_TABLE} WHERE path = '${path}'`);

/** With the right digest. */
const replaced = (path: string, text: string) =>
  inside(
    `UPDATE ${FILES_TABLE} SET content = CAST('${text}' AS BLOB), sha256 = '${hash('sha256', text)}' WHERE path = '${path}'`,
  );

function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xff, 40_960, 49_152);
  writeFileSync(file, bytes);
}
