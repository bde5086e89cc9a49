import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { type Config, DEVICE_HOSTNAME, DOH_PATH } from '../base/config.ts';
import { loadPageTemplate } from '../base/http/answer.ts';
import { DEFAULT_SUFFIXES } from '../contract/hostnames.ts';
import { createDeviceZones, isForDevices, type DeviceZones, createSenderLimit } from '../dns/zones/own-zones.ts';
import { createDoh } from '../dns/server/doh.ts';
import { announceHost, type Announcer } from '../dns/multicast/multicast.ts';
import { createDnsServer } from '../dns/server/server.ts';
import { serviceRecord } from '../dns/wire/service-parameters.ts';
import {
  DEVICE_PAC_PATH,
  PROFILE_PATH,
  renderDevicePage,
  ROOT_PATH,
  PROFILE_CONTENT_TYPE,
  profileDomains,
  renderProfile,
} from '../lan/device-page.ts';
import { choicesOf, type Place } from '../lan/interfaces.ts';
import {
  describeLan,
  hostOf,
  originAt,
  pageUrl,
  waitingWarning,
  wantedIn,
  createSwitch,
  type Serving,
} from '../lan/switch.ts';
import { ownFile, type OwnPlace } from '../proxy/front/own-paths.ts';
import { PAC_CONTENT_TYPE, renderPac } from '../reach/mapped-hostnames.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import { type Dns, dohPath } from './dns.ts';
import type { Foundation } from './foundation.ts';

export type Lan = ReturnType<typeof openLan>;

/** The stored name of the interface that is served at every start. */
const KEPT_SETTING = 'lanKept';

/** The name for `.local`, with a number where another machine has it. */
const MULTICAST_LABEL = 'vivarium';

interface Served extends Serving {
  zones: DeviceZones;
  announcer: Announcer;
}

interface LanParts {
  certificates: Certificates;
  dns: Dns;
  dataPlane: DataPlane;
  /** Whether HTTPS is served at a hostname. */
  isSecure: (hostname: string) => boolean;
}

/**
 * Serves the hostnames to other devices on one interface while switched on: the proxy's ports, DNS for those hostnames
 * only, and a setup page. The control port is not served.
 */
export function openLan(foundation: Foundation, parts: LanParts) {
  const { clock, log, store, events, onStop } = foundation;
  let routes: readonly { hostname: string }[] = [];
  let known: readonly string[] | null = null;
  let isEnding = false;
  // On first use: a publish must stay cheap if only this machine is served.
  const hostnames = (): readonly string[] =>
    (known ??= routes.flatMap(({ hostname }) => (isForDevices(hostname) ? [hostname] : [])).sort());
  const changed = (): void => {
    events.emit('lan.changed');
    events.emit('status.changed');
  };
  const open = openPlaces(foundation, parts, { hostnames, changed, isEnding: () => isEnding });
  const lanSwitch = createSwitch<Served>({
    clock,
    log,
    readInterfaces: networkInterfaces,
    open,
    kept: {
      get: () => wantedInterface.parse(store.settings.get()[KEPT_SETTING]),
      set: (wanted) => store.settings.set(KEPT_SETTING, wanted),
    },
    onChanged: changed,
  });
  onStop(() => {
    isEnding = true;
    return lanSwitch.close();
  });
  const httpPort = parts.dataPlane.ports.http;

  return {
    start: lanSwitch.start,
    /** Serves what the start asks for, or what was kept; `lanWaits`: a missing interface is waited for. */
    begin: ({ lan, lanWaits = false }: Pick<Config, 'lan' | 'lanWaits'>) =>
      lan === undefined || lanWaits ? lanSwitch.resume(lan) : lanSwitch.start(lan),
    stop: lanSwitch.stop,
    /** Sets the hostnames that devices are served, and their DNS answers. */
    publish(snapshot: { routes: readonly { hostname: string }[] }): void {
      routes = snapshot.routes;
      known = null;
      const state = lanSwitch.state();
      if (state.kind === 'on') state.serving.zones.publish(hostnames());
    },
    /** The page for other devices; null while switched off. */
    url: () => pageUrl(lanSwitch.state(), httpPort),
    /** The interface or address that is served, or waited for. */
    wanted: () => wantedIn(lanSwitch.state()),
    /** Why other devices are not served although they should be; null otherwise. */
    warning: () => waitingWarning(lanSwitch.state()),
    status: () =>
      describeLan(lanSwitch.state(), {
        keep: lanSwitch.isKept(),
        choices: choicesOf(networkInterfaces()),
        hostnames: hostnames(),
        ports: { http: httpPort, dns: parts.dns.listening.port },
      }),
  };
}

