import { isWithin } from '../base/text/hostname.ts';
import type { RecordInfo } from '../contract/zones.ts';
import { type Account, CONTEXT, type ProviderItem, type World } from './facts.ts';

/*
 * A zone of Vivarium's DNS is at a provider while its NS records name the provider's servers. Only then does the
 * provider's API read and change its records, so that no token reaches a zone of others.
 */

interface DelegatedZone {
  name: string;
  /** Those of the provider. */
  servers: readonly string[];
}

const NS_TTL = 86_400;

export function zoneRules(world: World) {
  const { zones, records } = world.services;

  /** Whether DNS answers the provider's name servers for a zone now. */
  async function isDelegated({ name, servers }: DelegatedZone): Promise<boolean> {
    const found = await world.resolve(name, 'NS');
    return servers.every((server) => found.includes(server));
  }

  /** Whether a domain of another account is at or below a name. */
  const isForeign = ({ projects }: Account, name: string): boolean =>
    world.domains().some((held) => isWithin(held.hostname, name) && !projects.some(({ id }) => id === held.projectId));

  /**
   * Makes a zone with these name servers; its time identifies it. Null if the name is taken: it is in a zone of this
   * DNS, or a domain of another account is at or below it.
   */
  async function makeZone(account: Account, { name, servers }: DelegatedZone): Promise<string | null> {
    if (isForeign(account, name)) return null;
    if ((await zones.list({}, CONTEXT)).some((each) => isWithin(name, each.name))) return null;
    const { createdAt } = await zones.create({ name, supportsAlias: true }, CONTEXT);
    for (const value of servers)
      await records.put({ zone: name, name: '@', type: 'NS', ttl: NS_TTL, value, force: false }, CONTEXT);
    return createdAt;
  }

  return {
    isDelegated,
    isForeign,
    makeZone,
    /** Adds a zone to a project, and makes it if its name is free. */
    async addZone(account: Account, projectId: string, zone: DelegatedZone): Promise<void> {
      const item = { kind: 'domain', projectId, name: zone.name } as const;
      world.items.put({ ...item, data: {} });
      const madeAt = await makeZone(account, zone).catch((error: unknown) => {
        world.items.remove(item);
        throw error;
      });
      if (madeAt !== null) world.items.put({ ...item, data: { madeAt } });
    },
    /** Removes what was added, and the zone that was made so, unless it is another one by now or has other name servers. */
    async dropZone(added: ProviderItem, servers: readonly string[]): Promise<void> {
      const { name, data } = added;
      const all = await zones.list({}, CONTEXT);
      const isSame = all.some((each) => each.name === name && each.createdAt === data['madeAt']);
      if (isSame && (await isDelegated({ name, servers }))) await zones.remove({ name }, CONTEXT);
      world.items.remove(added);
    },
    /** The records of a zone, without those of its name servers; none while it is another provider's. */
    async recordsOf({ name: zone, servers }: DelegatedZone): Promise<RecordInfo[]> {
      if (!(await isDelegated({ name: zone, servers }))) return [];
      const isServer = ({ name, type, value }: RecordInfo): boolean =>
        name === '@' && type === 'NS' && servers.includes(value);
      return (await records.list({ zone }, CONTEXT)).filter((record) => !isServer(record));
    },
  };
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
