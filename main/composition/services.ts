import { SUNSETS } from '../api/operations.ts';
import type { Services } from '../contract/index.ts';
import type { StatusReport } from '../contract/status.ts';
import { NAME_SERVER } from '../dns/zones/platform-zone.ts';
import { presentDomain } from '../domains/present.ts';
import { originOf } from '../base/text/hostname.ts';
import { isAlive } from '../base/system/runtime-file.ts';
import { limitsOf } from '../model/rate-decision.ts';
import { routeTarget } from '../model/route.ts';
import { leadsToOwnPort } from '../proxy/upstream/dial.ts';
import { readUpstreamDocument } from '../proxy/upstream/document.ts';
import { createAcmeServices } from '../services/certificates/acme.ts';
import { presentProject, createProjectServices, createDeployServices } from '../services/projects/projects.ts';
import { createApiServices } from '../services/projects/api.ts';
import { createBreakServices, createDrillServices } from '../services/breaks/breaks.ts';
import { createCaServices } from '../services/certificates/ca.ts';
import { createCaaServices, createDnsServices } from '../services/zones/dns.ts';
import { createCertificateServices } from '../services/certificates/certificates.ts';
import { createClockServices } from '../services/clock.ts';
import { createDemo } from '../services/projects/demo.ts';
import type { ProjectRow } from '../services/dependencies.ts';
import {
  createDoctorServices,
  createStatusServices,
  createAccessServices,
  createEventServices,
} from '../services/status.ts';
import { createDomainServices } from '../services/domains/domains.ts';
import { createKeyServices } from '../services/projects/keys.ts';
import { createLanServices, createMachineServices } from '../services/machine.ts';
import { createLimitServices } from '../services/projects/limits.ts';
import { createOrderServices } from '../services/pets/orders.ts';
import { createPetSeeds } from '../services/pets/pet-seeds.ts';
import { createPetServices } from '../services/pets/pets.ts';
import { createRunJournal } from '../services/runs/run-journal.ts';
import { createRuns } from '../services/runs/runs.ts';
import { createRequestHistory, createRequestServices } from '../services/traffic/requests.ts';
import { createReachServices } from '../services/reach.ts';
import { resolveReferences } from '../services/world/references.ts';
import { createSnapshotServices } from '../services/snapshots.ts';
import { brokenRecords } from '../services/breaks/record-breaks.ts';
import { createRecordServices } from '../services/zones/records.ts';
import { createSettingsServices } from '../services/settings.ts';
import { createTrafficServices } from '../services/traffic/traffic.ts';
import { createWorldServices } from '../services/world/world.ts';
import { createZoneServices } from '../services/zones/zones.ts';
import { createEntryIds } from '../traffic/entry.ts';
import { createRedactors } from '../traffic/redact.ts';
import { createTrafficStorage } from '../traffic/stored.ts';
import type { Breaks } from '../breaks/breaks.ts';
import { breaksOf } from '../breaks/rule-index.ts';
import type { Drills } from '../drills/drills.ts';
import type { Acme } from './acme.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Doctor } from '../doctor/examination.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { EngineMachine, Reach } from './reach.ts';
import type { Foundation } from './foundation.ts';
import type { Lan } from './lan.ts';

export interface ServiceParts {
  acme: Acme;
  certificates: Certificates;
  dns: Dns;
  domains: Domains;
  dataPlane: DataPlane;
  reach: Reach;
  machine: EngineMachine;
  lan: Lan;
  breaks: Breaks;
  drills: Drills;
  publish: () => void;
  statusReport: () => StatusReport;
  doctor: Doctor;
  control: () => { port: number; renewToken(): void; signInLink(): string };
}

