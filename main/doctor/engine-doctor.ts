import { TARGET_DOWN } from '../contract/break-words.ts';
import { join } from 'node:path';
import type { AdjustableClock } from '../base/clock.ts';
import { CNAME_TARGET, LOOPBACK_ADDRESSES, PLATFORM_ZONE, platformHostname, VERSION } from '../base/config.ts';
import { DATABASE_FILE } from '../base/system/data-folder.ts';
import type { DesktopFacts } from '../base/system/desktop.ts';
import { findPortHolder } from '../base/system/port-holder.ts';
import { askSystem } from '../base/system/system-names.ts';
import { createTurns } from '../base/turns.ts';
import type { StoreTrust } from '../contract/certificates.ts';
import type { FaultSource } from '../model/fault.ts';
import type { StatusReport } from '../contract/status.ts';
import { type Find, storeSeen, systemSeen, createDoctor, type Doctor, probe, type Probe } from './checkup.ts';
import { evaluateBrowser, evaluateNoBrowser, SKIPPED_BROWSERS, evaluateNoStores, evaluateStore } from './root.ts';
import type { BrowserEvidence } from './root.ts';
import { evaluateAppClock } from './system.ts';
import { evaluateDesktop, evaluateRunning, evaluateWarnings } from './engine.ts';
import {
  evaluateDnsServer,
  evaluateResolver,
  evaluateSystem,
  type Reply,
  type ResolverEvidence,
  type SystemEvidence,
} from './dns.ts';
import { evaluateDomain, evaluatePlatform, evaluateUpstream } from './domains.ts';
import type { DomainEvidence, UpstreamEvidence } from './domains.ts';
import { checkOf, type MetBreak, strikesHandshakes, underBreaks, underEdits } from './finding.ts';
import { type FolderReaders, folderProbes, holderOf } from './folder-doctor.ts';
import { type HandshakeResult, performHandshake } from './handshake.ts';
import { askListener, evaluateListener, evaluateAcmePort, type PortName } from './ports.ts';

/** The parts of a running engine that its doctor needs. */
export interface CheckedEngine {
  dataDir: string;
  stateDir: string;
  /** Whether there is no database on disk. */
  ephemeral: boolean;
  clock: AdjustableClock;
  status: () => StatusReport;
  certificates: {
    root: { describe: () => { pem: string; fingerprint: string } };
    trustStores: { list: () => Promise<readonly StoreTrust[]> };
  };
  /** HTTP and HTTPS: listening addresses, and unavailable ones. */
  dataPlane: {
    ports: { http: number; https: number };
    addresses: { http: readonly string[]; https: readonly string[] };
    warnings: readonly string[];
  };
  /** Set once the control port is bound. */
  control: () => { port: number; token: string; warnings: readonly string[] };
  dns: {
    listening: { port: number; addresses: readonly string[]; warnings: readonly string[] };
    /** Asks Vivarium's own server at an address for the A records of `name`. */
    ask: (name: string, transport: 'udp' | 'tcp', address: string) => Promise<Reply>;
    /** Asks the configured resolver for the A records of `name`. */
    askResolver: (name: string) => Promise<ResolverEvidence['foreign']>;
  };
  hostnames: () => readonly string[];
  /** For a wildcard, a hostname that it serves; else the same. */
  exampleOf: (hostname: string) => string;
  /** The current state of a custom domain; null when it has been removed. */
  findDomain: (hostname: string) => Promise<Pick<DomainEvidence, 'domain' | 'leaf' | 'repairs' | 'wildcard'> | null>;
  /** The breaks that clients of a hostname meet now. */
  breaksAt: (hostname: string) => readonly MetBreak[];
  /** The running breaks of an entry that edits a setting, or the target of a project. */
  breaksBy: (entry: string, projectId?: string) => readonly MetBreak[];
  projects: () => readonly { slug: string }[];
  upstreams: () => readonly Upstream[];
  readers: FolderReaders;
  ownCommand: (command: string) => string;
  /** Opens `hostname` in each installed browser; returns a sentence if none is installed. */
  tryBrowsers: (hostname: string) => Promise<string | readonly Omit<BrowserEvidence, 'hostname'>[]>;
  /** The running breaks that replace evidence. */
  faults: Pick<FaultSource, 'named'>;
  isLimited: () => boolean;
  /** The port where ACME clients answer the CA. */
  acmePort: () => number;
  /** Absent in plain Node. */
  describeDesktop?: () => DesktopFacts;
}

