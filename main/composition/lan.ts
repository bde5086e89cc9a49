import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { DEVICE_HOSTNAME } from '../base/config.ts';
import { isWithin } from '../base/text/hostname.ts';
import { loadPageTemplate } from '../base/http/page.ts';
import { isWildcard } from '../contract/wildcards.ts';
import { LAN_HOSTNAMES_MAX, type LanStatus } from '../contract/lan.ts';
import { DEFAULT_SUFFIXES } from '../contract/root-suffixes.ts';
import { createDeviceZones, isForDevices, type DeviceZones, createSenderLimit } from '../dns/zones/device-zones.ts';
import { createDoh, DOH_PATH } from '../dns/server/doh.ts';
import { announceHost, type Announcer } from '../dns/multicast/multicast.ts';
import { createDnsServer } from '../dns/server/server.ts';
import { serviceRecord } from '../dns/wire/service-parameters.ts';
import { DEVICE_PAC_PATH, PROFILE_PATH, renderDevicePage, ROOT_PATH, qrCode } from '../lan/device-page.ts';
import { choicesOf, type Place } from '../lan/interfaces.ts';
import { PROFILE_CONTENT_TYPE, renderProfile } from '../lan/profile.ts';
import { createSwitch, type Serving } from '../lan/switch.ts';
import { ownFile, type OwnPlace } from '../proxy/front/own-paths.ts';
import { PAC_CONTENT_TYPE, renderPac } from '../reach/mapped-hostnames.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Dns } from './dns.ts';
import { dohPath } from './own-paths.ts';
import type { Foundation } from './foundation.ts';

export type Lan = ReturnType<typeof openLan>;

/** The stored name of the interface that is served at every start. */
const KEPT_SETTING = 'lanKept';

/** The name for `.local`, with a number where another machine has it. */
const MULTICAST_LABEL = 'vivarium';

/** Domains that a profile lists individually, because no reserved suffix covers them. */
const PROFILE_DOMAINS_MAX = 200;

interface Served extends Serving {
  zones: DeviceZones;
  announcer: Announcer;
}

/**
 * Serves the hostnames to other devices on one interface while switched on: the proxy's ports, DNS for those hostnames
 * only, and a setup page. The control port is not served.
 */