/** Maps every namespace of the contract to its service; also builds the demo, which uses them on the first start. */
export function createServices(
  { config, clock, log, store, events, settings, resource, inFolder, onStop }: Foundation,
  parts: ServiceParts,
) {
  const { certificates, dns, dataPlane, publish } = parts;
  const { lifecycle } = parts.domains;
  const { projects } = store;
  const effects = { emit: events.emit, publish };
  const present = (row: ProjectRow) => presentProject(row, limitsOf(row), dataPlane.ports);
  const zoneParts = { clock, zones: store.zones, records: store.records, writer: dns.recordWriter };

  const deploys = createDeployServices({
    clock,
    projects,
    deploys: store.deploys,
    effects,
    async probe({ id, target }) {
      if (target.kind === 'upstream') {
        // On demand, because undici takes memory.
        const { probeUpstream } = await import('../proxy/upstream/probe.ts');
        await probeUpstream(target, dataPlane.pseudonym);
      } else await dataPlane.api.probe({ projectId: id, environment: 'production' });
    },
  });
  const zones = createZoneServices({
    ...zoneParts,
    nameServer: NAME_SERVER,
    server: () => dns.listening,
    emit: events.emit,
    platform: dns.platformZone,
    publish: dns.zoneChanged,
    publishSerial: (name) => dns.namesChanged(name, []),
    publishSigning: dns.signingChanged,
    onRestored: store.snapshots.onRestored,
  });
  const records = createRecordServices({ ...zoneParts, broken: () => brokenRecords(store.breaks.list()) });

  const runs = createRuns({
    services: () => services,
    projects,
    lifecycle,
    journal: createRunJournal({ services: () => services, projects, lifecycle, settings: store.settings, log }),
    urlOf: (hostname) => originOf('https', hostname, dataPlane.ports.https),
    caFile: () => certificates.certificateFile,
    realNow: () => clock.state().realNow,
    isAlive,
  });
  onStop(runs.stop);

  const references = { projects, keys: store.keys };
  const redactor = createRedactors(() => settings.current().secretNames);
  const trafficIds = createEntryIds(clock.state().realNow);
  const services: Services = {
    status: createStatusServices({ projects, report: parts.statusReport, rates: dataPlane.rates.read }),
    projects: createProjectServices({
      clock,
      projects,
      effects,
      leadsToControl: (url) => leadsToOwnPort(url, parts.control().port),
      present,
      planChanged: lifecycle.planChanged,
      personaChanged: lifecycle.personaChanged,
      forget(projectId) {
        const gone = lifecycle.list().filter((domain) => domain.projectId === projectId);
        void parts.breaks.endOf(gone.map(({ hostname }) => hostname));
        lifecycle.projectRemoved(projectId);
        dataPlane.limiter.forget(projectId);
        dataPlane.rates.forget(projectId);
        dataPlane.series.forget(projectId);
        demo.forget({ projectId });
      },
    }),
    deploys,
    keys: createKeyServices({
      clock,
      projects,
      keys: store.keys,
      effects,
      lastUse: (key) => dataPlane.limiter.lastRequestOf(key.projectId, key.id),
      forget(key) {
        dataPlane.limiter.forget(key.projectId, `key:${key.id}`);
        demo.forget({ keyId: key.id });
      },
    }),
    limits: createLimitServices({
      projects,
      keys: store.keys,
      limiter: dataPlane.limiter,
      effects,
    }),
    api: createApiServices({
      projects,
      keys: store.keys,
      present,
      document: dataPlane.api.document,
      async upstreamDocument({ target }, authority, signal) {
        const published = routeTarget(target);
        if (published.kind === 'api') return null;
        return readUpstreamDocument(published, { authority, pseudonym: dataPlane.pseudonym, signal });
      },
      loopback: dataPlane.loopback,
      internalTokens: dataPlane.internalTokens,
      remember: createRequestHistory({ clock, rows: store.requests, effects, redactor }),
    }),
    requests: createRequestServices({ projects, rows: store.requests, effects }),
    pets: createPetServices({
      clock,
      projects,
      pets: store.pets,
      seeds: () => createPetSeeds(resource('demo/seed.json')),
      onRestored: store.snapshots.onRestored,
    }),
    orders: createOrderServices({ clock, projects, orders: store.orders, effects }),
    domains: createDomainServices({
      projects,
      lifecycle,
      effects,
      present: (domain, project) =>
        presentDomain(domain, {
          rules: lifecycle.rules(domain, project),
          zone: dns.zoneOf(domain.hostname),
          primary: project?.primary === domain.hostname,
          breaks: breaksOf(domain.hostname, parts.breaks.list()),
          isAttached: lifecycle.isAttached,
        }),
      presentProject: present,
      endBreaks: async (hostname) => (await parts.breaks.endOf([hostname])).map(({ id, entry }) => ({ id, entry })),
      local: { zones, records, deploys },
    }),
    caa: createCaaServices({ dns: dns.lookup, identity: () => settings.current().caaIdentity }),
    certificates: createCertificateServices({
      lifecycle,
      clock,
      revocations: store.revocations,
      chainOf: certificates.issuer.chainOf,
      emit: events.emit,
    }),
    zones,
    records,
    dns: createDnsServices({ clock, client: dns.client, resolver: dns.resolver }),
    acme: createAcmeServices({
      rows: store.acme,
      server: parts.acme.server,
      revocations: store.revocations,
      clock,
      enforced: () => settings.current().acmeLimits,
      changed: () => events.emit('acme.changed'),
    }),
    ca: createCaServices({
      root: {
        describe: certificates.root.describe,
        async extend(suffix) {
          certificates.root.extend(suffix);
          parts.domains.leaves.dropAll();
          await lifecycle.issuerExtended();
        },
        async retract(suffix) {
          certificates.root.retract(suffix);
          parts.domains.leaves.dropAll();
          await lifecycle.issueMissing();
        },
        renew() {
          certificates.root.renew();
          parts.domains.leaves.dropAll();
        },
      },
      stores: certificates.trustStores,
      effects,
    }),
    clock: createClockServices({
      clock,
      observe: () => ({
        domains: lifecycle.list(),
        limits: dataPlane.limiter.totals(),
        published: dns.changesPublished(),
      }),
      sunsets: SUNSETS,
      projectName: (projectId) => projects.get(projectId)?.name ?? projectId,
    }),
    traffic: createTrafficServices({
      recorder: dataPlane.recorder,
      running: dataPlane.running,
      clock,
      series: dataPlane.series,
      ids: trafficIds,
      recording: () => settings.current().traffic.record,
      redactor,
      keys: store.keys,
      projects,
      loopback: dataPlane.loopback,
      internalTokens: dataPlane.internalTokens,
    }),
    reach: createReachServices(parts.reach),
    runs: runs.services,
    machine: createMachineServices({ machine: parts.machine, address: parts.reach.address, effects }),
    lan: createLanServices(parts.lan),
    breaks: createBreakServices(parts.breaks),
    drills: createDrillServices(parts.drills),
    backup: { create: store.backUpTo },
    snapshots: createSnapshotServices({
      rows: store.snapshots,
      clock,
      root: certificates.root.identity,
      demoKey: () => demo.key(),
      flushCounters: dataPlane.limiter.flush,
      issueMissing: lifecycle.issueMissing,
      runs,
      breaks: parts.breaks,
      traffic: createTrafficStorage({
        recorder: dataPlane.recorder,
        ids: trafficIds,
        clock,
        presentation: () => ({
          ...trafficIds,
          redactor: redactor(),
          slugOf: (projectId) => projects.get(projectId)?.slug ?? null,
        }),
      }),
      emit: events.emit,
    }),
    world: createWorldServices({
      services: () => services,
      resolve: (input) => resolveReferences(input, references),
      deploys: store.deploys,
      owned: store.owned,
      rows: { projects, records: store.records, pets: store.pets },
      domains: lifecycle.list,
      nameServer: NAME_SERVER,
      now: () => clock.now(),
      realNow: () => clock.state().realNow,
      ownersChanged: () => events.emit('status.changed'),
    }),
    doctor: createDoctorServices(parts.doctor),
    settings: createSettingsServices({
      holder: settings,
      effects,
      moveRootKey: certificates.root.moveKey,
      lookupsChanged: () => void lifecycle.lookupsChanged(),
    }),
    access: createAccessServices({
      renewToken: () => parts.control().renewToken(),
      signInLink: () => parts.control().signInLink(),
    }),
    events: createEventServices(events),
  };

  const demo = createDemo({
    file: config.ephemeral ? null : inFolder('demo-key.json'),
    keys: store.keys,
    settings: store.settings,
    services,
    petsJson: () => resource('demo/pets.json'),
  });
  store.snapshots.onRestored(demo.restored);
  return { services, resolve: (input: unknown) => resolveReferences(input, references), demo, runs };
}
