import type { Breaks } from '../breaks/breaks.ts';
import type { StatusReport } from '../contract/status.ts';
import type { Doctor } from '../doctor/checkup.ts';
import type { Drills } from '../drills/drills.ts';
import { limitsOf } from '../model/rate-decision.ts';
import type { ProjectRow } from '../services/dependencies.ts';
import type { Demo } from '../services/projects/demo.ts';
import { presentProject, createDeployServices, createProjectServices } from '../services/projects/projects.ts';
import { resolveReferences } from '../services/projects/project-rules.ts';
import { createEntryIds } from '../traffic/entry.ts';
import { createRedactors } from '../traffic/redact.ts';
import type { Acme } from './acme.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';
import type { Lan } from './lan.ts';
import type { Providers } from './providers.ts';
import type { EngineMachine, Reach } from './reach.ts';
import { routeTarget } from '../model/route.ts';
import { leadsToOwnPort, readUpstreamDocument } from '../proxy/upstream/dial.ts';
import { createOrderServices } from '../services/pets/orders.ts';
import { createPetSeeds } from '../services/pets/pet-import.ts';
import { createPetServices } from '../services/pets/pets.ts';
import { createApiServices, createRequestHistory, createRequestServices } from '../services/projects/api.ts';
import { createKeyServices, createLimitServices } from '../services/projects/keys.ts';
import type { RunningBreak } from '../contract/breaks.ts';
import { breaksOf } from '../breaks/rule-index.ts';
import type { Services } from '../contract/index.ts';
import { NAME_SERVER } from '../dns/zones/own-zones.ts';
import { presentDomain } from '../domains/present.ts';
import { brokenRecords } from '../services/breaks/record-breaks.ts';
import { createAcmeServices } from '../services/certificates/acme.ts';
import { createCaServices, createCertificateServices } from '../services/certificates/certificates.ts';
import { createDomainServices } from '../services/domains/domains.ts';
import { createCaaServices, createDnsServices } from '../services/zones/dns.ts';
import { createRecordServices } from '../services/zones/records.ts';
import { createZoneRehearsal } from '../services/zones/rehearse.ts';
import { createZoneServices } from '../services/zones/zones.ts';

const identified = ({ id, entry }: RunningBreak) => ({ id, entry });

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
  providers: Providers;
  publish: () => void;
  statusReport: () => StatusReport;
  doctor: Doctor;
  control: () => { port: number; renewToken(): void; signInLink(): string };
}

/** What the services of several namespaces use. */
export type Shared = ReturnType<typeof share>;

export function share({ clock, store, events, settings }: Foundation, parts: ServiceParts, demo: () => Demo) {
  const { projects, keys } = store;
  return {
    effects: { emit: events.emit, publish: parts.publish },
    present: (row: ProjectRow) => presentProject(row, limitsOf(row), parts.dataPlane.ports),
    slugOf: (projectId: string) => projects.get(projectId)?.slug ?? null,
    resolve: (input: unknown) => resolveReferences(input, { projects, keys }),
    redactor: createRedactors(() => settings.current().secretNames),
    trafficIds: createEntryIds(clock.state().realNow),
    /** Made of the services, which it creates its projects with. */
    demo,
  };
}

