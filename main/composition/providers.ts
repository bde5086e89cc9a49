import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContexts } from '../base/secure-contexts.ts';
import { PROVIDER_CONNECTIONS_FILE, PROVIDERS_FOLDER } from '../base/system/data-folder.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import { ownCommand } from '../base/system/own-command.ts';
import { originOf } from '../base/text/hostname.ts';
import { createRunLeaves } from '../ca/leaf.ts';
import type { Services } from '../contract/index.ts';
import { PROVIDERS } from '../contract/provider-table.ts';
import type { Leaf } from '../model/leaf.ts';
import { providerRoute } from '../model/route.ts';
import { forgetRequest } from '../proxy/capture.ts';
import { buildRouteTable } from '../proxy/route-table.ts';
import type { ProviderPlace } from '../proxy/tunnels/tunnel.ts';
import { accountOf, createProviderConnections, type ProviderConnection } from '../providers/connections.ts';
import { EMULATED } from '../providers/emulated.ts';
import { createProviderEndpoint } from '../providers/endpoint.ts';
import { createLimiter } from '../ratelimit/limiter.ts';
import { providerWorld } from '../services/providers.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';

export type Providers = ReturnType<typeof openProviders>;

interface ProviderParts {
  certificates: Certificates;
  domains: Domains;
  publish: () => void;
  services: () => Services;
  dataPlane: () => DataPlane;
}

/** The emulated APIs of providers: their connections, and what their operations read and change. */
export function openProviders({ config, stateDir, clock, log, store, onStop }: Foundation, parts: ProviderParts) {
  const { certificates, domains, publish, services, dataPlane } = parts;
  const { projects, providerItems: items } = store;
  const realNow = () => clock.state().realNow;
  const connections = createProviderConnections({ file: join(stateDir, PROVIDER_CONNECTIONS_FILE), realNow });
  // In memory, apart from the limits of projects: these are the provider’s, and no plan has them.
  const storage = { load: () => [], save: () => undefined, remove: () => undefined };
  const limiter = createLimiter({ clock, storage, banRule: () => ({ afterRefusals: Infinity, durationMs: 0 }) });
  // Those of the last start are left behind by a killed engine.
  const folder = join(stateDir, PROVIDERS_FOLDER);
  const removeRoots = () => rmSync(folder, { recursive: true, force: true });
  const caFileOf = ({ id }: ProviderConnection) => join(folder, `${id}.pem`);
  const places = new Map<string, ProviderPlace>();
  /** Makes the listener of a connection, and the file with its root and Vivarium's own. */
  function openPlace(connection: ProviderConnection): { caFile: string } {
    const { place, rootPem } = makePlace(connection, clock);
    const caFile = caFileOf(connection);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileAtomically(caFile, `${rootPem}${readFileSync(certificates.certificateFile, 'utf8')}`, OWNER_ONLY);
    places.set(connection.id, place);
    return { caFile };
  }
  removeRoots();
  for (const kept of connections.list()) openPlace(kept);
  onStop(() => {
    limiter.stop();
    removeRoots();
  });
  const account = (projectIds: readonly string[]) => accountOf(projectIds, projects.get);
  const target = createProviderEndpoint({
    ...{ connections, limiter, log, forgetRequest },
    accountOf: ({ projectIds }) => account(projectIds),
    command: ownCommand(config.dataDir),
    world: (provider) =>
      providerWorld(provider, { clock, lifecycle: domains.lifecycle, projects, items, services: services() }),
    times: () => clock.state(),
  });

  function close(connection: ProviderConnection): void {
    const place = places.get(connection.id);
    connections.close(connection.id);
    places.delete(connection.id);
    rmSync(caFileOf(connection), { force: true });
    publish();
    if (place !== undefined) dataPlane().cut(place.own);
  }

  return {
    target,
    /** Where CONNECT with these credentials leads; null if they are for no provider. */
    placeOf(authorization: string | undefined, address: string): ProviderPlace | 'refused' | null {
      const connection = connections.ofProxy(authorization, address);
      return connection === null || connection === 'refused' ? connection : (places.get(connection.id) ?? 'refused');
    },
    ...{ connections, emulated: EMULATED, accountOf: account, ask: target.ask, openPlace, close, publish },
    httpPort: () => dataPlane().ports.http,
    baseUrlOf: (hostname: string): string => originOf('https', hostname, dataPlane().ports.https),
    /** Closes the connections of a run whose process has ended. */
    processEnded(pid: number): void {
      for (const connection of connections.list()) if (connection.pid === pid) close(connection);
    },
  };
}

/** A listener of its own: only the provider’s hosts, with the leaves of one connection. */
function makePlace({ provider }: ProviderConnection, clock: Foundation['clock']) {
  const { hosts } = PROVIDERS[provider];
  const leaves = createRunLeaves(hosts, clock.state().realNow);
  const routes = hosts.map((host) => providerRoute(host, provider));
  const isServed = (hostname: string): boolean => hosts.some((each) => each === hostname);
  const table = buildRouteTable({ routes, redirects: new Map(), apiKeys: new Map() }).within(isServed);
  const contexts = createSecureContexts<Leaf>({ clock, contextsMax: 1 });
  const place: ProviderPlace = {
    own: { hosts: new Set(), serverNames: new Set(), paths: new Map(), sites: new Map() },
    table: () => table,
    contextFor(hostname) {
      const leaf = hostname !== null && table.knows(hostname) ? leaves.leafAt(clock.state().realNow) : null;
      return leaf === null ? null : contexts.contextFor(provider, leaf);
    },
  };
  return { place, rootPem: leaves.rootPem };
}
