import { join } from 'node:path';
import type { SecureContext } from 'node:tls';
import { createApi } from '../api/api.ts';
import { listenAddresses, PLATFORM_ZONE } from '../base/config.ts';
import { loadPageTemplate, type PageTemplate } from '../base/http/answer.ts';
import { createId } from '../base/secret.ts';
import { isWithin } from '../base/text/hostname.ts';
import {
  describeStandingHost,
  renderStandingHost,
  STANDING_HOSTS,
  type StandingHost,
} from '../breaks/standing-hosts.ts';
import { isBrokenHandshake } from '../ca/broken-handshakes.ts';
import { NO_HOSTNAME } from '../ca/leaf.ts';
import type { Fault, FaultSource } from '../model/fault.ts';
import { loadErrorPages } from '../proxy/answer.ts';
import { isLook, type Looks, createLoopback } from '../proxy/front/loopback.ts';
import {
  loopbackPlace,
  octetsAnswer,
  type OwnPath,
  ownPathOf,
  type OwnPaths,
  type OwnPlace,
  refusal,
} from '../proxy/front/own-paths.ts';
import { createInternalTokens } from '../proxy/identify.ts';
import { createProxy } from '../proxy/proxy.ts';
import { createRequestRates, createSeries } from '../traffic/series.ts';
import type { ProviderTarget } from '../proxy/route-table.ts';
import type { TunnelOptions } from '../proxy/tunnels/tunnel.ts';
import { createLimiter } from '../ratelimit/limiter.ts';
import type { ListenerPorts } from '../services/projects/projects.ts';
import { createRecorder } from '../traffic/recorder.ts';
import type { Certificates } from './certificates.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';

export type DataPlane = Awaited<ReturnType<typeof startDataPlane>>;

interface Leaves {
  platform: Certificates['platformLeaves'];
  domains: Domains['leaves'];
  broken: Certificates['brokenHandshake'];
}

/** The addresses of Vivarium's listeners: loopback, and the interface for other devices. */
function ownPlaces(resourcesDir: string, ownPaths: OwnPaths, leaves: Leaves) {
  const standing = openStandingHosts(resourcesDir);
  const places = new Set([loopbackPlace(ownPaths, standing)]);
  const isServerName = (hostname: string): boolean => [...places].some(({ serverNames }) => serverNames.has(hostname));
  const contextFor = (hostname: string | null): SecureContext | null =>
    hostname === null || isWithin(hostname, PLATFORM_ZONE) || isServerName(hostname)
      ? leaves.platform.contextFor(hostname ?? NO_HOSTNAME)
      : leaves.domains.contextFor(hostname);
  return {
    standing,
    places,
    isOwn: (hostname: string | null, target: string): boolean =>
      hostname !== null && [...places].some((place) => ownPathOf(place, hostname, target) !== undefined),
    contextFor,
    /** The handshake of a hostname that is always broken, or that a fault breaks. */
    brokenFor(hostname: string | null, fault: Pick<Fault, 'entry'> | null) {
      const host = hostname === null ? undefined : STANDING_HOSTS.get(hostname);
      if (host !== undefined) return leaves.broken(host.entry.id, host.hostname);
      // A hostname without a certificate is refused in any case.
      if (fault === null || !isBrokenHandshake(fault.entry) || contextFor(hostname) === null) return null;
      return leaves.broken(fault.entry, hostname ?? PLATFORM_ZONE);
    },
  };
}

