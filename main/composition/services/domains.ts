import { breaksOf } from '../../breaks/rule-index.ts';
import type { Services } from '../../contract/index.ts';
import { NAME_SERVER } from '../../dns/zones/own-zones.ts';
import { presentDomain } from '../../domains/present.ts';
import { brokenRecords } from '../../services/breaks/record-breaks.ts';
import { createAcmeServices } from '../../services/certificates/acme.ts';
import { createCaServices } from '../../services/certificates/ca.ts';
import { createCertificateServices } from '../../services/certificates/certificates.ts';
import { createDomainServices } from '../../services/domains/domains.ts';
import { createCaaServices, createDnsServices } from '../../services/zones/dns.ts';
import { createRecordServices } from '../../services/zones/records.ts';
import { createZoneRehearsal } from '../../services/zones/rehearse.ts';
import { createZoneServices } from '../../services/zones/zones.ts';
import type { Foundation } from '../foundation.ts';
import type { ServiceParts, Shared } from './shared.ts';

/** Domains with what they need: zones and records, certificates, ACME and the root. */
export function domainServices(
  { clock, store, events, settings }: Foundation,
  { dns, domains: { lifecycle, leaves }, certificates, breaks, acme: { server } }: ServiceParts,
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
          breaks: breaksOf(domain, breaks.list()),
          isAttached: lifecycle.isAttached,
        }),
      presentProject,
      endBreaks: async (hostname) => (await breaks.endOf([hostname])).map(({ id, entry }) => ({ id, entry })),
      local: { zones, records, deploys },
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
