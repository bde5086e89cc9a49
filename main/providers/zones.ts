import { isWithin } from '../base/text/hostname.ts';
import type { RecordInfo } from '../contract/zones.ts';
import { ownsProject } from './domains.ts';
import { CONTEXT } from './operations.ts';
import type { Call, ProviderItem } from './provider.ts';

/*
 * A zone of Vivarium's DNS is at a provider while its NS records name the provider's servers. Only then does the
 * provider's API read and change its records, so that no token reaches a zone of others.
 */

type InWorld = Pick<Call, 'world'>;
type Caller = Pick<Call, 'world' | 'account'>;

interface DelegatedZone {
  name: string;
  /** Those of the provider. */
  servers: readonly string[];
}

/** Whether DNS answers the provider's name servers for a zone now. */
export async function isDelegated({ world }: InWorld, { name, servers }: DelegatedZone): Promise<boolean> {
  const found = await world.resolve(name, 'NS');
  return servers.every((server) => found.includes(server));
}

/** Whether a domain of another account is at or below a name. */
export const isForeign = ({ world, account }: Caller, name: string): boolean =>
  world.domains().some((held) => isWithin(held.hostname, name) && !ownsProject(account, held.projectId));

/**
 * Makes a zone with these name servers; its time identifies it. Null if the name is taken: it is in a zone of this DNS, or
 * a domain of another account is at or below it.
 */
export async function makeZone(call: Caller, name: string, servers: readonly string[]): Promise<string | null> {
  const { zones, records } = call.world.services;
  if (isForeign(call, name)) return null;
  if ((await zones.list({}, CONTEXT)).some((each) => isWithin(name, each.name))) return null;
  const { createdAt } = await zones.create({ name, supportsAlias: true }, CONTEXT);
  for (const value of servers)
    await records.put({ zone: name, name: '@', type: 'NS', ttl: NS_TTL, value, force: false }, CONTEXT);
  return createdAt;
}

const NS_TTL = 86_400;

/** Adds a zone to a project, and makes it if its name is free. */
export async function addZone(
  call: Caller,
  projectId: string,
  name: string,
  servers: readonly string[],
): Promise<void> {
  const { items } = call.world;
  const item = { kind: 'domain', projectId, name } as const;
  items.put({ ...item, data: {} });
  const madeAt = await makeZone(call, name, servers).catch((error: unknown) => {
    items.remove(item);
    throw error;
  });
  if (madeAt !== null) items.put({ ...item, data: { madeAt } });
}

/** Removes what was added, and the zone that was made so, unless it is another one by now or has other name servers. */
export async function dropZone(call: InWorld, added: ProviderItem, servers: readonly string[]): Promise<void> {
  const { services, items } = call.world;
  const { name, data } = added;
  const all = await services.zones.list({}, CONTEXT);
  const isSame = all.some((each) => each.name === name && each.createdAt === data['madeAt']);
  if (isSame && (await isDelegated(call, { name, servers }))) await services.zones.remove({ name }, CONTEXT);
  items.remove(added);
}

/** The records of a zone, without those of its name servers; none while it is another provider's. */
export async function recordsOf(call: InWorld, { name: zone, servers }: DelegatedZone): Promise<RecordInfo[]> {
  if (!(await isDelegated(call, { name: zone, servers }))) return [];
  const all = await call.world.services.records.list({ zone }, CONTEXT);
  const isServer = ({ name, type, value }: RecordInfo): boolean =>
    name === '@' && type === 'NS' && servers.includes(value);
  return all.filter((record) => !isServer(record));
}

/** The members that an API has for a value, by type, in their order in a zone file; the last takes the rest. */
export type Members = Readonly<Record<string, readonly string[]>>;
type Parts = Readonly<Record<string, unknown>>;

/** For members that are not given, in the same order. */
const USUAL: Readonly<Record<string, readonly (string | number)[]>> = {
  MX: [10],
  SRV: [0, 0, 0],
  HTTPS: [1],
  CAA: [0, 'issue'],
};

/** A value as members; none where the API has the value as it is. */
export function membersOf(members: Members, type: string, value: string): Record<string, string | number> {
  const names = members[type] ?? [];
  const words = value.split(' ');
  const last = names.length - 1;
  const read = names.map((name, index): [string, string | number] => {
    if (index === last) return [name, words.slice(last).join(' ').replaceAll('"', '')];
    const word = words[index] ?? '';
    return [name, /^\d+$/.test(word) ? Number(word) : word];
  });
  return Object.fromEntries(read);
}

/** The value, as in a zone file, of a type that has members. */
export function valueFrom(members: Members, type: string, parts: Parts): string {
  const names = members[type] ?? [];
  const words = names.map((name, index) => String(parts[name] ?? USUAL[type]?.[index] ?? ''));
  if (type === 'CAA') words.push(`"${words.pop()}"`);
  return words.join(' ').trim();
}

/** APIs have one word for what is ALIAS or ANAME here. */
export const typeOf = ({ type }: RecordInfo): string => (type === 'ANAME' ? 'ALIAS' : type);

/** A name in a zone, `@` for the zone's own, of one that may be absolute. */
export function nameIn(zone: string, given: string): string {
  const name = given.replace(/\.$/, '').toLowerCase();
  if (name === zone || name === '') return '@';
  return isWithin(name, zone) ? name.slice(0, -zone.length - 1) : name;
}

export const absoluteName = ({ zone, name }: RecordInfo): string => (name === '@' ? zone : `${name}.${zone}`);
