import { z } from 'zod';
import type { RecordInfo, ZoneInfo } from '../../contract/zones.ts';
import { isAtOrBelow } from '../../model/dns-name.ts';
import { type Call, CONTEXT, type Operation, type ProviderProject, type Reply } from '../provider.ts';
import { siteDomains, idOf, invalid, notFound, refusing, siteIn, teamOf } from './account.ts';

const TYPES = ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'] as const;
const TTL_DEFAULT = 3_600;

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
type Wanted = z.infer<typeof recordCreation>;

const all = async ({ world }: Pick<Call, 'world'>): Promise<readonly ZoneInfo[]> =>
  await world.services.zones.list({}, CONTEXT);

/** The closest zone at or above a hostname. */
function closest(zones: readonly ZoneInfo[], hostname: string): ZoneInfo | null {
  const above = zones.filter(({ name }) => isAtOrBelow(hostname, name));
  return above.toSorted((one, other) => other.name.length - one.name.length)[0] ?? null;
}

export const zoneNameOf = async (call: Call, hostname: string): Promise<string | null> =>
  closest(await all(call), hostname)?.name ?? null;

async function zoneIn(call: Call): Promise<ZoneInfo> {
  const { zone_id: text = '' } = call.params;
  return (await all(call)).find(({ name }) => idOf(name) === text || name === text) ?? notFound();
}

const recordId = ({ id }: RecordInfo): string => idOf(`record ${id}`);

/** A record with the parts of its value that the API has apart. */
function shownRecord({ name: zone }: ZoneInfo, record: RecordInfo) {
  const { name, type, ttl, value } = record;
  const words = value.split(' ');
  const parts =
    type === 'MX' || type === 'SRV'
      ? { priority: Number(words[0]), value: words.at(-1) }
      : type === 'CAA'
        ? { flag: Number(words[0]), tag: words[1], value: words.slice(2).join(' ').replaceAll('"', '') }
        : { value };
  return {
    ...{
      id: recordId(record),
      hostname: name === '@' ? zone : `${name}.${zone}`,
      type: type === 'ANAME' ? 'ALIAS' : type,
    },
    ...{ ttl, priority: null, ...(type === 'SRV' && { weight: Number(words[1]), port: Number(words[2]) }) },
    ...{ dns_zone_id: idOf(zone), site_id: null, flag: null, tag: null, managed: false },
    ...parts,
  };
}

const isShown = ({ type }: RecordInfo): boolean => (TYPES as readonly string[]).includes(type) || type === 'ANAME';

async function recordsOf({ world }: Call, { name }: ZoneInfo): Promise<RecordInfo[]> {
  return (await world.services.records.list({ zone: name }, CONTEXT)).filter(isShown);
}

async function shown(call: Call, zone: ZoneInfo, site: ProviderProject | null = null) {
  const { name, createdAt } = zone;
  const [records, servers] = await Promise.all([recordsOf(call, zone), call.world.resolve(name, 'NS')]);
  return {
    ...{ id: idOf(name), name, errors: [], supported_record_types: TYPES, user_id: call.account.id },
    ...{ created_at: createdAt, updated_at: createdAt },
    records: records.map((record) => shownRecord(zone, record)),
    dns_servers: servers.map((server) => server.replace(/\.$/, '')),
    ...teamOf(call.account),
    ...{ site_id: site?.id ?? null, ipv6_enabled: false, dedicated: false },
  };
}

async function create(call: Call): Promise<Reply> {
  const { name } = call.body as z.infer<typeof creation>;
  const zones = await all(call);
  if (zones.some((zone) => zone.name === name.toLowerCase())) invalid('name', 'must be unique');
  const { zones: services } = call.world.services;
  const made = await refusing('name', () => services.create({ name, supportsAlias: true }, CONTEXT));
  return { status: 201, body: await shown(call, made) };
}

/** The value as in a zone file. */
function valueOf({ type, value, priority, weight, port: own, flag, tag }: Wanted): string {
  if (type === 'MX') return `${priority ?? 10} ${value}`;
  if (type === 'SRV') return `${priority ?? 0} ${weight ?? 0} ${own ?? 0} ${value}`;
  return type === 'CAA' ? `${flag ?? 0} ${tag ?? 'issue'} "${value}"` : value;
}

function relative(zone: string, hostname: string): string {
  const text = hostname.replace(/\.$/, '').toLowerCase();
  if (text === zone || text === '@' || text === '') return '@';
  return text.endsWith(`.${zone}`) ? text.slice(0, -zone.length - 1) : text;
}

async function createRecord(call: Call): Promise<Reply> {
  const wanted = call.body as Wanted;
  const { type, hostname, ttl } = wanted;
  const zone = await zoneIn(call);
  const input = { name: relative(zone.name, hostname), type, value: valueOf(wanted), ttl: ttl ?? TTL_DEFAULT };
  const { records } = call.world.services;
  const put = () => records.put({ zone: zone.name, ...input, force: false }, CONTEXT);
  return { status: 201, body: shownRecord(zone, await refusing('value', put)) };
}

