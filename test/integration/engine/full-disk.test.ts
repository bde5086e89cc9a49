import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startEngine } from '../../support/engine.ts';
import { hasSmallDisks, onSmallDisk } from '../../support/small-disk.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const CHILD = join(import.meta.dirname, 'full-disk-child.ts');

/** It changes counters in memory, which are stored later. */
const UNSTORED = 'limits.reset';

it.runIf(hasSmallDisks)(
  'on a full disk no call fails with 500, none is done by half, and the clock stays',
  async () => {
    const folder = temporaryFolder();
    const within = onSmallDisk(folder, '12m');
    const { stdout } = await promisify(execFile)(within[0] ?? '', [
      ...within.slice(1),
      process.execPath,
      CHILD,
      folder,
    ]);
    const { before, after, outcomes, healed } = JSON.parse(stdout) as {
      before: object;
      after: object;
      outcomes: { procedure: string; status: number; message: string }[];
      healed: number[];
    };
    expect(outcomes.length).toBeGreaterThan(25);
    for (const { procedure, status, message } of outcomes) {
      const isRefused = procedure !== UNSTORED;
      expect([procedure, status, message]).toEqual([
        procedure,
        isRefused ? 503 : 200,
        isRefused ? expect.stringMatching(/disk (?:that holds .* )?is full/) : '',
      ]);
    }
    expect(after).toEqual(before);
    expect(healed).toEqual([200, 200, 200, 200, 200]);
  },
);

it('a file of the data folder that can not be written is named with 503', async () => {
  const engine = await startEngine({ empty: true });
  const refused = (what: string) => ({ code: 'unavailable', message: expect.stringContaining(what) as string });
  writeFileSync(join(engine.dataDir, 'snapshots'), '');
  await expect(engine.call('snapshots.save', { name: 'one' })).rejects.toMatchObject(refused('/snapshots'));
  rmSync(join(engine.dataDir, 'control-token'));
  mkdirSync(join(engine.dataDir, 'control-token'));
  await expect(engine.call('access.renewToken')).rejects.toMatchObject(refused('it is a folder'));
  expect(await engine.call('status.get')).toBeDefined();
});