interface Upstream extends Pick<UpstreamEvidence, 'project' | 'url'> {
  dial: (realMsMax: number) => Promise<UpstreamEvidence['problem']>;
}

/** The most domains, projects and upstreams to try. Each domain and project takes a TLS handshake with ourselves. */
const DOMAINS_TRIED_MAX = 100;
const PROJECTS_TRIED_MAX = 10;
const UPSTREAMS_TRIED_MAX = 20;
const HANDSHAKES_AT_ONCE_MAX = 8;

/** The most domains to look up with the system's resolver, one after another. */
const SYSTEM_ASKED_MAX = 20;

/** Real milliseconds for these lookups; a resolver that does not answer takes two seconds for each. */
const SYSTEM_MS_MAX = 4_000;

/** Real milliseconds for a connection to an upstream. */
const UPSTREAM_MS_MAX = 2_000;

/** Real milliseconds for opening a page in every installed browser and ending the browsers. */
const BROWSERS_MS_MAX = 24_000;

/** Real milliseconds for reading a large database; bounds the wait for a report. */
const INTEGRITY_MS_MAX = 3_000;

export function createEngineDoctor(engine: CheckedEngine): Doctor {
  const { dataDir, stateDir, ephemeral, clock, status, certificates, dataPlane, control, dns, readers } = engine;
  const { describeDesktop, faults, isLimited } = engine;
  const handshakes = createHandshakes(engine);

  const probes = (): Probe[] => [
    probe('engine', 'process', 'Process', () => [
      evaluateRunning({ pid: process.pid, version: VERSION, dataDir, ephemeral }),
    ]),
    probe('engine', 'warnings', 'Warnings', () => [
      evaluateWarnings(warningsOf(status(), [...dataPlane.warnings, ...dns.listening.warnings, ...control().warnings])),
    ]),
    listener(engine, 'http', 'HTTP', dataPlane.addresses.http, dataPlane.warnings),
    listener(engine, 'https', 'HTTPS', dataPlane.addresses.https, dataPlane.warnings),
    listener(engine, 'control', 'Control port', LOOPBACK_ADDRESSES.slice(0, 1), control().warnings),
    probe('listeners', 'acme', 'Port of ACME clients', () => {
      const port = engine.acmePort();
      return [evaluateAcmePort({ port, holder: findPortHolder(port), pid: process.pid })];
    }),
    probe('dns', 'server', 'DNS server', () => checkDns(engine)),
    probe('dns', 'resolver', 'Resolver of verification', async () => [
      underEdits(
        evaluateResolver({ foreign: await dns.askResolver(CNAME_TARGET) }),
        engine.breaksBy('machine.resolver-gone'),
      ),
    ]),
    probe('dns', 'system', 'Custom domains on this system', (find) => checkSystem(engine, find)),
    probe('domains', 'platform', 'Platform hostnames', () => checkPlatform(engine, handshakes)),
    probe('domains', 'custom', 'Custom domains', () => checkDomains(engine, handshakes)),
    probe('upstreams', 'all', 'Targets', () => checkUpstreams(engine)),
    probe('trust', 'stores', 'Trust stores', (find) => checkStores(engine, find)),
    probe('browsers', 'all', 'Browsers', () => checkBrowsers(engine), {
      skippedByDefault: SKIPPED_BROWSERS,
      realMsMax: BROWSERS_MS_MAX,
    }),
    probe('clock', 'app', 'The simulated clock', () => [evaluateAppClock(clock.state())]),
    ...folderProbes({
      dataDir,
      stateDir,
      databaseFile: ephemeral ? null : join(dataDir, DATABASE_FILE),
      clock,
      readers,
      readIntegrity(file) {
        const endMs = clock.monotonic() + INTEGRITY_MS_MAX;
        return readers.readIntegrity(file, () => clock.monotonic() > endMs);
      },
      usedFingerprint: () => certificates.root.describe().fingerprint,
      hostnames() {
        const [first = 'demo', ...others] = engine
          .projects()
          .map(({ slug }) => slug)
          .toReversed();
        const inLine = others.slice(0, PROJECTS_TRIED_MAX);
        return [platformHostname(first, 'production'), ...inLine.map((slug) => platformHostname(slug, 'production'))];
      },
      isLimited,
    }),
    ...(describeDesktop === undefined
      ? []
      : [probe('desktop', 'app', 'Desktop', () => evaluateDesktop(describeDesktop()))]),
  ];
  return createDoctor({ clock, probes, running: true, ownCommand: engine.ownCommand, faults });
}

