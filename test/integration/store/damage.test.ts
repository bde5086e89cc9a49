import { execFileSync } from 'node:child_process';
import { openSync, closeSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { allPets, faultOf, HERE } from '../../unit/store/parts.ts';
import { contentOf, newDatabase, openFile, takeBackup, watchedLog } from './files.ts';
import { commandsOf } from './restoring.ts';
import { inDatabase } from '../../support/sqlite.ts';

const PAGE_BYTES = 4096;
const PETS = 2_000;
/** More than 2 MiB, which is not checked as a whole at the start. */
const MANY_PETS = 40_000;

function overwrite(file: string, offset: number, bytes: Uint8Array): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, offset);
  closeSync(descriptor);
}

const noise = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 151 + 89) % 251);

/** The number of a page in a table: its root, its first leaf, or one of the leaves after. */
function pageOf(file: string, table: string, which: 'root' | 'leaf' | 'leaf in the middle'): number {
  const root = 'SELECT rootpage FROM sqlite_schema WHERE name = ? LIMIT 1 OFFSET ?';
  const leaf = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET ?";
  return inDatabase(file, (sqlite) => {
    const statement = sqlite.prepare(which === 'root' ? root : leaf).pluck();
    return Number(statement.get(table, which === 'leaf in the middle' ? 10 : 0));
  });
}

const overwritePage = (file: string, page: number): void => overwrite(file, (page - 1) * PAGE_BYTES, noise(PAGE_BYTES));

/** Faults by the name of their fixture; each damages a valid database of 2,000 pets that has one backup. */
const faults: Record<string, (file: string) => void> = {
  'header-overwritten': (file) => overwrite(file, 0, noise(16)),
  'header-zeroed': (file) => overwrite(file, 0, new Uint8Array(100)),
  'header-page-size-impossible': (file) => overwrite(file, 16, Uint8Array.of(0x12, 0x34)),
  'first-page-overwritten-after-header': (file) => overwrite(file, 100, noise(PAGE_BYTES - 100)),
  'leaf-of-schema-overwritten': (file) => overwritePage(file, pageOf(file, 'sqlite_schema', 'leaf')),
  'root-of-pets-overwritten': (file) => overwritePage(file, pageOf(file, 'pets', 'root')),
  'root-of-settings-zeroed': (file) =>
    overwrite(file, (pageOf(file, 'settings', 'root') - 1) * PAGE_BYTES, new Uint8Array(PAGE_BYTES)),
  'leaf-of-pets-overwritten': (file) => overwritePage(file, pageOf(file, 'pets', 'leaf in the middle')),
  'leaf-of-index-overwritten': (file) => overwritePage(file, pageOf(file, 'pets_by_status', 'leaf in the middle')),
  'truncated-in-half': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  'truncated-to-one-page': (file) => truncateSync(file, PAGE_BYTES),
  'truncated-in-the-header': (file) => truncateSync(file, 50),
  'truncated-to-nothing': (file) => truncateSync(file, 0),
  'file-missing-beside-its-log': (file) => {
    rmSync(file);
    writeFileSync(`${file}-wal`, noise(5_000));
  },
};

