import { environmentOutside } from '../base/program.ts';
import { createRunCommand } from '../ca/run-command.ts';
import type { Wish } from '../machine/change.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Dns } from './dns.ts';
import type { Foundation } from './foundation.ts';
import { openMachine } from './machine.ts';
import { type Reach, startCommand } from './reach.ts';

export type EngineMachine = ReturnType<typeof openEngineMachine>;

/** The changes of this machine that lead it to this engine. */
export function openEngineMachine(
  { config, clock, machineRoot }: Foundation,
  parts: { certificates: Certificates; dns: Dns; dataPlane: DataPlane; reach: Pick<Reach, 'proxy'> },
) {
  const { certificates, dns, dataPlane, reach } = parts;
  const machine = openMachine({
    ledger: certificates.ledger,
    root: machineRoot,
    dataDir: config.dataDir,
    clock,
    run: createRunCommand({ clock, environment: environmentOutside(process.env) }),
    stores: certificates.trustStores,
  });
  return {
    ...machine,
    wishFor: (hostname: string): Wish => ({
      hostname,
      zone: dns.zoneOf(hostname)?.zone ?? hostname,
      ports: { ...dataPlane.ports, dns: dns.listening.port },
      pacUrl: reach.proxy().pacUrl,
      start: startCommand(config.dataDir),
    }),
  };
}
