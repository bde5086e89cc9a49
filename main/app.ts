import { readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createApi } from './api/index.ts';
import { createClock } from './base/clock.ts';
import { CNAME_TARGET, type Config, PLATFORM_ZONE, RUNTIME_FILE, type RuntimeFile } from './base/config.ts';
import { formatDuration, parseDuration } from './base/duration.ts';
import { createEventBus } from './base/events.ts';
import { OWNER_ONLY, writeFileAtomically } from './base/files.ts';
import { isWithin } from './base/hostname.ts';
import { createLog, type LogLevel, type LogLine } from './base/log.ts';
import { loadControlToken } from './base/secret.ts';
import { VERSION } from './base/version.ts';
import {
  createLeaf,
  createLeafContexts,
  createRunCommand,
  createTrustStores,
  describeRoot,
  machineStores,
  openAuthority,
} from './ca/index.ts';
import type { Services } from './contract/index.ts';
import * as dnsRules from './dns/index.ts';
import {
  buildZoneSet,
  createDnsClient,
  createDnsServer,
  createLookup,
  createZonePublisher,
  NAME_SERVER,
  platformZone,
  type Resolver,
  type Zone,
  type ZoneSet,
} from './dns/index.ts';
import * as domainRules from './domains/index.ts';
import { buildSnapshot, createLifecycle, createServedLeaves, presentDomain } from './domains/index.ts';
import { createProxy, loadErrorPages } from './proxy/index.ts';
import { createLimiter } from './ratelimit/limiter.ts';
import { FREE_LIMITS, limitsOf } from './ratelimit/plans.ts';
import { type ControlRouter, createRouter } from './rpc/router.ts';
import { createControlServer } from './rpc/server.ts';
import {
  createCaaServices,
  createCaServices,
  createCertificateServices,
  createClockServices,
  createDemo,
  createDeployServices,
  createDnsServices,
  createDomainServices,
  createEventServices,
  createKeyServices,
  createLimitServices,
  createOrderServices,
  createPetSeeds,
  createPetServices,
  createProjectServices,
  createRecordServices,
  createRecordWriter,
  createSettingsServices,
  createStatusServices,
  createZoneServices,
  type DemoKey,
  holdSettings,
  type ListenerPorts,
  parseResolver,
  presentProject,
  type ProjectRow,
  providerFacts,
  releaseHostname,
  zoneFacts,
} from './services/index.ts';
import { claimDataFolder, DATABASE_FILE, openStore } from './store/index.ts';

/** How long requests in progress may take to finish when Vivarium stops; longer than most, shorter than a supervisor's patience. */
const DRAIN_MS_MAX = 5_000;

export interface AppOptions {
  config: Config;
  /** Where root and control token are kept: the data folder, or a temporary one when nothing is to be kept. */
  stateDir: string;
  /** The folder with demo data and page templates. */
  resourcesDir: string;
  /** The folder of the built interface; null when it is not built. */
  assetsDir: string | null;
  writeLog: (line: LogLine) => void;
  logLevel: LogLevel;
}

export interface App {
  runtime: RuntimeFile;
  services: Services;
  router: ControlRouter;
  /** The demo project's key, while it is in force. */
  demoKey(): DemoKey | null;
  /** Drains, stops everything in reverse order, and leaves the data folder. Calling it again waits for the first call. */
  stop(): Promise<void>;
}

