import type { Services } from '../contract/index.ts';
import type { LanStatus } from '../contract/reach.ts';
import type { Wish } from '../machine/change.ts';
import type { Machine } from '../machine/machine.ts';
import type { ReachedAddress } from '../reach/mapped-hostnames.ts';
import type { Effects } from './dependencies.ts';

export function createMachineServices(options: {
  machine: Machine & { wishFor(hostname: string): Wish };
  /** @throws VivariumError `not_found` for a hostname that is not served. */
  address: (hostname: string) => ReachedAddress;
  effects: Pick<Effects, 'emit'>;
}): Services['machine'] {
  const { machine, address, effects } = options;
  const wishFor = (hostname: string): Wish => machine.wishFor(address(hostname).hostname);

  async function changed<Result>(change: Promise<Result>): Promise<Result> {
    try {
      return await change;
    } finally {
      // Also after a failure: part of the change may have been made.
      effects.emit('machine.changed');
    }
  }

  return {
    plan: ({ hostname }) => machine.plan(wishFor(hostname)),
    apply: ({ hostname, plan }) => changed(machine.apply(wishFor(hostname), plan)),
    async undo(input) {
      const result = await changed(machine.undo({ ids: input?.ids, take: input?.take ?? false }));
      if (result.changes.some(({ kind, state }) => kind === 'trust' && state === 'undone')) effects.emit('ca.changed');
      return result;
    },
    status: () => machine.status(),
    export: () => ({ fileName: 'vivarium-machine-changes.json', text: machine.export() }),
  };
}

export function createLanServices(lan: {
  status(): LanStatus;
  start(wanted: string, keep?: boolean): Promise<void>;
  stop(): Promise<void>;
}): Services['lan'] {
  return {
    status: lan.status,
    async start(input) {
      await lan.start(input?.interface ?? '', input?.keep ?? false);
      return lan.status();
    },
    async stop() {
      await lan.stop();
      return lan.status();
    },
  };
}
