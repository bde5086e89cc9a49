import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { claimDataFolder } from '../../../../main/store/data-folder.ts';
import { loadControlToken } from '../../../../main/base/secret.ts';
import { startEngine } from '../../../support/engine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe.runIf(process.platform !== 'win32')('the modes of the data folder', () => {
  it('are restricted at a start, with a warning for each', async () => {
    const dataDir = temporaryFolder();
    const first = await startEngine({ dataDir, empty: true });
    await first.app.stop();
    mkdirSync(join(dataDir, 'backups'), { recursive: true });
    writeFileSync(join(dataDir, 'backups', 'old.db'), '');
    const opened = ['', 'control-token', 'vivarium.db', 'vivarium.lock', 'backups', 'backups/old.db'];
    for (const name of opened) chmodSync(join(dataDir, name), 0o777);
    const second = await startEngine({ dataDir, empty: true });
    expect(opened.map((name) => modeOf(join(dataDir, name)))).toEqual(['700', '600', '600', '600', '700', '600']);
    expect(second.log.filter(({ message }) => message.includes('has been tightened'))).toHaveLength(opened.length);
    expect(modeOf(join(dataDir, 'ca', 'root.pem'))).toBe('644');
  });
});

it('the files of an interrupted start are removed by the next one, and other files are kept', async () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, 'ca'));
  const left = ['.0123456789ab.tmp', 'ca/.0123456789ab.tmp', 'ca/root.pem.0123456789ab.new'];
  const others = ['notes.tmp', 'ca/.mine.tmp'];
  for (const name of [...left, ...others]) writeFileSync(join(dataDir, name), '');
  await startEngine({ dataDir, empty: true });
  expect(left.filter((name) => existsSync(join(dataDir, name)))).toEqual([]);
  expect(others.filter((name) => existsSync(join(dataDir, name)))).toEqual(others);
});

describe.runIf(process.getuid?.() === 0)('a file of another user', () => {
  const NOBODY = 65_534;

  it('is not used as token', () => {
    const file = join(temporaryFolder(), 'control-token');
    const theirs = 'a'.repeat(43);
    writeFileSync(file, theirs);
    chownSync(file, NOBODY, NOBODY);
    const token = loadControlToken(file);
    expect([token === theirs, readFileSync(file, 'utf8').trim() === token, statSync(file).uid]).toEqual([
      false,
      true,
      0,
    ]);
  });

  it('is not used as data folder, except by the administrator', () => {
    const folder = mkdtempSync(join(temporaryFolder(), 'theirs-'));
    chownSync(folder, NOBODY, NOBODY);
    claimDataFolder(folder).release();
    vi.spyOn(process, 'getuid').mockReturnValue(1_234);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(() => claimDataFolder(folder)).toThrow(/belongs to another user/);
  });
});