/** On the record of `{dns_record_id}`. */
const onRecord =
  (then: (call: Call, zone: ZoneInfo, record: RecordInfo) => Reply | Promise<Reply>): Operation['handle'] =>
  async (call) => {
    const zone = await zoneIn(call);
    const found = (await recordsOf(call, zone)).find((record) => recordId(record) === call.params['dns_record_id']);
    return await then(call, zone, found ?? notFound());
  };

/** The zones that have the site's hostnames. */
async function ofSite(call: Call, site: ProviderProject): Promise<Reply> {
  const { custom, aliases } = await siteDomains(call, site);
  const zones = await all(call);
  const found = [...(custom === null ? [] : [custom]), ...aliases].map(({ hostname }) => closest(zones, hostname));
  const unique = new Set(found.filter((zone) => zone !== null));
  return { status: 200, body: await Promise.all([...unique].map((zone) => shown(call, zone, site))) };
}

/** Makes the zones that the site's hostnames lack, and puts their records in. */
async function configure(call: Call): Promise<Reply> {
  const { world } = call;
  const { zones, domains, records } = world.services;
  const site = siteIn(call);
  const { custom, aliases } = await siteDomains(call, site);
  if (custom === null) return invalid('custom_domain', 'can’t be blank');
  for (const { hostname } of [custom, ...aliases]) {
    const read = world.hostname(hostname);
    if ('fault' in read) continue;
    if ((await zoneNameOf(call, hostname)) === null)
      await zones.create({ name: read.apex, supportsAlias: true }, CONTEXT);
    const zone = (await zoneNameOf(call, hostname)) ?? notFound();
    const [leading] = (await domains.get({ hostname }, CONTEXT)).instructions;
    if (leading === undefined) continue;
    const { type, name, value, ttl } = leading;
    await refusing('records', () => records.put({ zone, type, name, value, ttl, force: false }, CONTEXT));
  }
  return await ofSite(call, site);
}

const ZONES = '/api/v1/dns_zones';
const ZONE = `${ZONES}/{zone_id}`;
const RECORDS = `${ZONE}/dns_records`;
const RECORD = `${RECORDS}/{dns_record_id}`;
const OF_SITE = '/api/v1/sites/{site_id}/dns';
const GONE: Reply = { status: 204, body: '' };

export const ZONE_OPERATIONS: readonly Operation[] = [
  { name: 'getDNSForSite', method: 'GET', path: OF_SITE, handle: (call) => ofSite(call, siteIn(call)) },
  { name: 'configureDNSForSite', method: 'PUT', path: OF_SITE, handle: configure },
  { name: 'createDnsZone', method: 'POST', path: ZONES, input: creation, handle: create },
  {
    name: 'getDnsZones',
    method: 'GET',
    path: ZONES,
    async handle(call) {
      const slug = call.query.get('account_slug');
      const isOwn = slug === null || slug === teamOf(call.account).account_slug;
      return { status: 200, body: await Promise.all((isOwn ? await all(call) : []).map((zone) => shown(call, zone))) };
    },
  },
  {
    name: 'getDnsZone',
    method: 'GET',
    path: ZONE,
    handle: async (call) => ({ status: 200, body: await shown(call, await zoneIn(call)) }),
  },
  {
    name: 'deleteDnsZone',
    method: 'DELETE',
    path: ZONE,
    async handle(call) {
      await call.world.services.zones.remove({ name: (await zoneIn(call)).name }, CONTEXT);
      return GONE;
    },
  },
  {
    name: 'transferDnsZone',
    method: 'PUT',
    path: `${ZONE}/transfer`,
    missing: 'A local zone belongs to no account.',
    handle: () => ({ status: 501, body: null }),
  },
  {
    name: 'getDnsRecords',
    method: 'GET',
    path: RECORDS,
    async handle(call) {
      const zone = await zoneIn(call);
      return { status: 200, body: (await recordsOf(call, zone)).map((record) => shownRecord(zone, record)) };
    },
  },
  { name: 'createDnsRecord', method: 'POST', path: RECORDS, input: recordCreation, handle: createRecord },
  {
    name: 'getIndividualDnsRecord',
    method: 'GET',
    path: RECORD,
    handle: onRecord((_call, zone, record) => ({ status: 200, body: shownRecord(zone, record) })),
  },
  {
    name: 'deleteDnsRecord',
    method: 'DELETE',
    path: RECORD,
    handle: onRecord(async (call, _zone, { id }) => {
      await call.world.services.records.remove({ id }, CONTEXT);
      return GONE;
    }),
  },
];
