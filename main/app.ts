import { homedir } from 'node:os';
import { join } from 'node:path';
import { DOH_PATH } from './base/config.ts';
import { defaultDataDir } from './base/system/data-dir.ts';
import { DATABASE_FILE, explainFullDisk } from './base/system/data-folder.ts';
import { realTime } from './base/clock.ts';
import { createLog } from './base/log.ts';
import { openAcme } from './composition/acme.ts';
import { openCertificates } from './composition/certificates.ts';
import { addMachineBreaks, addZoneBreaks, openBreaks, openDrills } from './composition/breaks.ts';
import { announce, startControl, reportStatus } from './composition/control-plane.ts';
import { startDataPlane } from './composition/data-plane.ts';
import { startDns, dohPath } from './composition/dns.ts';
import { openDomains } from './composition/domains.ts';
import { ACME_PATH } from './acme/resources.ts';
import { openEngineDoctor } from './composition/doctor.ts';
import { type Closer, DRAIN_MS_MAX, type FoundationOptions, openFoundation } from './composition/foundation.ts';
import { ownCommand } from './base/system/own-command.ts';
import { openLan } from './composition/lan.ts';
import { openProviders } from './composition/providers.ts';
import { openEngineMachine, openReach } from './composition/reach.ts';
import { createServices } from './composition/services.ts';
import { explainTakenPorts } from './base/system/bind-port.ts';
import { FOLDER_READERS } from './offline/at-rest.ts';
import { buildSnapshot, createRouteCache } from './domains/snapshot.ts';
import { ownFile } from './proxy/front/own-paths.ts';
import { createLooks } from './proxy/front/loopback.ts';
import { explainStart } from './store/database.ts';
import { createRouter } from './rpc/router.ts';
import { noteOf, withDrill } from './services/breaks/breaks.ts';
import { breakableIssuer, verifyBroken, verifyRepaired } from './services/breaks/domain-breaks.ts';

export interface AppOptions extends FoundationOptions {
  /** The folder of the built interface; null if it has not been built. */
  assetsDir: string | null;
}

export type App = Awaited<ReturnType<typeof startApp>>;

/**
 * Builds everything in dependency order, and serves.
 * @throws VivariumError with one line that says what to change, after closing everything that was opened.
 */
export async function startApp(options: AppOptions) {
  const closers: Closer[] = [];
  const log = createLog(realTime, options.writeLog, options.logLevel);
  const close = async (drainMs = DRAIN_MS_MAX) => {
    for (const closer of closers.splice(0).reverse()) {
      try {
        await closer(drainMs);
      } catch (error) {
        // Continue: other parts still have sockets to close and a folder to release.
        log.error('A part of Vivarium could not be stopped properly', { error });
      }
    }
  };
  try {
    const app = await compose(options, (closer) => closers.push(closer));
    let stopping: Promise<void> | null = null;
    return {
      ...app,
      /**
       * Drains, stops everything in reverse order, and releases the data folder. Logs failures to stop. Further calls
       * wait for the first.
       * @param drainMs how long requests in progress may take; 5 s by default
       */
      stop: (drainMs?: number): Promise<void> => (stopping ??= close(drainMs)),
    };
  } catch (error) {
    await close();
    const dataDir = defaultDataDir({ platform: process.platform, env: process.env, homeDir: homedir() });
    const explained = explainStart(error, join(options.config.dataDir, DATABASE_FILE));
    throw await explainTakenPorts(explainFullDisk(explained, options.config.dataDir), options.config, {
      dataDir,
      stop: ownCommand(dataDir)('vivarium stop'),
    });
  }
}