export function openLan(
  { resourcesDir, clock, log, store, events, settings, onStop }: Foundation,
  parts: {
    certificates: Certificates;
    dns: Dns;
    dataPlane: DataPlane;
    /** Whether HTTPS is served at a hostname. */
    isSecure: (hostname: string) => boolean;
  },
) {
  const { certificates, dns, dataPlane } = parts;
  const { ports } = dataPlane;
  const pages = loadPageTemplate(join(resourcesDir, 'pages'));
  let routes: readonly { hostname: string }[] = [];
  let known: readonly string[] | null = null;
  let isEnding = false;
  // On first use: a publish must stay cheap if only this machine is served.
  const hostnames = (): readonly string[] =>
    (known ??= routes.flatMap(({ hostname }) => (isForDevices(hostname) ? [hostname] : [])).sort());

  function changed(): void {
    events.emit('lan.changed');
    events.emit('status.changed');
  }

  const originAt = (host: string): string => `http://${host}:${ports.http}`;
  const rootDer = (): Buffer => new X509Certificate(certificates.root.describe().pem).raw;

  function pageAt(address: string): Buffer {
    const { fingerprint } = certificates.root.describe();
    const origin = originAt(hostOf(address));
    const page = renderDevicePage({ origin, ports, hostnames: hostnames(), isSecure: parts.isSecure, fingerprint });
    return Buffer.from(pages.render(page));
  }

  function profileFor(address: string): Buffer {
    const { fingerprint, permittedSuffixes } = certificates.root.describe();
    const dohUrl = `https://${DEVICE_HOSTNAME}:${ports.https}${DOH_PATH}`;
    const domains = profileDomains(permittedSuffixes, hostnames());
    return Buffer.from(renderProfile({ certificate: rootDer(), fingerprint, dohUrl, address, domains }));
  }

  async function open(place: Place): Promise<Served> {
    const { address } = place;
    const host = hostOf(address);
    const zones = createDeviceZones({
      address,
      nameServer: DEVICE_HOSTNAME,
      service: () => (settings.current().httpsRecords ? serviceRecord(ports.https) : null),
    });
    zones.publish(hostnames());
    const admits = createSenderLimit(clock);
    const server = createDnsServer({
      clock,
      log,
      port: dns.listening.port,
      addresses: [address],
      admits,
      zones: () => zones.zones,
    });
    await server.start();
    const answer = createDoh({ exchange: server.exchange, strikes: server.strikes, forwardsProbe: () => false });
    const pageHeaders = ['Content-Security-Policy', pages.contentSecurityPolicy, 'Cache-Control', 'no-store'];
    const file = (contentType: string, read: () => Buffer, headers: readonly string[] = []) =>
      ownFile({ contentType, read, headers });
    const hosts = new Set([host, DEVICE_HOSTNAME]);
    const own: OwnPlace = {
      hosts,
      serverNames: new Set([DEVICE_HOSTNAME]),
      serves: isForDevices,
      sites: new Map(),
      paths: new Map([
        ['/', file('text/html; charset=utf-8', () => pageAt(address), pageHeaders)],
        [PROFILE_PATH, file(PROFILE_CONTENT_TYPE, () => profileFor(address))],
        [ROOT_PATH, file('application/x-x509-ca-cert', rootDer)],
        [DEVICE_PAC_PATH, file(PAC_CONTENT_TYPE, () => Buffer.from(renderPac(hostnames(), `${host}:${ports.http}`)))],
        ...[...certificates.openFiles].map(([path, { contentType, read }]) => [path, file(contentType, read)] as const),
        [DOH_PATH, dohPath({ answer, log })],
      ]),
    };
    try {
      const stopServing = await dataPlane.serveOn(address, own);
      const announcer = announceHost({
        ...{ label: MULTICAST_LABEL, ...place, port: ports.http, clock, log, admits },
        onChanged() {
          const name = announcer.name();
          if (name !== null) hosts.add(name);
          changed();
        },
      });
      return {
        zones,
        announcer,
        async close() {
          // When the engine stops, the proxy lets requests finish here as on loopback.
          await Promise.all([isEnding ? undefined : stopServing(), server.stop(), announcer.close()]);
        },
      };
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  const lanSwitch = createSwitch<Served>({
    clock,
    log,
    readInterfaces: networkInterfaces,
    open,
    kept: {
      get: () =>
        z
          .string()
          .nullable()
          .catch(null)
          .parse(store.settings.get()[KEPT_SETTING] ?? null),
      set: (wanted) => store.settings.set(KEPT_SETTING, wanted),
    },
    onChanged: changed,
  });
  onStop(() => {
    isEnding = true;
    return lanSwitch.close();
  });

  return {
    start: lanSwitch.start,
    resume: lanSwitch.resume,
    stop: lanSwitch.stop,
    /** Sets the hostnames that devices are served, and their DNS answers. */
    publish(snapshot: { routes: readonly { hostname: string }[] }): void {
      routes = snapshot.routes;
      known = null;
      const state = lanSwitch.state();
      if (state.kind === 'on') state.serving.zones.publish(hostnames());
    },
    /** The page for other devices; null while switched off. */
    url(): string | null {
      const state = lanSwitch.state();
      return state.kind === 'on' ? `${originAt(hostOf(state.place.address))}/` : null;
    },
    /** The interface or address that is served, or waited for. */
    wanted(): string | undefined {
      const state = lanSwitch.state();
      return state.kind === 'off' ? undefined : state.wanted;
    },
    /** Why other devices are not served although they should be; null otherwise. */
    warning(): string | null {
      const state = lanSwitch.state();
      return state.kind === 'waiting' ? `Vivarium can’t serve other devices at present: ${state.problem}` : null;
    },
    status(): LanStatus {
      const state = lanSwitch.state();
      const shared = {
        keep: lanSwitch.isKept(),
        choices: choicesOf(networkInterfaces()),
        hostnames: hostnames().slice(0, LAN_HOSTNAMES_MAX),
        hostnamesTotal: hostnames().length,
      };
      if (state.kind === 'off') return { state: 'off', ...shared };
      if (state.kind === 'waiting') {
        return { state: 'waiting', ...shared, wanted: state.wanted, problem: state.problem };
      }
      const { place, wanted } = state;
      const host = hostOf(place.address);
      const url = `${originAt(host)}/`;
      const name = state.serving.announcer.name();
      return {
        ...{ state: 'on' as const, ...shared, wanted, ...place, url, qr: qrCode(url) },
        ...(name !== null && { localUrl: `${originAt(name)}/` }),
        pacUrl: originAt(host) + DEVICE_PAC_PATH,
        dns: `${host}:${dns.listening.port}`,
      };
    },
  };
}

/** An address as the host of a URL. */
const hostOf = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/** The reserved suffixes, which exist nowhere else, and the served hostnames outside them. */
function profileDomains(permitted: readonly string[], hostnames: readonly string[]): string[] {
  const suffixes = DEFAULT_SUFFIXES.filter((suffix) => permitted.includes(suffix) && isForDevices(suffix));
  const outside = hostnames
    .map((hostname) => (isWildcard(hostname) ? hostname.slice(2) : hostname))
    .filter((hostname) => !suffixes.some((suffix) => isWithin(hostname, suffix)));
  return [...suffixes, ...new Set(outside)].slice(0, PROFILE_DOMAINS_MAX);
}
