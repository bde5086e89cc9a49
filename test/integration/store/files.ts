import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Log, silentLog } from '../../../main/base/log.ts';
import { createBackups } from '../../../main/store/copies/backups.ts';
import { openStore } from '../../../main/store/store.ts';
import { HERE, projectRow, type Store } from '../../unit/store/parts.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { inDatabase } from '../../support/sqlite.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The path of a database in an empty folder; it contains a blank and a quote, as users' paths may. */
export function temporaryFile(): string {
  const folder = join(temporaryFolder(), "Ann's data");
  mkdirSync(folder);
  return join(folder, 'vivarium.db');
}

export type OpenOptions = Partial<Parameters<typeof openStore>[0]> & { clock?: FakeClock };

/** The store of a file, closed after the test. */
export function openFile(file: string, options: OpenOptions = {}): Store {
  const store = openStore({ file, clock: createFakeClock(), log: silentLog, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A closed database with the project of `HERE`, and that many pets in it. */
export async function makeDatabase(file: string, pets = 0, name = 'Rex'): Promise<void> {
  const store = openFile(file);
  store.projects.insert(projectRow(HERE.projectId));
  const rows = Array.from({ length: pets }, (_, index) => ({
    name: `${name} ${index}`,
    categoryId: 1n,
    status: 'available' as const,
  }));
  await store.pets.insertMany(HERE, rows);
  store.close();
}

/** The path of a database as `makeDatabase` makes it. */
export async function newDatabase(pets?: number, name?: string): Promise<string> {
  const file = temporaryFile();
  await makeDatabase(file, pets, name);
  return file;
}

/** A backup as Vivarium makes one before a migration; its path. */
export const takeBackup = (file: string, schema = 1): string =>
  inDatabase(file, (sqlite) => createBackups(file, createFakeClock()).takeNow(sqlite, schema));

/** Every file below a folder with its content, to detect changes. */
export function contentOf(folder: string): Map<string, string> {
  const content = new Map<string, string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (statSync(path).isFile()) content.set(name, readFileSync(path, 'latin1'));
  }
  return content;
}

/** A log that resolves `written` when a line begins with the given words. */
export function watchedLog(words: string): { log: Log; written: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const note = (message: string) => {
    if (message.startsWith(words)) resolve(undefined);
  };
  return { log: { debug: note, info: note, warn: note, error: note }, written: promise };
}
