import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { thirdOfToday } from '../../support/third-of-today.ts';
import { applyAll, Crash, crashAt, remainingChanges, machineIn, makeRoot, SET_UPS, treeOf } from './set-ups.ts';

const POINTS = thirdOfToday(Array.from({ length: 21 }, (_, index) => index));
const timeout = { timeout: 180_000 };

/** Makes and undoes all changes; returns how many writes and programs that takes. */
async function sequence(root: string, folder: string, crashes: ReturnType<typeof crashAt>) {
  const { machine, signals } = machineIn(root, folder, crashes);
  const applied = await applyAll(machine);
  // A killed script ends Vivarium, too: the machine lost its power.
  if (signals.killed) throw new Crash();
  const during = treeOf(root);
  const left = remainingChanges(await machine.undo({ take: false }));
  if (signals.killed) throw new Crash();
  return { applied, left, during };
}

const APPLIED: Record<string, string[]> = {
  'systemd-resolved': ['resolver:acme.test applied', 'hosts:shop.acme.test applied', 'ports applied'],
  NetworkManager: ['resolver:acme.test applied', 'hosts:shop.acme.test applied', 'ports applied'],
  neither: ['hosts:shop.acme.test applied', 'ports applied', 'browser:firefox applied', 'browser:chromium applied'],
  NixOS: [],
};

test.runIf(process.platform === 'linux').for(Object.entries(SET_UPS))(
  'on %s, a crash at any point leaves what undo brings back to what was there before',
  timeout,
  async ([name, files]) => {
    const root = makeRoot(files);
    const before = treeOf(root);
    const whole = crashAt(0);
    const { applied, left, during } = await sequence(root, temporaryFolder(), whole);
    expect({ applied, left }).toEqual({ applied: APPLIED[name], left: [] });
    expect(JSON.stringify(during) === JSON.stringify(before)).toBe(name === 'NixOS');
    expect(treeOf(root)).toEqual(before);

    const asBefore = [];
    for (const index of POINTS) {
      const folder = temporaryFolder();
      const point = Math.max(1, Math.ceil((index * whole.count()) / 20));
      await sequence(root, folder, crashAt(point)).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
      });
      const { machine, ledger } = machineIn(root, folder);
      // By hand at every second point: without Vivarium, and without Node.
      if (index % 2 === 1) await machine.undo({ take: false });
      else if (existsSync(ledger.undoScript)) execFileSync('/bin/sh', [ledger.undoScript, '--files'], stubbed());
      asBefore.push([point, JSON.stringify(treeOf(root)) === JSON.stringify(before)]);
      expect(treeOf(root), `after a crash at point ${point}`).toEqual(before);
      expect((await machine.status()).changes.filter(({ state }) => state !== 'pending')).toEqual([]);
    }
    expect(asBefore.filter(([, isSame]) => isSame === true)).toHaveLength(POINTS.length);
  },
);

/** With a systemctl that does nothing. */
const stubbed = () => ({ env: { PATH: crashAt(0).path } });