type Handshakes = ReturnType<typeof createHandshakes>;

/** Handshakes with this Vivarium, a few at a time. */
function createHandshakes({ clock, certificates, dataPlane, breaksAt }: CheckedEngine) {
  const turns = createTurns(HANDSHAKES_AT_ONCE_MAX);
  const [address] = LOOPBACK_ADDRESSES;
  type Seen = { handshake: HandshakeResult | null; breaks: readonly MetBreak[] };
  return <Result>(hostname: string, evaluate: (seen: Seen) => Result | Promise<Result>) =>
    turns.enqueue(async () => {
      const breaks = breaksAt(hostname);
      if (breaks.some(strikesHandshakes)) return await evaluate({ handshake: null, breaks });
      const { pem: rootPem } = certificates.root.describe();
      const options = { address, port: dataPlane.ports.https, hostname, rootPem };
      return await evaluate({ handshake: await performHandshake(options, clock), breaks });
    });
}

function listener(
  { clock, dataPlane, control, certificates }: CheckedEngine,
  name: 'http' | 'https' | 'control',
  title: string,
  addresses: readonly string[],
  warnings: readonly string[],
): Probe {
  return probe('listeners', name, title, async () => {
    const number = name === 'control' ? control().port : dataPlane.ports[name];
    const port: PortName = { name, title, port: number, option: `--${name}-port` };
    // The listener itself answers `OPTIONS *`, which is not counted and not recorded as traffic.
    const question =
      name === 'control'
        ? {
            scheme: 'http' as const,
            hostname: '127.0.0.1',
            method: 'POST',
            path: '/api/clock/get',
            headers: { Authorization: `Bearer ${control().token}`, 'Content-Type': 'application/json' },
            body: '{}',
          }
        : {
            scheme: name,
            hostname: PLATFORM_ZONE,
            method: 'OPTIONS',
            path: '*',
            rootPem: certificates.root.describe().pem,
          };
    const answers = await Promise.all(
      addresses.map(async (at) => ({
        address: at,
        answer: await askListener({ ...question, address: at, port: number }, clock),
      })),
    );
    const holder = holderOf(number, name);
    return [evaluateListener({ port, pid: process.pid, holder, answers, expected: 200, warnings })];
  });
}

async function checkDomains(engine: CheckedEngine, handshakes: Handshakes) {
  const all = engine.hostnames();
  const tried = all.slice(0, DOMAINS_TRIED_MAX);
  const checks = await Promise.all(
    tried.map((hostname) =>
      handshakes(engine.exampleOf(hostname), async (seen) => {
        const found = await engine.findDomain(hostname);
        return found === null ? [] : [evaluateDomain({ ...found, ...seen, nowMs: engine.clock.now() })];
      }),
    ),
  );
  const untried = all.length - tried.length;
  return [
    ...checks.flat(),
    ...(untried === 0
      ? []
      : [checkOf('domains', 'more', 'More domains').skipped(`${untried} more domains were not tried.`)]),
  ];
}

