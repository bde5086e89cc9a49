import { SUNSETS } from '../api/operations.ts';
import { openExaminations } from '../base/system/examinations.ts';
import { isAlive } from '../base/system/runtime-file.ts';
import { sweepTemporaryFolders } from '../base/system/temporary-folder.ts';
import { originOf } from '../base/text/hostname.ts';
import { titleOf } from '../breaks/catalogue/index.ts';
import type { Services } from '../contract/index.ts';
import { NAME_SERVER } from '../dns/zones/own-zones.ts';
import { createBreakServices, createDrillServices } from '../services/breaks/breaks.ts';
import { createClockServices } from '../services/clock.ts';
import { createExaminationServices } from '../services/examinations.ts';
import { createLanServices, createMachineServices, createReachServices } from '../services/machine.ts';
import { createDemo } from '../services/projects/demo.ts';
import { existingProject } from '../services/projects/projects.ts';
import { createProviderServices } from '../services/providers.ts';
import { createRunJournal } from '../services/runs/run-journal.ts';
import { lockRuns, type RunLocks } from '../services/runs/run-locks.ts';
import { createRuns } from '../services/runs/runs.ts';
import { createSettingsServices } from '../services/settings.ts';
import { createSnapshotServices } from '../services/snapshots.ts';
import { createMannersServices } from '../services/traffic/manners.ts';
import { createTrafficServices } from '../services/traffic/traffic.ts';
import { createWorldServices } from '../services/world/world.ts';
import { createTrafficStorage } from '../traffic/stored.ts';
import type { Foundation } from './foundation.ts';
import { domainServices, projectServices, type ServiceParts, share, type Shared } from './namespaces.ts';

/** When a killed process is surely gone after its connection closed, in milliseconds. */
const GONE_MS = 1000;

/** Maps every namespace of the contract to its service; also builds the demo, which uses them on the first start. */
export function createServices(foundation: Foundation, parts: ServiceParts) {
  const { config, clock, store, events, settings, resource, inFolder } = foundation;
  const { certificates, dns, dataPlane, domains, reach } = parts;
  const { projects, keys } = store;
  const { lifecycle } = domains;
  const shared = share(foundation, parts, () => demo);
  const { effects, redactor, trafficIds, resolve } = shared;
  const ofProjects = projectServices(foundation, parts, shared);
  const { runs, ...ofWorld } = worldServices(foundation, parts, shared, () => ({ services, locks }));
  const services: Services = {
    ...ofProjects,
    ...domainServices(foundation, parts, shared, ofProjects.deploys),
    ...ofWorld,
    runs: runs.services,
    status: {
      get: parts.statusReport,
      rates: ({ projectId } = {}) =>
        dataPlane.rates.read(projectId === undefined ? undefined : existingProject(projects, projectId).id),
    },
    clock: createClockServices({
      clock,
      observe: () => ({
        domains: lifecycle.list(),
        limits: dataPlane.limiter.totals(),
        breaks: new Map(parts.breaks.list().map(({ id, title }) => [id, title])),
        published: dns.changesPublished(),
      }),
      sunsets: SUNSETS,
      projectName: (projectId) => projects.get(projectId)?.name ?? projectId,
    }),
    traffic: createTrafficServices({
      ...dataPlane,
      clock,
      ids: trafficIds,
      recording: () => settings.current().traffic.record,
      redactor,
      keys,
      projects,
    }),
    manners: createMannersServices({
      recorder: dataPlane.recorder,
      ids: trafficIds,
      clock,
      keys,
      projects,
      banRule: () => settings.inForce().ban,
    }),
    providers: createProviderServices({ ...parts.providers, projects, lifecycle, services: () => services }),
    reach: createReachServices(reach),
    machine: createMachineServices({ machine: parts.machine, address: reach.address, effects }),
    lan: createLanServices(parts.lan),
    breaks: createBreakServices(parts.breaks),
    drills: createDrillServices(parts.drills),
    examinations: createExaminationServices(openExaminations(config.dataDir), () =>
      events.emit('examinations.changed'),
    ),
    doctor: { run: (input) => parts.doctor.run(input?.areas) },
    settings: createSettingsServices({
      holder: settings,
      effects,
      moveRootKey: certificates.root.moveKey,
      lookupsChanged: () => void lifecycle.lookupsChanged(),
    }),
    access: {
      renewToken() {
        parts.control().renewToken();
        return { signInLink: parts.control().signInLink() };
      },
    },
    events: { watch: (_input, { signal }) => events.watch(signal) },
  };
  const demo = createDemo({
    file: config.ephemeral ? null : inFolder('demo-key.json'),
    keys,
    settings: store.settings,
    services,
    petsJson: () => resource('demo/pets.json'),
  });
  store.snapshots.onRestored(demo.restored);
  // A run changes what it holds, and a snapshot interrupts it; for everyone else, files included, it is locked.
  const locks = lockRuns(services, runs);
  return { services: locks.services, resolve, demo, runs };
}

/** What changes or replaces the world as a whole: files, snapshots, backups and runs. */
export function worldServices(
  { clock, log, store, events, onStop }: Foundation,
  { certificates, dataPlane, domains: { lifecycle }, breaks, providers }: ServiceParts,
  { redactor, trafficIds, slugOf, resolve, demo }: Shared,
  built: () => { services: Services; locks: RunLocks },
) {
  const { projects } = store;
  const services = () => built().services;
  const realNow = () => clock.state().realNow;
  const runs = createRuns({
    services,
    projects,
    lifecycle,
    journal: createRunJournal({ services, projects, lifecycle, settings: store.settings, log, realNow }),
    urlOf: (hostname) => originOf('https', hostname, dataPlane.ports.https),
    caFile: () => certificates.certificateFile,
    realNow,
    changed: (projectId) => events.emit('projects.changed', { projectId }),
    isAlive,
    onEnded(pid) {
      providers.processEnded(pid);
      sweepTemporaryFolders();
      // The connection of a killed process closes before the process is gone.
      clock.realTimer(GONE_MS, sweepTemporaryFolders);
    },
  });
  onStop(runs.stop);
  return {
    runs,
    backup: { create: store.backUpTo },
    snapshots: createSnapshotServices({
      rows: store.snapshots,
      clock,
      root: certificates.root.identity,
      demoKey: () => demo().key(),
      flushCounters: dataPlane.limiter.flush,
      issueMissing: lifecycle.issueMissing,
      runs,
      breaks,
      traffic: createTrafficStorage({
        recorder: dataPlane.recorder,
        ids: trafficIds,
        clock,
        presentation: () => ({ ...trafficIds, redactor: redactor(), slugOf, titleOf }),
      }),
      emit: events.emit,
    }),
    world: createWorldServices({
      services: () => built().locks.services,
      check: (...call) => built().locks.check(...call),
      resolve,
      deploys: store.deploys,
      owned: store.owned,
      rows: { projects, records: store.records, pets: store.pets },
      domains: lifecycle.list,
      nameServer: NAME_SERVER,
      now: () => clock.now(),
      realNow,
      ownersChanged: () => events.emit('status.changed'),
    }),
  };
}
