import { hash } from 'node:crypto';
import { z } from 'zod';
import { isWithin } from '../../base/text/hostname.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import type { RecordInfo } from '../../contract/zones.ts';
import { ownedBy } from '../domains.ts';
import { CONTEXT, type ProviderItem, type ProviderProject } from '../facts.ts';
import { missing, ok, operation } from '../operations.ts';
import type { Call, Operation, Reply } from '../provider.ts';
import { absoluteName, membersOf, nameIn, typeOf, valueFrom } from '../zones.ts';
import { hostnameOf, idOf, invalid, notFound, refusing, siteDomains, siteIn, teamOf } from './account.ts';

const TYPES = ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'] as const;
const TTL_DEFAULT = 3_600;
const MEMBERS = {
  MX: ['priority', 'value'],
  SRV: ['priority', 'weight', 'port', 'value'],
  CAA: ['flag', 'tag', 'value'],
} as const;

const creation = z.looseObject({ name: z.string().max(1_000) });
const port = z.int().min(0).max(65_535).nullish();
const recordCreation = z.object({
  type: z.enum(TYPES),
  hostname: z.string().max(1_000),
  value: z.string().max(65_535),
  ttl: z.int().min(0).max(2_147_483_647).nullish(),
  ...{ priority: port, weight: port, port },
  flag: z.int().min(0).max(255).nullish(),
  tag: z.string().max(255).nullish(),
});

/** `dns1.p01.nsone.net` to `dns4.p09.nsone.net`: four of one of nine pools, the same for a project's zones. */
function serversFor(projectId: string): string[] {
  const pool = 1 + (Number.parseInt(hash('sha256', projectId).slice(0, 8), 16) % 9);
  return [1, 2, 3, 4].map((number) => `dns${number}.p0${pool}.nsone.net`);
}

/** A zone that an account has added. */
type Zone = ReturnType<typeof zoneOf>;
const zoneOf = (added: ProviderItem) => ({ name: added.name, servers: serversFor(added.projectId), added });

const zonesOf = ({ world, account }: Call): Zone[] => world.items.list('domain').filter(ownedBy(account)).map(zoneOf);

/** The account's closest zone at or above a hostname. */
export function closest(call: Call, hostname: string): Zone | null {
  const above = zonesOf(call).filter(({ name }) => isWithin(hostname, name));
  return above.toSorted((one, other) => other.name.length - one.name.length)[0] ?? null;
}

/** The zone of `{zone_id}`. */
function zoneIn(call: Call): Zone {
  const { zone_id: text = '' } = call.params;
  return zonesOf(call).find(({ name }) => idOf(name) === text || name === text) ?? notFound();
}

const recordId = ({ id }: RecordInfo): string => idOf(`record ${id}`);

function shownRecord(record: RecordInfo) {
  const { zone, type, ttl, value } = record;
  return {
    ...{ id: recordId(record), hostname: absoluteName(record), type: typeOf(record), ttl, value },
    ...{ dns_zone_id: idOf(zone), site_id: null, priority: null, flag: null, tag: null, managed: false },
    ...membersOf(MEMBERS, type, value),
  };
}

const shownIn = async (call: Call, zone: Zone): Promise<RecordInfo[]> =>
  (await call.world.recordsOf(zone)).filter((record) => (TYPES as readonly string[]).includes(typeOf(record)));

async function shown(call: Call, zone: Zone, site: ProviderProject | null = null) {
  const { name, servers, added } = zone;
  const at = new Date(added.createdAtMs).toISOString();
  return {
    ...{ id: idOf(name), name, errors: [], supported_record_types: TYPES, user_id: call.account.id },
    ...{ created_at: at, updated_at: at, dns_servers: servers },
    records: (await shownIn(call, zone)).map(shownRecord),
    ...teamOf(call.account),
    ...{ site_id: site?.id ?? null, ipv6_enabled: false, dedicated: false },
  };
}

/** Adds a zone; its records are at Netlify while it has the name servers that the answer names. */
async function add(call: Call, { id }: ProviderProject, name: string): Promise<Zone> {
  const isAdded = call.world.items.list('domain').some((each) => each.name === name);
  if (isAdded || call.world.isForeign(call.account, name)) invalid('name', 'must be unique');
  await call.world.addZone(call.account, id, { name, servers: serversFor(id) });
  return zonesOf(call).find((zone) => zone.name === name) ?? notFound();
}

async function create(call: Call, wanted: z.infer<typeof creation>): Promise<Reply> {
  const name = hostnameOf(call, 'name', wanted.name);
  if (isWildcard(name)) invalid('name', 'must not be a wildcard');
  const zone = await refusing('name', () => add(call, call.account.projects[0], name));
  return ok(await shown(call, zone), 201);
}

