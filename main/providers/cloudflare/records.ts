import { z } from 'zod';
import type { VivariumError } from '../../contract/errors.ts';
import { NAMED_TYPES } from '../../contract/record-types.ts';
import type { RecordInfo } from '../../contract/zones.ts';
import { refusing } from '../domains.ts';
import { CONTEXT } from '../facts.ts';
import { missing, operation, refuse } from '../operations.ts';
import type { Call, Operation, Reply } from '../provider.ts';

import { absoluteName, membersOf, nameIn, valueFrom } from '../zones.ts';
import { fail, idOf, matches, ok, page, type Zone, zoneIn, zoneStatus } from './account.ts';
import { ZONE } from './zones.ts';

/** What `ttl: 1`, automatic, and records that are proxied have. */
const TTL_AUTOMATIC = 300;

const change = z.object({
  type: z.enum(NAMED_TYPES).optional(),
  name: z.string().max(1_000).optional(),
  content: z.string().max(65_535).optional(),
  data: z.record(z.string(), z.union([z.string().max(65_535), z.number()])).optional(),
  priority: z.int().min(0).max(65_535).optional(),
  ttl: z.union([z.literal(1), z.int().min(30).max(86_400)]).optional(),
  proxied: z.boolean().optional(),
  comment: z.string().max(500).nullish(),
  tags: z.array(z.string().max(100)).max(20).optional(),
});
const whole = change.required({ type: true, name: true });
const one = { id: z.string() };
const batch = z.object({
  deletes: z.array(z.object(one)).max(200).nullish(),
  patches: z.array(change.extend(one)).max(200).nullish(),
  puts: z.array(whole.extend(one)).max(200).nullish(),
  posts: z.array(whole).max(200).nullish(),
});
type Wanted = z.infer<typeof change>;

/** The members of `data`, by type. */
const DATA = {
  CAA: ['flags', 'tag', 'value'],
  SRV: ['priority', 'weight', 'port', 'target'],
  HTTPS: ['priority', 'target', 'value'],
  SVCB: ['priority', 'target', 'value'],
  TLSA: ['usage', 'selector', 'matching_type', 'certificate'],
  SSHFP: ['algorithm', 'type', 'fingerprint'],
  DS: ['key_tag', 'algorithm', 'digest_type', 'digest'],
} as const;
const MX = { MX: ['priority', 'content'] } as const;

/** The value as in a zone file; undefined where nothing of it is given. */
function valueOf(type: string, { content, data, priority }: Wanted): string | undefined {
  if (type in DATA && data !== undefined) return valueFrom(DATA, type, data);
  // A client may send a TXT record as in a zone file.
  if (type === 'TXT') return content?.replace(/^"(.*)"$/, '$1');
  return type === 'MX' && content !== undefined ? valueFrom(MX, type, { priority, content }) : content;
}

const shownId = (id: string): string => idOf(`record ${id}`);

/** What only the API shows of records: comments, tags and whether they are proxied. */
const extrasOf = ({ world }: Call): ReadonlyMap<string, Record<string, unknown>> =>
  new Map(world.items.list('record').map(({ name, data }) => [name, data]));

function shown(zone: Zone, record: RecordInfo, extra: Record<string, unknown> = {}) {
  const { id, type, ttl, value, visibleAt } = record;
  const proxied = extra['proxied'] === true;
  const at = new Date(visibleAt).toISOString();
  return {
    ...{ id: shownId(id), zone_id: zone.id, zone_name: zone.name, name: absoluteName(record), type },
    content: value,
    ...membersOf(MX, type, value),
    ...(type in DATA && { data: membersOf(DATA, type, value) }),
    proxiable: ['A', 'AAAA', 'CNAME'].includes(type),
    proxied,
    ttl: extra['automatic'] === true && ttl === TTL_AUTOMATIC ? 1 : ttl,
    comment: extra['comment'] ?? null,
    tags: extra['tags'] ?? [],
    ...{ settings: {}, meta: {}, created_on: at, modified_on: at },
  };
}

const recordsOf = async (call: Call, zone: Zone): Promise<RecordInfo[]> =>
  (await hasRecords(call, zone)) ? call.world.recordsOf(zone) : [];

const hasRecords = async (call: Call, zone: Zone): Promise<boolean> =>
  zone.added !== null && (await zoneStatus(call, zone)) === 'active';

async function existing(call: Call, zone: Zone, id: string): Promise<RecordInfo> {
  const found = (await recordsOf(call, zone)).find((record) => shownId(record.id) === id);
  return found ?? fail(81044);
}

/** Says in the provider's form why the zone refuses a record. */
function refused({ code, message }: VivariumError): never {
  if (code === 'conflict') fail(81053, message);
  return refuse(400, '1004', 'DNS Validation Error', { chain: [{ code: 9005, message }] });
}

