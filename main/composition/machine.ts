import { homedir } from 'node:os';
import type { AdjustableClock } from '../base/clock.ts';
import { ownCommand } from '../base/system/own-command.ts';
import { askSystem } from '../base/system/system-names.ts';
import type { RunCommand } from '../ca/stores/run-command.ts';
import { findProgram } from '../ca/stores/machine-stores.ts';
import type { TrustLedger, TrustStores } from '../ca/stores/truststores.ts';
import { codeOf, type Step } from '../machine/change.ts';
import { type Entry, type Ledger, ledgerFolder, openLedger } from '../machine/ledger.ts';
import { mayWrite } from '../machine/look.ts';
import { createMachine, type Machine } from '../machine/machine.ts';

export function openMachineLedger(root: string): Ledger {
  const { platform, env } = process;
  return openLedger({ folder: ledgerFolder({ platform, env, homeDir: homedir() }), platform, root });
}

const trustId = (store: string): string => `trust:${store}`;

export function trustLedger(ledger: Ledger, { dataDir, now }: { dataDir: string; now: () => number }): TrustLedger {
  const isOf = (store: string) => (entry: Entry) => entry.store === store && entry.dataDir === dataDir;
  return {
    note: ({ store, title, apply, undo }) =>
      ledger.alone(() => {
        const steps: Step[] = [{ kind: 'command', path: title, apply, undo, test: null }];
        const parts = { id: trustId(store), steps, afterApply: [], afterUndo: [] };
        const entry: Entry = {
          ...parts,
          kind: 'trust',
          what: `The root: ${title}`,
          at: new Date(now()).toISOString(),
          dataDir,
          code: codeOf(parts),
          store,
        };
        ledger.write([...ledger.read().filter((other) => !isOf(store)(other)), entry]);
      }),
    async forget(store) {
      if (!ledger.read().some(isOf(store))) return;
      await ledger.alone(() => {
        ledger.write(ledger.read().filter((entry) => !isOf(store)(entry)));
      });
    },
  };
}

export interface MachineParts {
  ledger: Ledger;
  root: string;
  dataDir: string;
  clock: Pick<AdjustableClock, 'realTimer' | 'state'>;
  run: RunCommand;
  /** Null without a root in the data folder. */
  stores: Pick<TrustStores, 'list' | 'untrust'> | null;
}

/** The changes of this machine, with a running engine or without one. */
export function openMachine({ ledger, root, dataDir, clock, run, stores }: MachineParts): Machine {
  const { platform, env } = process;
  const hasDesktop = Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
  return createMachine({
    ledger,
    root,
    mayWrite,
    dataDir,
    ownCommand: ownCommand(dataDir),
    rights: {
      platform,
      privileged: process.getuid?.() === 0,
      pkexec: hasDesktop ? findProgram('pkexec', env, platform) : null,
    },
    windowsFolder: env['windir'] ?? 'C:\\Windows',
    now: () => clock.state().realNow,
    run: ({ command, args, explains, asks }) => run({ command, args, explains, asks, needsPassword: false }),
    resolve: async (hostname) => (await askSystem(hostname, clock)).addresses,
    trust: {
      async present() {
        const listed = (await stores?.list()) ?? [];
        const readable = listed.filter(({ state }) => state !== 'unavailable');
        return new Map(readable.map(({ store, present }) => [store, present === true]));
      },
      async untrust(store) {
        if (stores === null) return { isGone: false, message: 'The data folder has no root.' };
        const { state, present, message, command } = await stores.untrust(store);
        return {
          isGone: state !== 'unavailable' && present !== true,
          message,
          ...(command !== undefined && { command }),
        };
      },
    },
  });
}