/** Projects with their keys, limits, deploys and pets, and the requests that the API page sends. */
export function projectServices(
  { clock, store, resource }: Foundation,
  { dataPlane, domains: { lifecycle }, breaks, control }: ServiceParts,
  { effects, present, redactor, demo }: Shared,
) {
  const { projects, keys } = store;
  const { limiter, loopback, internalTokens, pseudonym } = dataPlane;
  return {
    projects: createProjectServices({
      clock,
      projects,
      effects,
      leadsToControl: (url) => leadsToOwnPort(url, control().port),
      present,
      planChanged: lifecycle.planChanged,
      personaChanged: lifecycle.personaChanged,
      makeDemo: () => demo().make(),
      forget(projectId) {
        const gone = lifecycle.list().filter((domain) => domain.projectId === projectId);
        void breaks.endOf(
          gone.map(({ hostname }) => hostname),
          projectId,
        );
        lifecycle.projectRemoved(projectId);
        for (const part of [limiter, dataPlane.rates, dataPlane.series]) part.forget(projectId);
        demo().forget({ projectId });
      },
    }),
    deploys: createDeployServices({
      clock,
      projects,
      deploys: store.deploys,
      effects,
      async probe({ id, target }) {
        if (target.kind !== 'upstream') return dataPlane.api.probe({ projectId: id, environment: 'production' });
        // On demand, because undici takes memory.
        const { probeUpstream } = await import('../proxy/upstream/probe.ts');
        await probeUpstream(target, pseudonym);
      },
    }),
    keys: createKeyServices({
      clock,
      projects,
      keys,
      effects,
      readable: () => demo().key(),
      lastUse: (key) => limiter.lastRequestOf(key.projectId, key.id),
      forget(key) {
        limiter.forget(key.projectId, `key:${key.id}`);
        demo().forget({ keyId: key.id });
      },
    }),
    limits: createLimitServices({ projects, keys, limiter, effects }),
    api: createApiServices({
      projects,
      keys,
      present,
      document: dataPlane.api.document,
      async upstreamDocument({ target }, authority, signal) {
        const published = routeTarget(target);
        return published.kind !== 'upstream' ? null : readUpstreamDocument(published, { authority, pseudonym, signal });
      },
      loopback,
      internalTokens,
      recorder: dataPlane.recorder,
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
  };
}

/** Domains with what they need: zones and records, certificates, ACME and the root. */
export function domainServices(
  { clock, store, events, settings }: Foundation,
  { dataPlane, dns, domains: { lifecycle, leaves }, certificates, breaks, acme: { server } }: ServiceParts,
  { effects, present: presentProject }: Shared,
  deploys: Services['deploys'],
) {
  const { projects, revocations } = store;
  const { emit } = events;
  const { root, platformLeaves } = certificates;
  const dropLeaves = (): void => [platformLeaves, leaves].forEach((each) => each.dropAll());
  const zoneParts = { clock, zones: store.zones, records: store.records, writer: dns.recordWriter };
  const zones = createZoneServices({
    ...zoneParts,
    nameServer: NAME_SERVER,
    server: () => dns.listening,
    emit,
    platform: dns.platformZone,
    publish: dns.zoneChanged,
    publishSerial: (name) => dns.namesChanged(name, []),
    publishSigning: dns.signingChanged,
    onRestored: store.snapshots.onRestored,
  });
  const records = createRecordServices({ ...zoneParts, broken: () => brokenRecords(store.breaks.list()) });
  return {
    zones: { ...zones, rehearse: createZoneRehearsal(() => settings.current().caaIdentity) },
    records,
    domains: createDomainServices({
      projects,
      lifecycle,
      effects,
      present: (domain, project) =>
        presentDomain(domain, {
          rules: lifecycle.rules(domain, project),
          zone: dns.zoneOf(domain.hostname),
          primary: project?.primary === domain.hostname,
          breaks: breaksOf(domain, breaks.list()).map(identified),
          isAttached: lifecycle.isAttached,
        }),
      presentProject,
      endBreaks: async (hostname) => (await breaks.endOf([hostname])).map(identified),
      local: { zones, records, deploys, ports: () => dataPlane.ports },
    }),
    caa: createCaaServices({ dns: dns.lookup, identity: () => settings.current().caaIdentity }),
    dns: createDnsServices({ clock, client: dns.client, resolver: dns.resolver }),
    certificates: createCertificateServices({
      lifecycle,
      clock,
      revocations,
      chainOf: certificates.issuer.chainOf,
      emit,
    }),
    acme: createAcmeServices({
      rows: store.acme,
      server,
      revocations,
      clock,
      enforced: () => settings.current().acmeLimits,
      changed: () => emit('acme.changed'),
    }),
    ca: createCaServices({
      root: {
        describe: root.describe,
        async extend(suffix) {
          root.extend(suffix);
          dropLeaves();
          await lifecycle.issuerExtended();
        },
        async retract(suffix) {
          root.retract(suffix);
          dropLeaves();
          await lifecycle.issueMissing();
        },
        renew() {
          root.renew();
          dropLeaves();
        },
      },
      stores: certificates.trustStores,
      effects,
    }),
  };
}
