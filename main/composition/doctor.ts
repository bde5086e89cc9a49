import { CNAME_TARGET, LOOPBACK_ADDRESSES, PLATFORM_ZONE, platformHostname } from '../base/config.ts';
import { createTurns } from '../base/turns.ts';
import { VERSION } from '../base/version.ts';
import type { StatusReport } from '../contract/status.ts';
import { type DnsResult, formatValue, serverText, typeCode } from '../dns/index.ts';
import {
  askListener,
  createDoctor,
  type Doctor,
  finding,
  judgeAppClock,
  judgeDnsServer,
  judgeDomain,
  judgeListener,
  judgeNoStores,
  judgePlatform,
  judgeResolver,
  judgeRunning,
  judgeStore,
  judgeUpstream,
  judgeWarnings,
  type PortName,
  type Probe,
  type Reply,
  shakeHands,
} from '../doctor/index.ts';
import { presentDomain } from '../domains/index.ts';
import { parseName } from '../model/dns-name.ts';
import { routeTarget } from '../model/route.ts';
import { dialUpstream } from '../proxy/index.ts';
import { readIntegrity } from '../store/index.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import { databaseIn, folderProbes, holderOf } from './doctor-folder.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';
import { ownCommand } from './own-command.ts';

export interface EngineDoctorParts {
  certificates: Certificates;
  dns: Dns;
  domains: Domains;
  dataPlane: DataPlane;
  /** Known when the control port is. */
  control: () => { port: number; token: string; warnings: readonly string[] };
  status: () => StatusReport;
}

/** Domains and projects whose hostnames are tried, and how many at a time: each is a TLS handshake of the engine with itself. */
const DOMAINS_TRIED_MAX = 100;
const PROJECTS_TRIED_MAX = 10;
const UPSTREAMS_TRIED_MAX = 20;
const HANDSHAKES_AT_ONCE_MAX = 8;

/** Real milliseconds for a connection to an upstream. */
const UPSTREAM_MS_MAX = 2_000;

/** Real milliseconds for reading a large database; whoever waits for a report waits this long at most for that. */
const INTEGRITY_MS_MAX = 3_000;