describe('a damaged database', () => {
  it.each(Object.keys(faults))('is reported with its backup and left as it is: %s', async (name) => {
    const file = await newDatabase(PETS);
    takeBackup(file);
    const backup = openFile(file).backupFiles()[0] ?? 'no backup';
    openFile(file).close();
    faults[name]?.(file);
    const before = contentOf(dirname(file));

    const fault = faultOf(() => openFile(file));
    expect(fault.code).toBe('internal_error');
    expect(fault.message).toContain(`The database ${file} is damaged: `);
    expect(fault.message).toContain('Nothing was overwritten or deleted.');
    expect(fault.message).toContain(`The newest backup is ${backup}, taken 2026-11-20T09:00:00.000Z.`);
    const after = contentOf(dirname(file));
    for (const [path, content] of before) expect([path, after.get(path) === content]).toEqual([path, true]);

    for (const command of commandsOf(fault.message)) execFileSync('sh', ['-c', command]);
    expect(openFile(file).pets.count(HERE, null)).toBe(PETS);
    const aside = join(dirname(file), 'backups', 'set-aside-1');
    for (const [path, content] of before) {
      if (path.startsWith('vivarium.db')) expect(readFileSync(join(aside, path), 'latin1')).toBe(content);
    }
  });

  it('whose backup is damaged too cannot be restored from it', async () => {
    const file = await newDatabase(PETS);
    takeBackup(file);
    const backup = openFile(file).backupFiles()[0] ?? 'no backup';
    openFile(file).close();
    for (const path of [file, backup]) overwritePage(path, pageOf(path, 'pets', 'leaf in the middle'));
    const { message } = faultOf(() => openFile(file));
    expect(message).toContain('Its backups are damaged too.');
    expect(message).not.toContain(backup);
  });

  it('without a backup is reported with how to start over', async () => {
    const file = await newDatabase(PETS);
    truncateSync(file, 10 * PAGE_BYTES);
    const { message } = faultOf(() => openFile(file));
    expect(message).toContain('There is no backup of it.');
    expect(message).toContain('To start over, stop Vivarium and run:');
    for (const command of commandsOf(message)) execFileSync('sh', ['-c', command]);
    expect(openFile(file).projects.list()).toEqual([]);
  });

  it.each(['missing', 'empty'])('that is %s is restored from its backup by the commands', async (how) => {
    const file = await newDatabase(PETS);
    takeBackup(file);
    for (const name of ['control-token', 'demo-key.json']) writeFileSync(join(dirname(file), name), 'x');
    if (how === 'missing') rmSync(file);
    else truncateSync(file);
    const { message } = faultOf(() => openFile(file));
    for (const command of commandsOf(message)) execFileSync('sh', ['-c', command]);
    expect(openFile(file).pets.count(HERE, null)).toBe(PETS);
    expect(readFileSync(join(dirname(file), 'demo-key.json'), 'utf8')).toBe('x');
  });

  it('keeps the log of a killed Vivarium unchanged', async () => {
    const file = await newDatabase(PETS);
    takeBackup(file);
    const log = inDatabase(file, (sqlite) => {
      sqlite.exec("INSERT INTO settings (name, value) VALUES ('a', '1')");
      return contentOf(dirname(file)).get('vivarium.db-wal') ?? '';
    });
    overwritePage(file, pageOf(file, 'pets', 'leaf'));
    writeFileSync(`${file}-wal`, log, 'latin1');
    const before = readFileSync(file, 'latin1');
    expect(faultOf(() => openFile(file)).code).toBe('internal_error');
    expect(readFileSync(`${file}-wal`, 'latin1')).toBe(log);
    expect(readFileSync(file, 'latin1')).toBe(before);
  });

  it('that is large is reported when the damaged page is read, or by the daily backup, which is then discarded', async () => {
    const file = await newDatabase(MANY_PETS, 'A name of some length, to fill the pages of the file with something');
    takeBackup(file);
    expect(statSync(file).size).toBeGreaterThan(2 * 1024 * 1024);
    overwritePage(file, pageOf(file, 'pets', 'leaf in the middle'));
    const clock = createFakeClock({ nowMs: Date.UTC(2027, 0, 1) });
    const { log, written } = watchedLog('The daily backup failed');
    const store = openFile(file, { clock, log });
    const backups = store.backupFiles();
    const fault = faultOf(() => allPets(store.pets, HERE));
    expect(fault.code).toBe('internal_error');
    expect(fault.message).toContain(`The newest backup is ${backups[0]}`);
    await clock.pass(60_000);
    await written;
    expect(store.warnings).toEqual([expect.stringContaining('The daily backup failed: The database')]);
    expect(store.backupFiles()).toEqual(backups);
    expect([...contentOf(join(dirname(file), 'backups')).keys()]).toHaveLength(1);
  });

  it('that is large is reported at the start when the root of a table is damaged', async () => {
    const file = await newDatabase(MANY_PETS, 'A name of some length, to fill the pages of the file with something');
    overwritePage(file, pageOf(file, 'pets', 'root'));
    expect(faultOf(() => openFile(file, { log: silentLog })).code).toBe('internal_error');
  });
});
