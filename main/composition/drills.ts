import { platformHostname } from '../base/config.ts';
import { originOf } from '../base/text/hostname.ts';
import { ownCommand } from '../base/system/own-command.ts';
import type { Breaks } from '../breaks/breaks.ts';
import type { Services } from '../contract/index.ts';
import { DRILLS } from '../drills/catalogue/index.ts';
import { createDrills, type Drills } from '../drills/drills.ts';
import { createPractice } from '../services/breaks/drill-practice.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Dns } from './dns.ts';
import type { Foundation } from './foundation.ts';

/** The name under which the settings store the running drill and the results. */
const SETTING = 'drills';

export function openDrills(
  { config, clock, log, store, events, onStop }: Foundation,
  {
    breaks,
    services,
    certificates,
    dns,
    dataPlane,
  }: {
    breaks: Breaks;
    services: () => Services;
    certificates: Certificates;
    dns: Pick<Dns, 'listening'>;
    dataPlane: Pick<DataPlane, 'ports'>;
  },
): Drills {
  const { ports } = dataPlane;
  const drills = createDrills({
    clock,
    log,
    storage: {
      read: () => store.settings.get()[SETTING],
      write: (value) => store.settings.set(SETTING, value),
    },
    drills: DRILLS,
    practice: createPractice({
      services,
      breaks,
      addresses: (slug) => ({
        url: `${originOf('http', platformHostname(slug, 'production'), ports.http)}/v1`,
        secureUrl: `${originOf('https', platformHostname(slug, 'production'), ports.https)}/v1`,
        ca: certificates.certificateFile,
        https: String(ports.https),
        dns: String(dns.listening.port),
        command: ownCommand(config.dataDir)('vivarium'),
      }),
    }),
    onChanged: () => events.emit('breaks.changed'),
  });
  onStop(() => drills.close());
  return drills;
}