async function compose(options: AppOptions, onStop: (closer: Closer) => void) {
  const foundation = openFoundation(options, onStop);
  const { clock, log, store } = foundation;

  const breaks = openBreaks(foundation, () => dns, {
    onStarted: (started) => verifyBroken({ log, lifecycle: domains.lifecycle }, started),
    onRepaired: (repaired) => verifyRepaired({ log, lifecycle: domains.lifecycle }, repaired),
  });
  const certificates = await openCertificates(foundation);
  // The DNS server answers for the stored projects until the first snapshot is published.
  const { platformHostnames } = buildSnapshot({ projects: store.projects.list(), keys: [], domains: [] });
  const dns = await startDns(foundation, { platformHostnames, faults: breaks.faults });
  const looks = createLooks({ port: () => dataPlane.ports.http });
  const issuer = breakableIssuer(certificates.issuer, breaks.faults);
  const shareAccount = (one: string, other: string): boolean => providers.connections.shareAccount(one, other);
  const domains = openDomains(foundation, { issuer, dns, publish, looks, shareAccount });
  const { faults } = breaks;
  const acme = openAcme(foundation, { certificates, dns, domains, ports: () => dataPlane.ports, faults });
  const providers = openProviders(foundation, {
    ...{ certificates, domains, publish },
    services: () => services,
    dataPlane: () => dataPlane,
  });
  const dataPlane = await startDataPlane(
    foundation,
    { platform: certificates.platformLeaves, domains: domains.leaves, broken: certificates.brokenHandshake },
    domains.whyUnserved,
    looks,
    new Map([
      ...[...certificates.openFiles].map(([path, file]) => [path, ownFile(file)] as const),
      [DOH_PATH, dohPath({ answer: dns.doh, log })],
      [ACME_PATH, acme.path],
    ]),
    faults,
    providers,
  );
  certificates.bound(dataPlane.ports);
  const parts = { certificates, dns, domains, dataPlane };
  const reach = openReach(foundation, { ...parts, controlUrl: () => control.url });
  const status = () => reportStatus(foundation, { ...parts, lan, control });
  const lan = openLan(foundation, {
    ...{ certificates, dns, dataPlane },
    isSecure: (hostname) => domains.leaves.contextFor(hostname) !== null,
  });
  const { http, https } = dataPlane.ports;
  addZoneBreaks(breaks.states, foundation, { dns, domains, ports: () => [http, https] });
  addMachineBreaks(breaks.states, foundation, { domains, publish });
  const drills = openDrills(foundation, { ...parts, breaks, services: () => services });
  const { services, resolve, demo, runs } = createServices(foundation, {
    ...{ ...parts, acme, lan, drills, providers, reach },
    machine: openEngineMachine(foundation, { ...parts, reach }),
    breaks: withDrill(breaks, drills),
    control: () => control,
    publish,
    statusReport: status,
    doctor: openEngineDoctor(foundation, FOLDER_READERS, {
      ...{ ...parts, looks, reach, status },
      control: () => control,
      services: () => services,
      breaks,
    }),
  });

  const routeCache = createRouteCache();

  function publish(): void {
    const snapshot = buildSnapshot(
      {
        projects: store.projects.list(),
        keys: store.keys.active(),
        domains: domains.lifecycle.list(),
        providers: providers.connections.inUse(),
      },
      routeCache,
    );
    dns.publish(snapshot, dataPlane.ports.https);
    dataPlane.publish(snapshot);
    breaks.publish(snapshot);
    reach.publish(snapshot);
    lan.publish(snapshot);
  }

  store.snapshots.onRestored(publish);

  const router = createRouter(services, {
    ...{ log, clock, resolve },
    onCall(procedure, input) {
      const note = noteOf(procedure, input);
      if (note !== null) drills.recordStep(note);
    },
  });
  // Clients find the control port through `announce`, which runs when everything is ready.
  const control = await startControl(foundation, { ...parts, router, reach, assetsDir: options.assetsDir });
  await demo.prepare({ empty: options.config.empty, now: clock.now() });
  await runs.recover();
  await breaks.resume();
  publish();
  await drills.resume();
  domains.lifecycle.start();
  await lan.begin(options.config);
  const runtime = announce(foundation, { ...parts, reach, acme, control });
  foundation.started();
  return {
    runtime,
    services,
    router,
    /** A one-time sign-in link to the interface, valid for a minute by default. */
    signInLink: control.signInLink,
    demoKey: demo.key,
    /** The number of client requests whose answers are not complete. */
    inProgress: dataPlane.inProgress,
    /** The interface or address chosen for serving other devices; undefined if none is. */
    lan: lan.wanted,
    /** `vivarium domain list` as a pasteable command. */
    ownCommand: ownCommand(options.config.dataDir),
    /** Whether the listeners use every address, as in a container, instead of loopback addresses only. */
    isEverywhere: options.config.host !== undefined,
  };
}