const wantedInterface = z.string().nullable().catch(null);

/** Opens the listeners for devices at one address: DNS, and the proxy with the pages of this address. */
function openPlaces(
  { resourcesDir, clock, log, settings }: Foundation,
  { certificates, dns, dataPlane, isSecure }: LanParts,
  served: { hostnames: () => readonly string[]; changed: () => void; isEnding: () => boolean },
) {
  const { ports } = dataPlane;
  const { hostnames } = served;
  const pages = loadPageTemplate(join(resourcesDir, 'pages'));
  const rootDer = (): Buffer => new X509Certificate(certificates.root.describe().pem).raw;

  function pageAt(address: string): Buffer {
    const { fingerprint } = certificates.root.describe();
    const origin = originAt(address, ports.http);
    return Buffer.from(
      pages.render(renderDevicePage({ origin, ports, hostnames: hostnames(), isSecure, fingerprint })),
    );
  }

  function profileFor(address: string): Buffer {
    const { fingerprint, permittedSuffixes } = certificates.root.describe();
    const dohUrl = `https://${DEVICE_HOSTNAME}:${ports.https}${DOH_PATH}`;
    const suffixes = DEFAULT_SUFFIXES.filter((suffix) => permittedSuffixes.includes(suffix) && isForDevices(suffix));
    const domains = profileDomains(suffixes, hostnames());
    return Buffer.from(renderProfile({ certificate: rootDer(), fingerprint, dohUrl, address, domains }));
  }

  /** What the proxy answers at `address` itself. */
  function filesAt(address: string, answer: ReturnType<typeof createDoh>): OwnPlace['paths'] {
    const pageHeaders = ['Content-Security-Policy', pages.contentSecurityPolicy, 'Cache-Control', 'no-store'];
    const file = (contentType: string, read: () => Buffer, headers: readonly string[] = []) =>
      ownFile({ contentType, read, headers });
    const proxy = `${hostOf(address)}:${ports.http}`;
    return new Map([
      ['/', file('text/html; charset=utf-8', () => pageAt(address), pageHeaders)],
      [PROFILE_PATH, file(PROFILE_CONTENT_TYPE, () => profileFor(address))],
      [ROOT_PATH, file('application/x-x509-ca-cert', rootDer)],
      [DEVICE_PAC_PATH, file(PAC_CONTENT_TYPE, () => Buffer.from(renderPac(hostnames(), proxy)))],
      ...[...certificates.openFiles].map(([path, { contentType, read }]) => [path, file(contentType, read)] as const),
      [DOH_PATH, dohPath({ answer, log })],
    ]);
  }

  return async (place: Place): Promise<Served> => {
    const { address } = place;
    const zones = createDeviceZones({
      address,
      nameServer: DEVICE_HOSTNAME,
      service: () => (settings.current().httpsRecords ? serviceRecord(ports.https) : null),
    });
    zones.publish(hostnames());
    const admits = createSenderLimit(clock);
    const server = createDnsServer({
      ...{ clock, log, port: dns.listening.port, addresses: [address], admits },
      zones: () => zones.zones,
    });
    await server.start();
    const answer = createDoh({ exchange: server.exchange, strikes: server.strikes, forwardsProbe: () => false });
    const hosts = new Set([hostOf(address), DEVICE_HOSTNAME]);
    const own: OwnPlace = {
      hosts,
      serverNames: new Set([DEVICE_HOSTNAME]),
      serves: isForDevices,
      sites: new Map(),
      paths: filesAt(address, answer),
    };
    try {
      const stopServing = await dataPlane.serveOn(address, own);
      const announcer = announceHost({
        ...{ label: MULTICAST_LABEL, ...place, port: ports.http, clock, log, admits },
        onChanged() {
          const name = announcer.name();
          if (name !== null) hosts.add(name);
          served.changed();
        },
      });
      return {
        zones,
        announcer,
        async close() {
          // When the engine stops, the proxy lets requests finish here as on loopback.
          await Promise.all([served.isEnding() ? undefined : stopServing(), server.stop(), announcer.close()]);
        },
      };
    } catch (error) {
      await server.stop();
      throw error;
    }
  };
}