/** Adds a record, or changes one: `before` with its parts that are not given. */
async function write(call: Call, zone: Zone, wanted: Wanted, before?: RecordInfo, isWhole = true) {
  if (zone.added === null) return fail(1097);
  if (!(await hasRecords(call, zone)))
    return fail(1021, `Records of ${zone.name} are kept once its name servers are ${zone.servers.join(' and ')}.`);
  const { world } = call;
  const type = wanted.type ?? before?.type ?? 'A';
  const value = valueOf(type, wanted) ?? (isWhole ? undefined : before?.value);
  if (value === undefined) return fail(1400, 'A record needs `content` or `data`.');
  const name = wanted.name === undefined ? (before?.name ?? '@') : nameIn(zone.name, wanted.name);
  const old = (isWhole ? undefined : extrasOf(call).get(before?.id ?? '')) ?? {};
  const { proxied, comment, tags } = { ...old, ...wanted };
  const automatic = wanted.ttl === undefined ? isWhole || old['automatic'] === true : wanted.ttl === 1;
  const seconds = automatic ? TTL_AUTOMATIC : (wanted.ttl ?? before?.ttl ?? TTL_AUTOMATIC);
  const input = { name, type, value, ttl: seconds };
  if (before === undefined) {
    const same = (await recordsOf(call, zone)).some(
      (each) => each.name === name && each.type === type && each.value === value,
    );
    if (same) fail(81058);
  }
  const { records } = world.services;
  const store = () =>
    before === undefined
      ? records.put({ zone: zone.name, ...input, force: false }, CONTEXT)
      : records.update({ id: before.id, ...input, force: false }, CONTEXT);
  const record = await refusing<RecordInfo, never>(store, refused);
  const extra = { proxied: proxied ?? false, comment: comment ?? null, tags: tags ?? [], automatic };
  const item = { kind: 'record', projectId: zone.project.id, name: record.id } as const;
  world.items.remove({ ...item, name: before?.id ?? record.id });
  world.items.put({ ...item, data: extra });
  return shown(zone, record, extra);
}

async function drop({ world }: Call, { project }: Zone, { id }: RecordInfo): Promise<{ id: string }> {
  await world.services.records.remove({ id }, CONTEXT);
  world.items.remove({ kind: 'record', projectId: project.id, name: id });
  return { id: shownId(id) };
}

async function list(call: Call): Promise<Reply> {
  const { query } = call;
  const zone = zoneIn(call);
  const extras = extrasOf(call);
  const all = (await recordsOf(call, zone)).map((record) => shown(zone, record, extras.get(record.id)));
  const found = all.filter(({ name, type, content }) => matches(query, { name, type, content }));
  return page(found, query, 5_000, 100);
}

/** On the record of `{dns_record_id}`. */
const onOne =
  <Body>(then: (call: Call, zone: Zone, record: RecordInfo, body: Body) => unknown) =>
  async (call: Call, body: Body) => {
    const zone = zoneIn(call);
    return ok(await then(call, zone, await existing(call, zone, call.params['dns_record_id'] ?? ''), body));
  };

/** In Cloudflare's order. A refusal ends it; what came before stays, unlike there. */
async function all(call: Call, wanted: z.infer<typeof batch>): Promise<Reply> {
  const zone = zoneIn(call);
  const result: Record<string, unknown[]> = { deletes: [], patches: [], puts: [], posts: [] };
  for (const { id } of wanted.deletes ?? [])
    result['deletes']?.push(await drop(call, zone, await existing(call, zone, id)));
  for (const { id, ...parts } of wanted.patches ?? [])
    result['patches']?.push(await write(call, zone, parts, await existing(call, zone, id), false));
  for (const { id, ...parts } of wanted.puts ?? [])
    result['puts']?.push(await write(call, zone, parts, await existing(call, zone, id)));
  for (const parts of wanted.posts ?? []) result['posts']?.push(await write(call, zone, parts));
  return ok(result);
}

const ALL = `${ZONE}/dns_records`;
const ONE = `${ALL}/{dns_record_id}`;

const create = async (call: Call, wanted: Wanted) => ok(await write(call, zoneIn(call), wanted));
const get = onOne((call, zone, record) => shown(zone, record, extrasOf(call).get(record.id)));
const update = onOne<Wanted>((call, zone, record, wanted) => write(call, zone, wanted, record));
const edit = onOne<Wanted>((call, zone, record, wanted) => write(call, zone, wanted, record, false));

async function exported(call: Call): Promise<Reply> {
  const zone = zoneIn(call);
  const isThere = await hasRecords(call, zone);
  return {
    status: 200,
    body: isThere ? (await call.world.services.zones.export({ name: zone.name }, CONTEXT)).text : '',
  };
}

export const RECORDS: readonly Operation[] = [
  operation('dns.records.list', `GET ${ALL}`, list),
  operation('dns.records.create', `POST ${ALL}`, create, { input: whole }),
  operation('dns.records.get', `GET ${ONE}`, get),
  operation('dns.records.update', `PUT ${ONE}`, update, { input: whole }),
  operation('dns.records.edit', `PATCH ${ONE}`, edit, { input: change }),
  operation('dns.records.delete', `DELETE ${ONE}`, onOne(drop)),
  operation('dns.records.batch', `POST ${ALL}/batch`, all, { input: batch }),
  operation('dns.records.export', `GET ${ALL}/export`, exported),
  missing('dns.records.import', `POST ${ALL}/import`, 'It sends a form. `vivarium zone import` reads a zone file.'),
];
