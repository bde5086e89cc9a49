import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBackups, isWhole } from '../../../../main/store/copies/backups.ts';
import { restoreFolder } from '../../../../main/store/copies/folder-backup.ts';
import type { SnapshotTarget } from '../../../../main/store/copies/snapshots.ts';
import { claimDataFolder } from '../../../../main/store/data-folder.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../../support/fake-clock.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { HERE, pet } from '../../../unit/store/parts.ts';
import { atEachStep, type Killed, killedAtEachStep } from '../at-each-step.ts';
import { openFile, takeBackup } from '../files.ts';
import { backUp, databaseOf, dataFolder, keptBy, keptIn } from './data-folders.ts';

const CHILD = join(import.meta.dirname, '..', 'killed-child.ts');

const target = (more: Partial<SnapshotTarget> = {}): SnapshotTarget => ({
  name: 'demo',
  createdAtMs: FAKE_NOW_MS,
  root: 'aa11',
  file: null,
  force: true,
  demoKey: null,
  traffic: null,
  ...more,
});

/** The outcomes of all steps: the old content before one step, the new one from it on. Returns the step. */
function expectOneTurn(
  killed: readonly Killed[],
  outcomes: readonly unknown[],
  [before, after]: readonly [unknown, unknown],
): number {
  const turned = outcomes.indexOf(after);
  expect(turned).toBeGreaterThan(0);
  expect(outcomes).toEqual(outcomes.map((_, index) => (index < turned ? before : after)));
  return killed[turned]?.step ?? 0;
}