/** The request path: listeners, the proxy's stages, the limiter, the built-in API. */
export async function startDataPlane(
  { config, resourcesDir, clock, log, store, events, settings, onStop }: Foundation,
  leaves: Leaves,
  whyUnserved: Domains['whyUnserved'],
  looks: Pick<Looks, 'answer'>,
  ownPaths: OwnPaths,
  faults: FaultSource,
  providers: { target: ProviderTarget; placeOf: TunnelOptions['providerPlace'] },
) {
  const limiter = createLimiter({
    clock,
    storage: store.limits,
    withDraftFields: () => settings.current().rateLimitFields,
    banRule: () => settings.inForce().ban,
    onBan: ({ projectId }) => events.emit('limits.changed', { projectId }),
    onError: (error) => log.error('Could not write the rate counters; Vivarium will try again', { error }),
  });
  onStop(() => limiter.stop());
  store.snapshots.onRestored(() => limiter.reload());

  const api = createApi({ clock, log, pets: store.pets, orders: store.orders, cors: () => settings.current().cors });
  onStop(() => api.close());

  // The pseudonym in `Via`.
  const pseudonym = createId('vivarium');
  const internalTokens = createInternalTokens();
  const counts = { requests: 0, refused: 0 };
  const rates = createRequestRates(clock);
  const recorder = createRecorder(clock, { onChanged: () => events.emit('traffic.changed') });
  onStop(() => recorder.close());
  const series = createSeries(clock);
  const { standing, places, isOwn, contextFor, brokenFor } = ownPlaces(resourcesDir, ownPaths, leaves);
  const proxy = createProxy({
    clock,
    log,
    limiter,
    internalTokens,
    pseudonym,
    onArrival({ projectId, target }, decision) {
      const refused = decision !== null && decision.refusal !== null;
      // As in the series.
      rates.count(target.kind === 'provider' ? null : projectId, refused);
      if (decision !== null) events.emit('limits.changed', { projectId });
    },
    targets: { api, provider: providers.target },
    providerPlace: providers.placeOf,
    isTimed: () => settings.current().serverTiming,
    recording() {
      const { record, bodies } = settings.current().traffic;
      return record ? (bodies ? 'bodies' : 'heads') : 'off';
    },
    // `OPTIONS *` addresses the server itself, not a project (RFC 9110 §9.3.7); the doctor sends it. Looks and files
    // are ours.
    onExchange(summary) {
      if (summary.target === '*' || isLook(summary.target)) return;
      if (isOwn(summary.hostname, summary.target)) return;
      // As the series and Traffic do, also without a project.
      counts.requests++;
      if (summary.decision?.refusal) counts.refused++;
      events.emit('status.changed');
      series.count(summary);
      recorder.take(summary);
    },
    contextFor,
    brokenFor,
    trustedProxies: () => settings.current().trustedProxies,
    whyUnserved,
    looks,
    ownPaths,
    faults,
    realNow: () => clock.state().realNow,
    ownSites: standing,
    defaultHostname: PLATFORM_ZONE,
    pages: loadErrorPages(join(resourcesDir, 'pages')),
  });
  onStop((drainMs) => proxy.stop(drainMs));
  const { httpPort, httpsPort } = config;
  const listeners = await proxy.start({ httpPort, httpsPort, addresses: listenAddresses(config) });
  const ports: ListenerPorts = { http: listeners.http.port, https: listeners.https.port };

  return {
    api,
    limiter,
    rates,
    recorder,
    series,
    ports,
    internalTokens,
    pseudonym,
    loopback: createLoopback({ clock, ports }),
    addresses: { http: listeners.http.addresses, https: listeners.https.addresses },
    warnings: listeners.warnings,
    publish: (snapshot: Parameters<typeof proxy.publish>[0]) => proxy.publish(snapshot),
    /** Serves on another address too, until the returned function is called. @throws as `serveOn` of the listeners. */
    async serveOn(address: string, place: OwnPlace): Promise<() => Promise<void>> {
      const close = await proxy.serveOn(address, place);
      places.add(place);
      return async () => {
        places.delete(place);
        await close();
      };
    },
    /** Cuts what is open at a place. */
    cut: proxy.cut,
    inProgress: proxy.inProgress,
    running: () => proxy.running(),
    counts: () => ({ ...counts, connections: proxy.connections() }),
  };
}

/** The responses of the hostnames that are always broken, by hostname. Nothing is read before the first request. */
export function openStandingHosts(resourcesDir: string): ReadonlyMap<string, OwnPath> {
  let template: PageTemplate | null = null;
  const answerOf =
    (host: StandingHost): OwnPath =>
    ({ method, headers }, answer) => {
      if (method !== 'GET' && method !== 'HEAD') return answer(refusal(405, 'Use GET.', ['Allow', 'GET, HEAD']));
      if (headers.accept?.includes('text/html') !== true) {
        const text = Buffer.from(describeStandingHost(host));
        return answer(octetsAnswer(200, 'text/plain; charset=utf-8', text, UNCACHED));
      }
      template ??= loadPageTemplate(join(resourcesDir, 'pages'));
      const page = Buffer.from(template.render(renderStandingHost(host)));
      const policy = ['Content-Security-Policy', template.contentSecurityPolicy, ...UNCACHED];
      answer(octetsAnswer(200, 'text/html; charset=utf-8', page, policy));
    };
  return new Map([...STANDING_HOSTS].map(([hostname, host]) => [hostname, answerOf(host)]));
}

const UNCACHED = ['Cache-Control', 'no-store'];