/** The doctor of an engine that runs, over everything that it has. */
export function createEngineDoctor(foundation: Foundation, parts: EngineDoctorParts): Doctor {
  const { config, stateDir, clock, store } = foundation;
  const { certificates, dns, domains, dataPlane, status } = parts;
  const [address] = LOOPBACK_ADDRESSES;
  const root = () => certificates.root.describe();

  const shake = (hostname: string) =>
    shakeHands({ address, port: dataPlane.ports.https, hostname, rootPem: root().pem }, clock);

  function listener(
    name: 'http' | 'https' | 'control',
    title: string,
    addresses: readonly string[],
    warnings: readonly string[],
  ): Probe {
    return {
      area: 'listeners',
      name,
      title,
      async look() {
        const number = name === 'control' ? parts.control().port : dataPlane.ports[name];
        const port: PortName = { name, title, port: number, option: `--${name}-port` };
        // Answered by the listener itself: neither counted, nor any project's traffic.
        const question =
          name === 'control'
            ? {
                scheme: 'http' as const,
                hostname: '127.0.0.1',
                method: 'POST',
                path: '/api/clock/get',
                headers: { Authorization: `Bearer ${parts.control().token}`, 'Content-Type': 'application/json' },
                body: '{}',
              }
            : { scheme: name, hostname: PLATFORM_ZONE, method: 'OPTIONS', path: '*', rootPem: root().pem };
        const answers = await Promise.all(
          addresses.map(async (at) => ({
            address: at,
            answer: await askListener({ ...question, address: at, port: number }, clock),
          })),
        );
        const holder = holderOf(number, name);
        return [judgeListener({ port, pid: process.pid, holder, answers, expected: 200, warnings })];
      },
    };
  }

  const tryAll = createTurns(HANDSHAKES_AT_ONCE_MAX);

  async function lookAtDomains() {
    const all = domains.lifecycle.list();
    const tried = all.slice(0, DOMAINS_TRIED_MAX);
    const checks = await Promise.all(
      tried.map(({ hostname }) =>
        tryAll.take(async () => {
          const handshake = await shake(hostname);
          const domain = domains.lifecycle.find(hostname);
          // Removed meanwhile.
          if (domain === null) return [];
          const shown = presentDomain(domain, { cnameTarget: CNAME_TARGET, zone: null, primary: false });
          const leaf = domains.lifecycle.leaf(hostname);
          return [judgeDomain({ domain: shown, leaf, handshake, nowMs: clock.now() })];
        }),
      ),
    );
    const untried = all.length - tried.length;
    const rest = { area: 'domains', name: 'more', title: 'More domains' } as const;
    return [
      ...checks.flat(),
      ...(untried === 0 ? [] : [finding(rest, 'skipped', [`${untried} more domains were not tried.`])]),
    ];
  }

  async function lookAtPlatform() {
    const projects = store.projects.list();
    const hostnames = projects.slice(0, PROJECTS_TRIED_MAX).map(({ slug }) => platformHostname(slug, 'production'));
    const handshakes = await Promise.all(
      [PLATFORM_ZONE, ...hostnames].map((hostname) =>
        tryAll.take(async () => ({ hostname, handshake: await shake(hostname) })),
      ),
    );
    return [judgePlatform({ handshakes, untried: projects.length - hostnames.length })];
  }

  async function lookAtUpstreams() {
    const leading = store.projects.list().flatMap((project) => {
      const { target } = project;
      const published = routeTarget(target);
      return published.kind === 'upstream' ? [{ project, published }] : [];
    });
    return await Promise.all(
      leading.slice(0, UPSTREAMS_TRIED_MAX).map(async ({ project, published }) => {
        const trouble = await dialUpstream(published, UPSTREAM_MS_MAX);
        return judgeUpstream({ project, url: published.url, trouble });
      }),
    );
  }

  async function ask(transport: 'udp' | 'tcp', at: string): Promise<Reply> {
    return replyOf(await dns.client.askOver(transport, { address: at, port: dns.listening.port }, question()));
  }

  function question() {
    const name = parseName(CNAME_TARGET);
    const type = typeCode('A');
    if (!name.ok || type === null) throw new Error('The platform’s own name cannot be asked for.');
    return { name: name.name, type };
  }

  const replyOf = (result: DnsResult): Reply =>
    result.kind === 'failed'
      ? { reason: result.detail ?? result.reason }
      : {
          rcode: result.rcode,
          values: result.answers.flatMap(({ data }) => ('octets' in data ? [] : [formatValue(data)])),
        };

  async function lookAtDns() {
    const { port, addresses } = dns.listening;
    const replies = await Promise.all(
      addresses.flatMap((at) =>
        (['udp', 'tcp'] as const).map(async (transport) => ({
          address: at,
          transport,
          reply: await ask(transport, at),
        })),
      ),
    );
    return [judgeDnsServer({ port, name: CNAME_TARGET, expected: address, replies })];
  }

  async function lookAtResolver() {
    const { local, ...server } = dns.resolver();
    if (local) return [judgeResolver({ foreign: null })];
    const reply = replyOf(await dns.client.ask(server, question()));
    return [judgeResolver({ foreign: { place: serverText(server), reply } })];
  }

  async function lookAtStores() {
    const stores = await certificates.trustStores.list();
    return stores.length === 0 ? [judgeNoStores()] : stores.map((store) => judgeStore(store, process.platform));
  }

  const { dataDir, ephemeral } = config;
  const probes = (): Probe[] => [
    {
      area: 'engine',
      name: 'process',
      title: 'Process',
      look: () => [judgeRunning({ pid: process.pid, version: VERSION, dataDir, ephemeral })],
    },
    {
      area: 'engine',
      name: 'warnings',
      title: 'Warnings',
      look: () => [
        judgeWarnings(
          warningsOf(status(), [...dataPlane.warnings, ...dns.listening.warnings, ...parts.control().warnings]),
        ),
      ],
    },
    listener('http', 'HTTP', dataPlane.addresses.http, dataPlane.warnings),
    listener('https', 'HTTPS', dataPlane.addresses.https, dataPlane.warnings),
    listener('control', 'Control port', LOOPBACK_ADDRESSES.slice(0, 1), parts.control().warnings),
    { area: 'dns', name: 'server', title: 'DNS server', look: lookAtDns },
    { area: 'dns', name: 'resolver', title: 'Resolver of verification', look: lookAtResolver },
    { area: 'domains', name: 'platform', title: 'Platform hostnames', look: lookAtPlatform },
    { area: 'domains', name: 'custom', title: 'Custom domains', look: lookAtDomains },
    { area: 'upstreams', name: 'all', title: 'Upstreams', look: lookAtUpstreams },
    { area: 'trust', name: 'stores', title: 'Trust stores', look: lookAtStores },
    { area: 'clock', name: 'app', title: 'The app’s clock', look: () => [judgeAppClock(clock.state())] },
    ...folderProbes({
      dataDir,
      stateDir,
      databaseFile: ephemeral ? null : databaseIn(dataDir),
      clock,
      readIntegrity(file) {
        const endMs = clock.monotonic() + INTEGRITY_MS_MAX;
        return readIntegrity(file, () => clock.monotonic() > endMs);
      },
      usedFingerprint: () => root().fingerprint,
      hostname: () => platformHostname(store.projects.list()[0]?.slug ?? 'demo', 'production'),
    }),
  ];
  return createDoctor({ clock, probes, running: true, ownCommand: ownCommand(dataDir) });
}

/** Those that are told nowhere else: the clock and missing addresses have checks of their own. */
function warningsOf({ warnings, clockWarning }: StatusReport, ofListeners: readonly string[]): string[] {
  return warnings.filter((warning) => warning !== clockWarning && !ofListeners.includes(warning));
}
