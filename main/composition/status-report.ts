import { EVERY_ADDRESS, PLATFORM_ZONE } from '../base/config.ts';
import { formatOffset } from '../contract/duration.ts';
import { VERSION } from '../base/version.ts';
import { typed } from '../base/system/own-command.ts';
import type { StatusReport } from '../contract/status.ts';
import type { DataPlane } from './data-plane.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';
import type { Lan } from './lan.ts';

export interface ReportedParts {
  dns: Dns;
  domains: Domains;
  dataPlane: DataPlane;
  lan: Lan;
  control: { url: string; port: number; warnings: readonly string[] };
}

/** Addresses, counts, and warnings for the user. */
export function reportStatus(
  { config, clock, store }: Foundation,
  { dns, domains, dataPlane, lan, control }: ReportedParts,
): StatusReport {
  const { ports } = dataPlane;
  const [devices, lanWarning] = [lan.url(), lan.warning()];
  const command = typed('vivarium');
  const listenerWarnings = new Set([...dataPlane.warnings, ...dns.listening.warnings, ...control.warnings]);
  const clockWarning = describeClock(clock.state());
  return {
    version: VERSION,
    ...(command !== 'vivarium' && { command }),
    platformZone: PLATFORM_ZONE,
    dataDir: config.dataDir,
    ports: { ...ports, dns: dns.listening.port, control: control.port },
    urls: {
      control: control.url,
      http: `http://127.0.0.1:${ports.http}`,
      https: `https://127.0.0.1:${ports.https}`,
      ...(devices !== null && { devices }),
    },
    counts: {
      projects: store.projects.count(),
      keys: store.keys.count(),
      domains: domains.lifecycle.list().length,
      pets: store.pets.total(),
      ...dataPlane.counts(),
    },
    warnings: [
      ...store.warnings,
      ...(config.host === undefined ? [] : [EVERYWHERE_WARNING]),
      ...listenerWarnings,
      ...[lanWarning, clockWarning ?? null].filter((warning) => warning !== null),
    ],
    ...(clockWarning !== undefined && { clockWarning }),
  };
}

const EVERYWHERE_WARNING =
  `Vivarium listens on every address (--host ${EVERY_ADDRESS}), which is for containers: publish its ports on ` +
  '127.0.0.1 of the host only. The interface needs the token; the API, the proxy and DNS answer every client that reaches them.';

function describeClock({ offsetMs, frozen }: { offsetMs: number; frozen: boolean }): string | undefined {
  if (offsetMs === 0 && !frozen) return undefined;
  const distance = offsetMs === 0 ? 'at' : `${formatOffset(offsetMs)}${offsetMs < 0 ? '' : ' of'}`;
  return `The app’s clock is ${frozen ? 'frozen, ' : ''}${distance} the real time. Reset the clock to return to it.`;
}
