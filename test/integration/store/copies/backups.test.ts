import { existsSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createBackups } from '../../../../main/store/copies/backups.ts';
import { latestVersion, MIGRATIONS } from '../../../../main/store/migrations/migrations.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../../support/fake-clock.ts';
import { HERE, pet } from '../../../unit/store/parts.ts';
import { contentOf, newDatabase, openFile, takeBackup, temporaryFile, watchedLog } from '../files.ts';
import { valueIn } from '../../../support/sqlite.ts';

const LATEST = latestVersion(MIGRATIONS);

const DAY_MS = 86_400_000;

/** A file named like a backup of `takenAtMs`, written at the real second `writtenAt`. */
function placeBackup(file: string, takenAtMs: number, writtenAt: number): string {
  const stamp = new Date(takenAtMs).toISOString().replaceAll(/[-:.]/g, '');
  const path = join(dirname(file), 'backups', `vivarium-v1-${stamp}.db`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'a backup');
  utimesSync(path, writtenAt, writtenAt);
  return path;
}

describe('the daily backup', () => {
  it('is taken some seconds after the start, while pets are added, and can be opened', async () => {
    const file = await newDatabase(2_000);
    const clock = createFakeClock();
    const { log, written } = watchedLog('Backup written');
    const store = openFile(file, { clock, log });
    await clock.pass(4_999);
    expect(store.backupFiles()).toEqual([]);
    await clock.pass(1);
    await store.pets.add(HERE, pet('while it is copied'));
    await written;
    const [backup = ''] = store.backupFiles();
    expect(basename(backup)).toBe(`vivarium-v${LATEST}-20261120T090005000Z.db`);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect([...contentOf(dirname(backup)).keys()]).toEqual([basename(backup)]);
    expect(valueIn(backup, 'PRAGMA integrity_check')).toBe('ok');
    expect(valueIn(backup, 'SELECT count(*) FROM pets')).toBeGreaterThanOrEqual(2_000);
  });

  it.each([
    { newest: 'a day old to the millisecond', ageMs: DAY_MS, taken: false },
    { newest: 'older than a day', ageMs: DAY_MS + 1, taken: true },
    { newest: 'dated a little in the future', ageMs: -DAY_MS, taken: false },
    { newest: 'dated far in the future, by a clock since reset', ageMs: -30 * DAY_MS, taken: true },
  ])('when the newest is $newest: $taken', async ({ ageMs, taken }) => {
    const file = await newDatabase();
    placeBackup(file, FAKE_NOW_MS - ageMs, 1_000);
    const clock = createFakeClock();
    const store = openFile(file, { clock });
    await clock.pass(60_000);
    await expect.poll(() => store.backupFiles(), { timeout: 10_000 }).toHaveLength(taken ? 2 : 1);
  });

  it('leaves no incomplete file when the store is closed meanwhile', async () => {
    const file = await newDatabase(20_000);
    const clock = createFakeClock();
    const store = openFile(file, { clock });
    const passed = clock.pass(5_000);
    const folder = join(dirname(file), 'backups');
    await vi.waitUntil(() => existsSync(folder), { interval: 1 });
    store.close();
    await passed;
    expect(contentOf(folder)).toEqual(new Map());
    expect(openFile(file).pets.count(HERE, null)).toBe(20_000);
  });

  it('is not taken after the store is closed', async () => {
    const file = temporaryFile();
    const clock = createFakeClock();
    openFile(file, { clock }).close();
    await clock.pass(60_000);
    expect([...contentOf(dirname(file)).keys()]).toEqual(['vivarium.db']);
  });

  it('removes the files of a killed one', async () => {
    const file = await newDatabase();
    const backups = join(dirname(file), 'backups');
    mkdirSync(backups);
    writeFileSync(join(backups, '.vivarium-0123456789ab.tmp'), 'half');
    writeFileSync(join(backups, '.vivarium-0123456789ab.tmp-journal'), 'half');
    writeFileSync(join(backups, 'notes.txt'), 'of the user');
    const clock = createFakeClock();
    const { log, written } = watchedLog('Backup written');
    openFile(file, { clock, log });
    await clock.pass(5_000);
    await written;
    const names = [...contentOf(backups).keys()].sort();
    expect(names).toEqual(['notes.txt', `vivarium-v${LATEST}-20261120T090005000Z.db`]);
  });
});

describe('the folder of backups', () => {
  it('keeps the five that were written last, and touches nothing else', async () => {
    const file = await newDatabase();
    const paths = [1, 2, 3, 4, 5, 6].map((second) => placeBackup(file, FAKE_NOW_MS - second * DAY_MS, second));
    const others = [
      'vivarium-v1-yesterday.db',
      'other-v1-20261120T090000000Z.db',
      'vivarium-v1-20261120T090000000Z.db.old',
    ];
    for (const name of others) writeFileSync(join(dirname(file), 'backups', name), 'of the user');
    const [first, second] = [takeBackup(file), takeBackup(file)];
    expect(basename(second)).toBe('vivarium-v1-20261120T090000000Z-2.db');
    expect(
      createBackups(file, createFakeClock())
        .list()
        .map(({ path }) => path),
    ).toEqual([second, first, paths[5], paths[4], paths[3]]);
    expect([...contentOf(dirname(first)).keys()]).toEqual(expect.arrayContaining(others));
  });

  it('is not created by an ephemeral store', () => {
    const store = openFile(':memory:');
    expect(store.backupFiles()).toEqual([]);
    store.close();
  });
});
