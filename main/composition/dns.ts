import { listenAddresses } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { wildcardOver } from '../contract/hostnames.ts';
import { type ServerAddress, createDnsClient } from '../dns/client/client.ts';
import { createLookup, type Resolver, serverText } from '../dns/client/lookup.ts';
import {
  checkDohMessage,
  type CheckedQuery,
  createDoh,
  DNS_MESSAGE,
  type DohAnswer,
  readDohRequest,
  SILENT,
} from '../dns/server/doh.ts';
import { createDnsServer } from '../dns/server/server.ts';
import { MESSAGE_OCTETS_MAX } from '../dns/wire/message-writer.ts';
import { serviceRecord } from '../dns/wire/service-parameters.ts';
import { NAME_SERVER, publishPlatformZone } from '../dns/zones/own-zones.ts';
import { createZonePublisher } from '../dns/zones/zone-publisher.ts';
import { ZoneSet } from '../dns/zones/zone-set.ts';
import type { DomainName } from '../model/dns-name.ts';
import type { FaultSource } from '../model/fault.ts';
import type { Snapshot } from '../model/route.ts';
import { octetsAnswer, type OwnPath, readBody, refusal } from '../proxy/front/own-paths.ts';
import { createRecordUpdates, createRecordWriter } from '../services/zones/record-writer.ts';
import { providerFacts, zoneFacts } from '../services/zones/zone-rules.ts';
import type { Foundation } from './foundation.ts';

export type Dns = Awaited<ReturnType<typeof startDns>>;

/**
 * Zones and their records, the server that answers from them, and the client that asks it or the configured resolver.
 */
export async function startDns(
  { config, clock, log, store, events, settings, onStop }: Foundation,
  { platformHostnames, faults }: { platformHostnames: readonly string[]; faults: FaultSource },
) {
  let onChanged = (): void => undefined;
  const recordsChanged = (zone?: string): void => {
    events.emit('records.changed', zone === undefined ? {} : { zone });
    onChanged();
  };
  const zones = new ZoneSet();
  const platform = publishPlatformZone(zones, platformHostnames, store.serials.ofPlatform);
  const zonePublisher = createZonePublisher({
    clock,
    stored: { ...store.records, zones: store.zones.list, zone: store.zones.get },
    zones,
    onPublished: () => recordsChanged(),
  });
  onStop(() => zonePublisher.stop());
  store.snapshots.onRestored(() => zonePublisher.reload());
  clock.onAdjusted((change) => {
    zonePublisher.clockAdjusted(change);
    recordsChanged();
  });
  const recordWriter = createRecordWriter({
    clock,
    records: store.records,
    propagationMs: () => settings.inForce().propagationMs,
    onChanged(zone, change) {
      zonePublisher.recordsChanged(zone, change);
      recordsChanged(zone);
    },
  });

  const updatable = createRecordUpdates({
    zones: store.zones,
    records: store.records,
    writer: recordWriter,
    nameServer: NAME_SERVER,
    realNow: () => clock.state().realNow,
  });
  const server = createDnsServer({
    clock,
    log,
    port: config.dnsPort,
    addresses: listenAddresses(config),
    zones: zonePublisher.current,
    updatable,
    faults,
  });
  onStop(() => server.stop());
  const listening = await server.start();
  const client = createDnsClient(clock);
  onStop(() => client.close());
  const resolverOf = (foreign: ServerAddress | null): Resolver =>
    foreign === null ? { address: '127.0.0.1', port: listening.port, local: true } : { ...foreign, local: false };
  const resolver = (): Resolver => resolverOf(settings.inForce().resolver);
  const trust = {
    signs: () => zones.signs,
    anchorOf: (name: DomainName) => zones.anchorOf(name),
    now: () => clock.now(),
  };
  const findZone = (apex: string) => zones.get(apex);

  return {
    listening,
    client,
    resolver,
    lookup: createLookup(client, resolver, trust),
    /** A resolver of a remote perspective; null is Vivarium's own server. */
    perspective: (server: ServerAddress | null) => ({
      name: server === null ? 'Vivarium’s DNS' : serverText(server),
      lookup: createLookup(client, () => resolverOf(server), trust),
    }),
    recordWriter,
    changesPublished: zonePublisher.published,
    /** Answers messages of DNS over HTTPS. */
    doh: createDoh({
      exchange: server.exchange,
      strikes: server.strikes,
      forwardsProbe: () => settings.current().dohForwardsProbe,
    }),
    /** The platform's own zone, as served. */
    platformZone: platform.index,
    /** The local zone that contains a hostname, if any. */
    zoneOf: (hostname: string) => zoneFacts(hostname, findZone),
    /** The records stored for a hostname; null outside the local zones or with another resolver. */
    provider: (hostname: string) =>
      resolver().local ? providerFacts(hostname, { zone: findZone, records: store.records }) : null,
    /** Call after the stored records of some names were replaced, without propagation. */
    namesChanged(zone: string, names: readonly string[]): void {
      zonePublisher.namesChanged(zone, names);
      recordsChanged(zone);
    },
    /** Call after a zone was created or removed. */
    zoneChanged(name: string): void {
      zonePublisher.zoneChanged(name);
      onChanged();
    },
    /** Call after the signing of a zone was changed. */
    signingChanged(name: string): void {
      zonePublisher.signingChanged(name);
      onChanged();
    },
    /** Sets a listener for possible changes of answers. */
    onRecordsChanged(listener: () => void): void {
      onChanged = listener;
    },
    /** Sets the names of the platform's own zone that have addresses, and those that have HTTPS records. */
    publish(snapshot: Snapshot & { platformHostnames: readonly string[] }, httpsPort: number): void {
      platform.publish(snapshot.platformHostnames);
      if (!settings.current().httpsRecords) return zones.setServices(() => null);
      const { redirects, routes } = snapshot;
      let known: ReadonlySet<string> | null = null;
      // On first use: checks of many domains publish more often than clients query.
      const served = () => (known ??= new Set([...redirects.keys(), ...routes.map(({ hostname }) => hostname)]));
      const record = serviceRecord(httpsPort);
      zones.setServices((name) => (served().has(name) || served().has(wildcardOver(name)) ? record : null));
    },
  };
}

