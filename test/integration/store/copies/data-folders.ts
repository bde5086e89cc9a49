import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { realTime } from '../../../../main/base/clock.ts';
import { loadOrCreateRoot } from '../../../../main/ca/root-folder.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { HERE } from '../../../unit/store/parts.ts';
import { makeDatabase, openFile, temporaryFile } from '../files.ts';

/** The certificate and private key of a new root. */
export function makeRoot(): { certificate: string; key: string } {
  const directory = join(mkdtempSync(join(tmpdir(), 'root-')), 'ca');
  loadOrCreateRoot({ directory, clock: createFakeClock({ nowMs: realTime.now() }) });
  const [certificate, key] = ['root.pem', 'root-key.pem'].map((name) => readFileSync(join(directory, name), 'utf8'));
  return { certificate: certificate ?? '', key: key ?? '' };
}
const ROOT = makeRoot();
export const KEY = ROOT.key;

export const BESIDES = {
  'ca/root.pem': `the root\n${ROOT.certificate}`,
  'ca/root-0a1b2c3d.pem': 'before an extension',
  'ca/root-key.pem': `its key\n${KEY}`,
  'ca/intermediate.pem': 'what signs leaves',
  'control-token': 'token',
  'demo-key.json': '{}',
};

/** A data folder with pets, the files beside the database, and some that no backup contains. */
export async function dataFolder(name: string, pets: number): Promise<string> {
  const file = temporaryFile();
  await makeDatabase(file, pets, name);
  const folder = dirname(file);
  for (const sub of ['ca', 'logs']) mkdirSync(join(folder, sub), { mode: 0o700 });
  for (const [path, text] of Object.entries(BESIDES)) writeFileSync(join(folder, path), `${name}: ${text}`);
  writeFileSync(join(folder, 'ca', 'notes.txt'), 'of the user');
  writeFileSync(join(folder, 'logs', 'today.log'), 'a line');
  return folder;
}

export const databaseOf = (folder: string): string => join(folder, 'vivarium.db');

export async function backUp(folder: string, file = join(temporaryFolder(), 'backup'), force = false): Promise<string> {
  const store = openFile(databaseOf(folder));
  await store.backUpTo({ file, force }).finally(() => store.close());
  return file;
}

/** What a folder keeps, as a user sees it. */
export function keptIn(folder: string): Record<string, unknown> {
  const store = openFile(databaseOf(folder));
  const pets = store.pets.count(HERE, null);
  store.close();
  const texts = Object.keys(BESIDES).map((path) => {
    const place = join(folder, path);
    return [path, existsSync(place) ? readFileSync(place, 'utf8') : null];
  });
  return { pets, ...Object.fromEntries(texts) };
}

export const keptBy = (name: string, pets: number): Record<string, unknown> => ({
  pets,
  ...Object.fromEntries(Object.entries(BESIDES).map(([path, text]) => [path, `${name}: ${text}`])),
});