async function remove(call: Call): Promise<Reply> {
  const { servers, added } = zoneIn(call);
  await call.world.dropZone(added, servers);
  return GONE;
}

async function createRecord(call: Call, wanted: z.infer<typeof recordCreation>): Promise<Reply> {
  const { type, hostname, ttl } = wanted;
  const zone = zoneIn(call);
  if (!(await call.world.isDelegated(zone))) invalid('zone', `needs the name servers ${zone.servers.join(', ')}`);
  const value = type in MEMBERS ? valueFrom(MEMBERS, type, wanted) : wanted.value;
  const input = { zone: zone.name, name: nameIn(zone.name, hostname), type, value, ttl: ttl ?? TTL_DEFAULT };
  const put = () => call.world.services.records.put({ ...input, force: false }, CONTEXT);
  return ok(shownRecord(await refusing('value', put)), 201);
}

/** On the record of `{dns_record_id}`. */
const onRecord =
  (then: (call: Call, record: RecordInfo) => Reply | Promise<Reply>): Operation['handle'] =>
  async (call) => {
    const found = (await shownIn(call, zoneIn(call))).find((each) => recordId(each) === call.params['dns_record_id']);
    return await then(call, found ?? notFound());
  };

const getRecord = onRecord((_call, record) => ok(shownRecord(record)));

const removeRecord = onRecord(async (call, { id }) => {
  await call.world.services.records.remove({ id }, CONTEXT);
  return GONE;
});

/** The account's zones that have the site's hostnames. */
async function ofSite(call: Call, site: ProviderProject): Promise<Reply> {
  const { custom, aliases } = await siteDomains(call, site);
  const found = [...(custom === null ? [] : [custom]), ...aliases].flatMap(
    ({ hostname }) => closest(call, hostname) ?? [],
  );
  const unique = new Map(found.map((zone) => [zone.name, zone]));
  return ok(await Promise.all([...unique.values()].map((zone) => shown(call, zone, site))));
}

/** Makes the zones that the site's hostnames lack, and puts their records into those that are the account's. */
async function configure(call: Call): Promise<Reply> {
  const { world } = call;
  const { domains, records } = world.services;
  const site = siteIn(call);
  const { custom, aliases } = await siteDomains(call, site);
  if (custom === null) return invalid('custom_domain', 'can’t be blank');
  for (const { hostname } of [custom, ...aliases]) {
    const { apex } = world.hostname(hostname);
    const zone = closest(call, hostname) ?? (await refusing('name', () => add(call, site, apex)));
    const [leading] = (await domains.get({ hostname }, CONTEXT)).instructions;
    if (leading === undefined || !(await world.isDelegated(zone))) continue;
    const { type, name, value, ttl } = leading;
    await refusing('records', () => records.put({ zone: zone.name, type, name, value, ttl, force: false }, CONTEXT));
  }
  return await ofSite(call, site);
}

const ZONES = '/api/v1/dns_zones';
const ZONE = `${ZONES}/{zone_id}`;
const RECORDS = `${ZONE}/dns_records`;
const RECORD = `${RECORDS}/{dns_record_id}`;
const OF_SITE = '/api/v1/sites/{site_id}/dns';
const GONE = ok('', 204);

export const ZONE_OPERATIONS: readonly Operation[] = [
  operation('getDNSForSite', `GET ${OF_SITE}`, (call) => ofSite(call, siteIn(call))),
  operation('configureDNSForSite', `PUT ${OF_SITE}`, configure),
  operation('createDnsZone', `POST ${ZONES}`, create, { input: creation }),
  operation('getDnsZones', `GET ${ZONES}`, async (call) => {
    const slug = call.query.get('account_slug');
    const isOwn = slug === null || slug === teamOf(call.account).account_slug;
    return ok(await Promise.all((isOwn ? zonesOf(call) : []).map((zone) => shown(call, zone))));
  }),
  operation('getDnsZone', `GET ${ZONE}`, async (call) => ok(await shown(call, zoneIn(call)))),
  operation('deleteDnsZone', `DELETE ${ZONE}`, remove),
  missing('transferDnsZone', `PUT ${ZONE}/transfer`, 'A zone stays with the account that has added it.'),
  operation('getDnsRecords', `GET ${RECORDS}`, async (call) =>
    ok((await shownIn(call, zoneIn(call))).map(shownRecord)),
  ),
  operation('createDnsRecord', `POST ${RECORDS}`, createRecord, { input: recordCreation }),
  operation('getIndividualDnsRecord', `GET ${RECORD}`, getRecord),
  operation('deleteDnsRecord', `DELETE ${RECORD}`, removeRecord),
];