function copyOf(folder: string): string {
  const copy = join(temporaryFolder(), 'copy');
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Kills a process that works on a copy of `folder`, and returns the copy. */
function kill(kind: string, folder: string, file: string, step: number): string {
  const copy = copyOf(folder);
  const own = file.startsWith(folder) ? join(copy, file.slice(folder.length)) : file;
  const child = spawnSync(process.execPath, [CHILD, kind, copy, own, String(step)], { encoding: 'utf8' });
  expect([child.stderr, child.signal]).toEqual(['', 'SIGKILL']);
  return copy;
}

/** The result of a start after an interrupted restoration: the previous content or the new one, complete. */
function afterRestoring(folder: string): 'as before' | 'restored' {
  claimDataFolder(folder).release();
  const kept = keptIn(folder);
  const isNew = kept['pets'] === 3;
  expect(kept).toEqual(isNew ? keptBy('Old', 3) : keptBy('New', 7));
  if (isNew) expect(keptIn(join(folder, 'backups', 'set-aside-1'))).toEqual(keptBy('New', 7));
  expect(existsSync(join(folder, 'restore'))).toBe(false);
  return isNew ? 'restored' : 'as before';
}

describe('a kill at any step', () => {
  it('of the restoration of a backup leaves the old content or, at the next start, the new one', async () => {
    const file = await backUp(await dataFolder('Old', 3));
    const folder = await dataFolder('New', 7);
    const original = copyOf(folder);
    const killed = await killedAtEachStep(folder, () => restoreFolder(folder, file));
    const outcomes = killed.map(({ copy }) => afterRestoring(copy));
    const turned = expectOneTurn(killed, outcomes, ['as before', 'restored']);
    expect(killed.length).toBeGreaterThan(20);
    expect(afterRestoring(kill('restore', original, file, turned - 1))).toBe('as before');
    expect(afterRestoring(kill('restore', original, file, turned + 4))).toBe('restored');
  });

  it('of the completion of a restoration leaves it to the start after that', async () => {
    const file = await backUp(await dataFolder('Old', 3));
    const folder = await dataFolder('New', 7);
    const restoring = await killedAtEachStep(folder, () => restoreFolder(folder, file));
    const committed = restoring.find(({ copy }) => existsSync(join(copy, 'restore', 'plan.json')))?.copy ?? '';
    const killed = await killedAtEachStep(committed, () => claimDataFolder(committed).release());
    expect(killed.map(({ copy }) => afterRestoring(copy))).toEqual(killed.map(() => 'restored'));
  });

  it('of writing a backup leaves the older file or the new one, and the next one removes what it left', async () => {
    const folder = await dataFolder('Old', 3);
    const file = join(folder, 'mine', 'backup');
    mkdirSync(dirname(file));
    await backUp(folder, file);
    const original = copyOf(folder);
    const store = openFile(databaseOf(folder));
    store.pets.insert(HERE, pet('later'));
    const killed = await killedAtEachStep(folder, () => store.backUpTo({ file, force: true }));
    store.close();
    const petsAfter = async (copy: string): Promise<unknown> => {
      const written = join(copy, 'mine', 'backup');
      const restored = join(temporaryFolder(), 'restored');
      claimDataFolder(restored).release();
      restoreFolder(restored, written);
      await backUp(copy, written, true);
      expect(readdirSync(dirname(written))).toEqual(['backup']);
      return keptIn(restored)['pets'];
    };
    const outcomes: unknown[] = [];
    for (const { copy } of killed) outcomes.push(await petsAfter(copy));
    const turned = expectOneTurn(killed, outcomes, [3, 4]);
    expect(await petsAfter(kill('backup', original, join(original, 'mine', 'backup'), Math.floor(turned / 2)))).toBe(3);
  });

  it('of saving a snapshot leaves the older one or the new one, and the next start removes the rest', async () => {
    const folder = await dataFolder('Old', 3);
    const store = openFile(databaseOf(folder));
    await store.snapshots.save(target());
    store.pets.insert(HERE, pet('later'));
    const killed = await killedAtEachStep(folder, () => store.snapshots.save(target({ createdAtMs: 8 })));
    const outcomes: unknown[] = [];
    for (const { copy } of killed) {
      const after = openFile(databaseOf(copy));
      expect(readdirSync(join(copy, 'snapshots'))).toEqual(['snapshot-demo.db']);
      const snapshot = await after.snapshots.open({ name: 'demo' });
      after.snapshots.restore(snapshot, snapshot);
      outcomes.push(`${after.pets.count(HERE, null)} pets of ${snapshot.createdAtMs}`);
      after.close();
    }
    expectOneTurn(killed, outcomes, [`3 pets of ${FAKE_NOW_MS}`, '4 pets of 8']);
  });

  it('of restoring a snapshot leaves the old content or the new one, and the next start removes its files', async () => {
    const old = await dataFolder('Old', 3);
    const file = join(temporaryFolder(), 'demo.vivarium');
    const oldStore = openFile(databaseOf(old));
    await oldStore.snapshots.save(target({ file }));
    oldStore.close();
    const folder = await dataFolder('New', 7);
    const original = copyOf(folder);
    const store = openFile(databaseOf(folder));
    const killed = await killedAtEachStep(folder, async () => {
      const snapshot = await store.snapshots.open({ file });
      store.snapshots.restore(snapshot, snapshot);
      snapshot.close();
    });
    const petsAfter = (copy: string): unknown => {
      const after = openFile(databaseOf(copy));
      const snapshots = join(copy, 'snapshots');
      expect(existsSync(snapshots) ? readdirSync(snapshots) : []).toEqual([]);
      const pets = after.pets.count(HERE, null);
      expect(after.pets.insert(HERE, pet('next')).id).toBe(BigInt(pets) + 1n);
      after.close();
      return pets;
    };
    const outcomes = killed.map(({ copy }) => petsAfter(copy));
    const turned = expectOneTurn(killed, outcomes, [7, 3]);
    expect(turned).toBeGreaterThan(60);
    expect(petsAfter(kill('snapshot', original, file, turned - 4))).toBe(7);
  });

  it('of the backup before a migration keeps the earlier backups, and the next backup removes what it left', async () => {
    const folder = await dataFolder('Old', 3);
    const file = databaseOf(folder);
    const first = basename(takeBackup(file));
    const killed = await killedAtEachStep(folder, () => takeBackup(file));
    for (const { copy } of killed) {
      const backups = createBackups(databaseOf(copy), createFakeClock());
      expect(backups.list().map(({ path }) => basename(path))).toContain(first);
      expect(backups.list().every(({ path }) => isWhole(path))).toBe(true);
      takeBackup(databaseOf(copy));
      expect(readdirSync(join(copy, 'backups')).filter((name) => !name.endsWith('.db'))).toEqual([]);
    }
  });
});

it.each([
  ['before the switch', 30, 'Nothing was changed.', 'as before'],
  ['after it', -3, 'The next start completes it.', 'restored'],
] as const)('an error of the disk %s of a restoration says what becomes of it', async (_when, from, says, outcome) => {
  const file = await backUp(await dataFolder('Old', 3));
  const folder = await dataFolder('New', 7);
  const copy = copyOf(folder);
  let steps = 0;
  await atEachStep(
    () => restoreFolder(copy, file),
    (step) => (steps = step),
  );
  const failing = atEachStep(
    () => restoreFolder(folder, file),
    (step) => {
      if (step === (from < 0 ? steps + from : from)) throw Object.assign(new Error('a fault'), { code: 'EIO' });
    },
  );
  await expect(failing).rejects.toThrow(says);
  expect(afterRestoring(folder)).toBe(outcome);
});