/** DNS over HTTPS as a path of the proxy. */
export const dohPath =
  (options: { answer: ReturnType<typeof createDoh>; log: Pick<Log, 'error'> }): OwnPath =>
  ({ method, target, scheme, headers, body }, send) => {
    const fetchSite = headers['sec-fetch-site'];
    const found = readDohRequest({
      method,
      target,
      scheme,
      authority: headers[':authority'] ?? headers.host ?? '',
      contentType: headers['content-type'],
      origin: headers.origin,
      fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
    });
    const fail = (error: unknown): void => {
      options.log.error('A DNS query over HTTPS could not be answered', { error });
      send(refusal(500, 'The DNS query could not be answered.'));
    };
    const reply = (query: CheckedQuery): void => {
      if (query.kind === 'refused') return send(refused(query));
      try {
        const answered = options.answer(query.message);
        if (answered instanceof Promise)
          answered.then((later) => send(later === SILENT ? silent() : answerOf(later))).catch(fail);
        else send(answered === null ? refusal(400, 'This is not a DNS query.') : answerOf(answered));
      } catch (error) {
        fail(error);
      }
    };
    if (found.kind === 'body') readBody(body, MESSAGE_OCTETS_MAX, (message) => reply(checkDohMessage(message)));
    else reply(found);
  };

const answerOf = ({ message, maxAgeSeconds }: DohAnswer) =>
  octetsAnswer(200, DNS_MESSAGE, message, ['Cache-Control', `max-age=${maxAgeSeconds}`]);

const silent = () => refusal(504, 'The DNS query was not answered in time.');

const refused = ({ status, reason }: CheckedQuery & { kind: 'refused' }) =>
  refusal(status, reason, status === 405 ? ['Allow', 'GET, POST'] : []);