/**
 * Builds everything in the order of its dependencies, and serves.
 * @throws VivariumError with one line that says what to change; whatever had been opened is closed again.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const closers: (() => void | Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const app = await compose(options, (closer) => closers.push(closer));
    let stopping: Promise<void> | null = null;
    return { ...app, stop: () => (stopping ??= close()) };
  } catch (error) {
    await close();
    throw error;
  }
}

async function compose(
  { config, stateDir, resourcesDir, assetsDir, writeLog, logLevel }: AppOptions,
  onStop: (closer: () => void | Promise<void>) => void,
): Promise<Omit<App, 'stop'>> {
  const { dataDir } = config;
  const inFolder = (name: string) => join(dataDir, name);
  const caDir = join(stateDir, 'ca');
  const resource = (name: string) => readFileSync(join(resourcesDir, name), 'utf8');

  const folder = claimDataFolder(dataDir);
  onStop(() => folder.release({ leaveNothing: config.ephemeral }));

  const clock = createClock({ onError: (error) => log.error('A timer failed', { error }) });
  onStop(() => clock.stop());
  const log = createLog(clock, writeLog, logLevel);

  const store = openStore({ file: config.ephemeral ? ':memory:' : inFolder(DATABASE_FILE), clock, log });
  onStop(() => store.close());
  const clockSetting = store.clock.get();
  if (clockSetting !== null) clock.restore(clockSetting);

  const events = createEventBus(clock);
  onStop(() => events.close());
  clock.onAdjusted(() => {
    store.clock.set(clock.setting());
    events.emit('clock.changed');
  });
  store.pets.onChanged((dataset) => events.emit('pets.changed', dataset));

  const settings = holdSettings(store.settings);
  const authority = openAuthority({ directory: caDir, clock, log });
  const leaves = createLeafContexts({ root: authority.root, clock });
  const { env: environment, platform } = process;
  const run = createRunCommand({ clock, environment });
  const privileged = process.getuid?.() === 0;
  const trustStores = createTrustStores({
    stores: () => machineStores({ platform, home: homedir(), environment, run, privileged }),
    own: () => ({ current: authority.root(), older: authority.older(), file: authority.certificateFile }),
    run,
    platform,
  });

  const limiter = createLimiter({
    clock,
    storage: store.limits,
    banRule: () => {
      const { banAfter, banDuration } = settings.current();
      return { afterRefusals: banAfter, durationMs: parseDuration(banDuration) };
    },
    onBan: ({ projectId }) => events.emit('limits.changed', { projectId }),
    onError: (error) => log.error('Rate counters could not be written; they are tried again', { error }),
  });
  onStop(() => limiter.stop());

  const api = await createApi({
    clock,
    log,
    pets: store.pets,
    orders: store.orders,
    cors: () => settings.current().cors,
  });
  onStop(() => api.close());

  const traffic = { requests: 0, refused: 0 };
  const proxy = createProxy({
    clock,
    log,
    limiter,
    targets: {
      api: {
        isPreflight: (request) => api.isPreflight(request),
        handle(request, response, { route, keyId, decision, origin }) {
          traffic.requests++;
          if (decision.refusal !== null) traffic.refused++;
          events.emit('limits.changed', { projectId: route.projectId });
          events.emit('status.changed');
          const { projectId, environment } = route;
          api.handle(request, response, {
            dataset: { projectId, environment },
            authorized: keyId !== null,
            decision,
            baseUrl: `${origin}/v1`,
          });
        },
      },
    },
    contextFor: (hostname) =>
      isWithin(hostname, PLATFORM_ZONE) ? leaves.contextFor(hostname) : servedLeaves.contextFor(hostname),
    defaultHostname: PLATFORM_ZONE,
    pages: loadErrorPages(join(resourcesDir, 'pages')),
    freeLimits: FREE_LIMITS,
  });
  onStop(() => proxy.stop(DRAIN_MS_MAX));
  const listeners = await proxy.start({ httpPort: config.httpPort, httpsPort: config.httpsPort });
  const ports: ListenerPorts = { http: listeners.http.port, https: listeners.https.port };

  let snapshot = buildSnapshot({ projects: [], keys: [], domains: [], limitsOf });
  /** Made when the first question after a change comes in: few changes are followed by one. */
  let ownZone: Zone | null = null;
  let zoneSet: ZoneSet | null = null;
  const currentZones = () => {
    ownZone ??= platformZone({ hostnames: snapshot.platformHostnames });
    return (zoneSet ??= buildZoneSet([ownZone, ...zonePublisher.zones()]));
  };
  const recordsChanged = () => {
    zoneSet = null;
    events.emit('records.changed');
  };
  const zonePublisher = createZonePublisher({
    clock,
    stored: { ...store.records, zones: () => store.zones.list() },
    onPublished: recordsChanged,
  });
  onStop(() => zonePublisher.stop());
  clock.onAdjusted(() => {
    zonePublisher.clockAdjusted();
    recordsChanged();
  });
  const dns = createDnsServer({ clock, log, port: config.dnsPort, zones: currentZones });
  onStop(() => dns.stop());
  const dnsListener = await dns.start();
  const dnsClient = createDnsClient(clock);
  onStop(() => dnsClient.close());
  const resolver = (): Resolver => {
    const foreign = parseResolver(settings.current().resolver);
    return foreign === null
      ? { address: '127.0.0.1', port: dnsListener.port, local: true }
      : { ...foreign, local: false };
  };

  const present = (row: ProjectRow) => presentProject(row, limitsOf(row), ports);
  const publish = () => {
    const { platformHostnames } = snapshot;
    snapshot = buildSnapshot({
      projects: store.projects.list(),
      keys: store.keys.active(),
      domains: lifecycle.list(),
      limitsOf,
    });
    if (!isDeepStrictEqual(platformHostnames, snapshot.platformHostnames)) ownZone = zoneSet = null;
    proxy.publish(snapshot);
  };
  const effects = { emit: events.emit, publish };

  const issuer = {
    permits: (hostname: string) => authority.root().constraints.suffixes.some((suffix) => isWithin(hostname, suffix)),
    issue: (hostname: string) => createLeaf({ root: authority.root(), hostnames: [hostname], clock }),
  };
  const dnsLookup = createLookup(dnsClient, resolver);
  const findZone = (apex: string) => currentZones().zones.get(apex);
  const provider = (hostname: string) =>
    resolver().local ? providerFacts(hostname, { zone: findZone, records: store.records }) : null;
  const lifecycle = createLifecycle({
    clock,
    log,
    rows: store.domains,
    dns: dnsLookup,
    issuer,
    cnameTarget: CNAME_TARGET,
    provider,
    settings() {
      const { issuanceDelay, caaIdentity } = settings.current();
      const { domain, accountUri, method } = caaIdentity;
      return { issuanceDelayMs: parseDuration(issuanceDelay), identity: { issuer: domain, accountUri, method } };
    },
    project(projectId) {
      const row = store.projects.get(projectId);
      if (row === null) return null;
      return { ...row, deployed: store.deploys.list(projectId).some(({ status }) => status === 'succeeded') };
    },
    publish,
    onRemoved(domain) {
      servedLeaves.drop(domain.hostname);
      if (releaseHostname(store.projects, domain)) events.emit('projects.changed', { projectId: domain.projectId });
    },
    onChanged(what, { hostname, projectId }) {
      if (what === 'certificate') servedLeaves.drop(hostname);
      events.emit(what === 'certificate' ? 'certificates.changed' : 'domains.changed', { projectId });
    },
  });
  onStop(() => lifecycle.stop());
  clock.onAdjusted((change) => lifecycle.clockAdjusted(change));
  const servedLeaves = createServedLeaves({ ...lifecycle, issuer, clock });

  const recordWriter = createRecordWriter({
    clock,
    records: store.records,
    rules: dnsRules,
    propagationMs: () => parseDuration(settings.current().propagation),
    onChanged(zone) {
      zonePublisher.changed(zone);
      recordsChanged();
    },
  });
  const zoneParts = { zones: store.zones, records: store.records, rules: dnsRules, writer: recordWriter };

  const services: Services = {
    status: createStatusServices(() => statusReport()),
    projects: createProjectServices({
      clock,
      projects: store.projects,
      effects,
      present,
      planChanged: lifecycle.planChanged,
      forget(projectId) {
        lifecycle.projectRemoved(projectId);
        limiter.forget(projectId);
        demo.forget({ projectId });
      },
    }),
    deploys: createDeployServices({
      clock,
      projects: store.projects,
      deploys: store.deploys,
      effects,
      probe: ({ id }) => api.probe({ projectId: id, environment: 'production' }),
    }),
    keys: createKeyServices({
      clock,
      projects: store.projects,
      keys: store.keys,
      effects,
      forget(key) {
        limiter.forget(key.projectId, `key:${key.id}`);
        demo.forget({ keyId: key.id });
      },
    }),
    limits: createLimitServices({
      projects: store.projects,
      keys: store.keys,
      limiter,
      effects,
      planLimits: limitsOf,
      freeLimits: FREE_LIMITS,
    }),
    pets: createPetServices({
      projects: store.projects,
      pets: store.pets,
      seeds: () => createPetSeeds(resource('demo/seed.json')),
    }),
    orders: createOrderServices({ clock, projects: store.projects, orders: store.orders, effects }),
    domains: createDomainServices({
      projects: store.projects,
      lifecycle,
      rules: domainRules,
      effects,
      present: (domain, primary) =>
        presentDomain(domain, { cnameTarget: CNAME_TARGET, zone: zoneFacts(domain.hostname, findZone), primary }),
      presentProject: present,
    }),
    caa: createCaaServices({ dns: dnsLookup, identity: () => settings.current().caaIdentity, rules: domainRules }),
    certificates: createCertificateServices(lifecycle),
    zones: createZoneServices({
      ...zoneParts,
      clock,
      nameServer: NAME_SERVER,
      emit: events.emit,
      publish() {
        zonePublisher.changed();
        zoneSet = null;
      },
    }),
    records: createRecordServices(zoneParts),
    dns: createDnsServices({ client: dnsClient, resolver, rules: dnsRules }),
    ca: createCaServices({
      root: {
        describe: () => describeRoot(authority.root()),
        extend(suffix) {
          authority.extend(suffix);
          leaves.dropAll();
        },
      },
      stores: trustStores,
      effects,
    }),
    clock: createClockServices(clock),
    settings: createSettingsServices(settings, effects),
    events: createEventServices(events),
  };

  const demo = createDemo({
    file: config.ephemeral ? null : inFolder('demo-key.json'),
    keys: store.keys,
    settings: store.settings,
    services,
    petsJson: () => resource('demo/pets.json'),
  });
  await demo.prepare({ empty: config.empty, now: clock.now() });
  publish();
  lifecycle.start();

  const token = loadControlToken(join(stateDir, 'control-token'));
  const router = createRouter(services, { log });
  const control = createControlServer({
    clock,
    log,
    router,
    token,
    port: config.controlPort,
    assetsDir,
    version: VERSION,
  });
  onStop(() => control.stop(DRAIN_MS_MAX));
  const controlListener = await control.start();

  const runtime: RuntimeFile = {
    pid: process.pid,
    version: VERSION,
    http: { port: ports.http },
    https: { port: ports.https },
    dns: { port: dnsListener.port },
    control: { url: controlListener.url, token },
    platformZone: PLATFORM_ZONE,
    cnameTarget: CNAME_TARGET,
    caFile: authority.certificateFile,
  };
  writeFileAtomically(inFolder(RUNTIME_FILE), `${JSON.stringify(runtime, null, 2)}\n`, OWNER_ONLY);
  onStop(() => rmSync(inFolder(RUNTIME_FILE), { force: true }));

  const listenerWarnings = [...listeners.warnings, ...dnsListener.warnings, ...controlListener.warnings];
  function statusReport() {
    const { offsetMs, frozen } = clock.state();
    return {
      version: VERSION,
      platformZone: PLATFORM_ZONE,
      dataDir,
      ports: { ...ports, dns: dnsListener.port, control: controlListener.port },
      urls: {
        control: controlListener.url,
        http: `http://127.0.0.1:${ports.http}`,
        https: `https://127.0.0.1:${ports.https}`,
      },
      counts: {
        projects: store.projects.count(),
        keys: store.keys.count(),
        domains: lifecycle.list().length,
        pets: store.pets.total(),
        ...traffic,
        connections: proxy.connections(),
      },
      warnings: [...store.warnings, ...listenerWarnings, ...clockWarnings(offsetMs, frozen)],
    };
  }

  return { runtime, services, router, demoKey: () => demo.key() };
}

function clockWarnings(offsetMs: number, frozen: boolean): string[] {
  if (frozen)
    return [`The app’s clock is frozen, ${formatDuration(offsetMs)} from the real time; clock.reset brings it back.`];
  if (offsetMs === 0) return [];
  return [`The app’s clock is ${formatDuration(offsetMs)} from the real time; clock.reset brings it back.`];
}