/** Checks only domains that are served; the others may rightly lead elsewhere. */
async function checkSystem(engine: CheckedEngine, find: Find) {
  const { clock } = engine;
  const endMs = clock.monotonic() + SYSTEM_MS_MAX;
  const asked: SystemEvidence['asked'][number][] = [];
  for (const domain of engine.hostnames()) {
    if ((await engine.findDomain(domain))?.domain.serving.http !== true) continue;
    const isEnough = asked.length === SYSTEM_ASKED_MAX || clock.monotonic() > endMs;
    if (isEnough) return [evaluateSystem({ asked, hasMore: true })];
    const hostname = engine.exampleOf(domain);
    const breaks = engine.breaksAt(hostname).filter(({ entry }) => /^(?:dns|domain)\./.test(entry));
    asked.push({ hostname, breaks, answer: systemSeen(find, hostname, await askSystem(hostname, clock)) });
  }
  return [evaluateSystem({ asked, hasMore: false })];
}

async function checkPlatform(engine: CheckedEngine, performed: Handshakes) {
  const projects = engine.projects();
  const hostnames = projects.slice(0, PROJECTS_TRIED_MAX).map(({ slug }) => platformHostname(slug, 'production'));
  const handshakes = await Promise.all(
    [PLATFORM_ZONE, ...hostnames].map((hostname) => performed(hostname, (seen) => ({ hostname, ...seen }))),
  );
  return [evaluatePlatform({ handshakes, untried: projects.length - hostnames.length })];
}

const checkUpstreams = (engine: CheckedEngine) =>
  Promise.all(
    engine
      .upstreams()
      .slice(0, UPSTREAMS_TRIED_MAX)
      .map(async ({ project, url, dial }) =>
        underEdits(
          evaluateUpstream({ project, url, problem: await dial(UPSTREAM_MS_MAX) }),
          engine.breaksBy(TARGET_DOWN, project.id),
        ),
      ),
  );

async function checkDns({ dns }: CheckedEngine) {
  const { port, addresses } = dns.listening;
  const replies = await Promise.all(
    addresses.flatMap((at) =>
      (['udp', 'tcp'] as const).map(async (transport) => ({
        address: at,
        transport,
        reply: await dns.ask(CNAME_TARGET, transport, at),
      })),
    ),
  );
  return [evaluateDnsServer({ port, name: CNAME_TARGET, expected: LOOPBACK_ADDRESSES[0], replies })];
}

async function checkStores({ certificates }: CheckedEngine, find: Find) {
  const stores = await certificates.trustStores.list();
  if (stores.length === 0) return [evaluateNoStores()];
  return stores.map((store) => evaluateStore(storeSeen(find, store), process.platform));
}

/** Uses a custom domain that is served over HTTPS, because browsers resolve platform hostnames themselves. */
async function checkBrowsers(engine: CheckedEngine) {
  for (const hostname of engine.hostnames()) {
    if ((await engine.findDomain(hostname))?.domain.serving.https !== true) continue;
    const shown = engine.exampleOf(hostname);
    const breaks = engine.breaksAt(shown);
    // A browser's handshake would count as one that they strike.
    if (breaks.some(strikesHandshakes)) continue;
    const tried = await engine.tryBrowsers(shown);
    return typeof tried === 'string'
      ? [evaluateNoBrowser(tried)]
      : tried.map((found) => underBreaks(evaluateBrowser({ ...found, hostname: shown }), breaks));
  }
  return [evaluateNoBrowser('No custom domain is served over HTTPS and unbroken, so there is none to open.')];
}

/** Warnings that no other check reports, unlike those about the clock and missing addresses. */
const warningsOf = ({ warnings, clockWarning }: StatusReport, ofListeners: readonly string[]): string[] =>
  warnings.filter((warning) => warning !== clockWarning && !ofListeners.includes(warning));
