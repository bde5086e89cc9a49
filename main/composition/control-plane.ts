import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  CNAME_TARGET,
  EVERY_ADDRESS,
  listenAddresses,
  PLATFORM_ZONE,
  RUNTIME_FILE,
  type RuntimeFile,
  VERSION,
} from '../base/config.ts';
import { loadControlToken, renewControlToken } from '../base/secret.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import { commandAnywhere } from '../base/system/own-command.ts';
import { formatOffset } from '../contract/duration.ts';
import type { StatusReport } from '../contract/status.ts';
import { boundConnections, readOpenFilesMax } from '../proxy/front/proxy-limits.ts';
import { countHops } from '../proxy/forwarded.ts';
import { createAccess } from '../rpc/access.ts';
import type { ControlRouter } from '../rpc/router.ts';
import { CONTROL_CONNECTIONS_MAX, createControlServer } from '../rpc/server.ts';
import { SCHEMA_FILE, worldSchema } from '../world/schema.ts';
import type { Acme } from './acme.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';
import type { Lan } from './lan.ts';
import { PAC_PATH, type Reach } from './reach.ts';

/** The schema with which editors complete and check a `vivarium.yaml`. */
const SCHEMA = {
  contentType: 'application/schema+json; charset=utf-8',
  read: () => Buffer.from(JSON.stringify(worldSchema())),
};

export async function startControl(
  { config, stateDir, clock, log, onStop, onStopRequest }: Foundation,
  parts: {
    router: ControlRouter;
    certificates: Certificates;
    dataPlane: DataPlane;
    reach: Reach;
    assetsDir: string | null;
  },
) {
  const { router, certificates, dataPlane, reach, assetsDir } = parts;
  const tokenFile = join(stateDir, 'control-token');
  const token = loadControlToken(tokenFile);
  const access = createAccess(token, () => clock.state().realNow);
  // Beside the half of the descriptors that the data plane may use: a quarter for both addresses.
  const openFilesMax = readOpenFilesMax();
  const connectionsMax = boundConnections(CONTROL_CONNECTIONS_MAX, openFilesMax === null ? null : openFilesMax / 4);
  const server = createControlServer({
    connectionsMax,
    clock,
    log,
    router,
    access,
    port: config.controlPort,
    addresses: listenAddresses(config),
    isForwarded: (via) => countHops(via, dataPlane.pseudonym) > 0,
    assetsDir,
    openFiles: new Map([...certificates.openFiles, [PAC_PATH, reach.pacFile], [`/${SCHEMA_FILE}`, SCHEMA]]),
    requestStop: onStopRequest ?? (() => void process.emit('SIGTERM', 'SIGTERM')),
    version: VERSION,
  });
  onStop((drainMs) => server.stop(drainMs));
  const { port, url, warnings } = await server.start();
  let onRenewed = (): void => undefined;
  const control = {
    token,
    port,
    url,
    warnings,
    ready: () => server.ready(),
    signInLink: (lifetimeMs?: number) => url + server.signInPath(lifetimeMs),
    onTokenRenewed(listener: () => void): void {
      onRenewed = listener;
    },
    /** Creates a new token, and signs out all users of the old one. */
    renewToken(): void {
      control.token = renewControlToken(tokenFile);
      onRenewed();
      access.replace(control.token);
      server.signOutAll();
    },
  };
  return control;
}

/** Writes the runtime file that scripts read, for as long as this Vivarium runs, and answers `/healthz` with 200. */
export function announce(
  { config, inFolder, onStop }: Foundation,
  parts: {
    certificates: Certificates;
    dns: Dns;
    dataPlane: DataPlane;
    reach: Reach;
    acme: Pick<Acme, 'directoryUrl'>;
    control: Awaited<ReturnType<typeof startControl>>;
  },
): RuntimeFile {
  const { certificates, dns, dataPlane, reach, acme, control } = parts;
  const { url, pacUrl, dohUrl } = reach.proxy();
  const runtime: RuntimeFile = {
    pid: process.pid,
    dataDir: config.dataDir,
    version: VERSION,
    http: { port: dataPlane.ports.http },
    https: { port: dataPlane.ports.https },
    dns: { port: dns.listening.port },
    control: { url: control.url, token: control.token },
    proxy: { url, pacUrl },
    doh: { url: dohUrl },
    acme: { directoryUrl: acme.directoryUrl() },
    platformZone: PLATFORM_ZONE,
    cnameTarget: CNAME_TARGET,
    caFile: certificates.certificateFile,
  };
  const write = () => writeFileAtomically(inFolder(RUNTIME_FILE), `${JSON.stringify(runtime, null, 2)}\n`, OWNER_ONLY);
  write();
  control.onTokenRenewed(() => {
    runtime.control.token = control.token;
    write();
  });
  onStop(() => rmSync(inFolder(RUNTIME_FILE), { force: true }));
  control.ready();
  return runtime;
}

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
  const command = commandAnywhere(config.dataDir);
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
