import { z } from 'zod';
import { NAMED_TYPES } from '../../contract/record-types.ts';
import type { RecordInfo } from '../../contract/zones.ts';
import { CONTEXT } from '../facts.ts';
import { ok, operation, refuse } from '../operations.ts';
import type { Call, Operation, Reply } from '../provider.ts';
import { membersOf, typeOf, valueFrom } from '../zones.ts';
import { isForeign, NAME_SERVERS, pageOf, userOf } from './account.ts';
import { apexesOf, apexIn } from './domains.ts';

const TYPES = ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'HTTPS', 'MX', 'NS', 'SRV', 'TXT'] as const;
const MEMBERS = {
  MX: ['mxPriority', 'value'],
  SRV: ['priority', 'weight', 'port', 'target'],
  HTTPS: ['priority', 'target', 'params'],
} as const;
/** Vercel's, where a record has none. */
const TTL_DEFAULT = 60;

const type = z.enum(TYPES);
const ttl = z.int().min(60).max(86_400);
const port = z.int().min(0).max(65_535).nullable();
const srv = z.object({ priority: port, weight: port, port, target: z.string() });
const https = z.object({ priority: port, target: z.string(), params: z.string().nullish() });
const fields = {
  name: z.string(),
  value: z.string(),
  ttl,
  mxPriority: z.int().min(0).max(65_535),
  srv,
  https,
  comment: z.string().max(500),
};
const creation = z.object({ type, ...z.object(fields).partial().shape });
const change = z.object({ type: type.nullish(), ...z.object(fields).partial().shape }).catchall(z.unknown());

type Wanted = z.infer<typeof change>;

const atVercel = (name: string) => ({ name, servers: NAME_SERVERS });

/** The zone of the account's domain. */
async function zoneOf(call: Call): Promise<string> {
  const apex = apexIn(call);
  if (!isForeign(call, apex) && (await call.world.isDelegated(atVercel(apex)))) return apex;
  return refuse(404, 'not_found', `The domain "${apex}" has no zone with the name servers ${NAME_SERVERS.join(', ')}.`);
}

/** The value as in a zone file; undefined where nothing of it is given. */
function valueOf({ value, mxPriority, srv: service, https: binding }: Wanted): string | undefined {
  if (service !== undefined) return valueFrom(MEMBERS, 'SRV', service);
  if (binding !== undefined) return valueFrom(MEMBERS, 'HTTPS', binding);
  return value !== undefined && mxPriority !== undefined ? valueFrom(MEMBERS, 'MX', { mxPriority, value }) : value;
}

/** `@` here is the empty name there. */
const nameThere = (name: string): string => (name === '@' ? '' : name);
const nameHere = (name: string): string => (name === '' ? '@' : name);

const isShown = (record: RecordInfo): boolean => (TYPES as readonly string[]).includes(typeOf(record));

function shown(call: Call, record: RecordInfo) {
  const { id, name, ttl: seconds, value, visibleAt } = record;
  const own = typeOf(record);
  const parts = own === 'MX' ? membersOf(MEMBERS, own, value) : {};
  const at = Date.parse(visibleAt);
  return {
    id,
    slug: id,
    name: nameThere(name),
    type: own,
    value,
    ...parts,
    ...('mxPriority' in parts && { priority: parts['mxPriority'] }),
    ttl: seconds,
    creator: userOf(call.account),
    created: at,
    updated: null,
    createdAt: at,
    updatedAt: null,
  };
}

async function list(call: Call): Promise<Reply> {
  const records = await call.world.recordsOf(atVercel(await zoneOf(call)));
  const { page, pagination } = pageOf(
    records.filter(isShown).map((each) => shown(call, each)),
    call.query,
  );
  return ok({ records: page, pagination });
}

async function create(call: Call, wanted: z.infer<typeof creation>): Promise<Reply> {
  const value = valueOf(wanted) ?? refuse(400, 'bad_request', 'Invalid request: missing required property `value`.');
  const input = { type: wanted.type, name: nameHere(wanted.name ?? ''), value, ttl: wanted.ttl ?? TTL_DEFAULT };
  const zone = await zoneOf(call);
  const record = await call.world.services.records.put({ zone, ...input, force: false }, CONTEXT);
  return ok({ uid: record.id, updated: call.world.now() });
}

/** A record of any domain of the account. */
async function existing(call: Call, zones: readonly string[]): Promise<RecordInfo> {
  const { recordId = '' } = call.params;
  for (const zone of zones) {
    const found = (await call.world.recordsOf(atVercel(zone))).find(({ id }) => id === recordId);
    if (found !== undefined) return found;
  }
  return refuse(404, 'not_found', `The record "${recordId}" was not found.`);
}

async function update(call: Call, wanted: Wanted): Promise<Reply> {
  const { world } = call;
  const before = await existing(
    call,
    apexesOf(call).filter((apex) => !isForeign(call, apex)),
  );
  const { type: own, name, ttl: seconds, ...rest } = wanted;
  const value = valueOf(rest);
  const input = {
    ...(own && NAMED_TYPES.includes(own) && { type: own }),
    ...(typeof name === 'string' && { name: nameHere(name) }),
    ...(typeof seconds === 'number' && { ttl: seconds }),
    ...(value !== undefined && { value }),
  };
  const record = await world.services.records.update({ id: before.id, ...input, force: false }, CONTEXT);
  const { slug: _, type: recordType, created: __, updated: ___, updatedAt: ____, ...shape } = shown(call, record);
  return ok({ ...shape, domain: record.zone, recordType, type: 'record' });
}

async function remove(call: Call): Promise<Reply> {
  const { id } = await existing(call, [await zoneOf(call)]);
  await call.world.services.records.remove({ id }, CONTEXT);
  return ok({});
}

export const RECORDS: readonly Operation[] = [
  operation('getRecords', 'GET /v5/domains/{domain}/records', list),
  operation('createRecord', 'POST /v2/domains/{domain}/records', create, { input: creation }),
  operation('updateRecord', 'PATCH /v1/domains/records/{recordId}', update, { input: change }),
  operation('removeRecord', 'DELETE /v2/domains/{domain}/records/{recordId}', remove),
];
