import { isWithin } from '../base/text/hostname.ts';
import type { RecordInfo } from '../contract/zones.ts';
import { ownsProject } from './claims.ts';
import { CONTEXT } from './handlers.ts';
import type { Call } from './provider.ts';

/*
 * A zone of Vivarium's DNS is at a provider while its NS records name the provider's servers. Only then does the
 * provider's API read and change its records, so that no token reaches a zone of others.
 */

type InWorld = Pick<Call, 'world'>;
type Caller = Pick<Call, 'world' | 'account'>;

/** Whether DNS answers these name servers for a name now. */
export async function isDelegated({ world }: InWorld, name: string, servers: readonly string[]): Promise<boolean> {
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

/** Removes a zone that was made so, unless it has gone, is another one by now, or has other name servers. */
export async function dropZone(
  call: InWorld,
  name: string,
  servers: readonly string[],
  madeAt: unknown,
): Promise<void> {
  const { zones } = call.world.services;
  const isSame = (await zones.list({}, CONTEXT)).some((each) => each.name === name && each.createdAt === madeAt);
  if (isSame && (await isDelegated(call, name, servers))) await zones.remove({ name }, CONTEXT);
}

/** The records of a zone at a provider, without those of its name servers. */
export async function recordsOf({ world }: InWorld, zone: string, servers: readonly string[]): Promise<RecordInfo[]> {
  const all = await world.services.records.list({ zone }, CONTEXT);
  const isServer = ({ name, type, value }: RecordInfo): boolean =>
    name === '@' && type === 'NS' && servers.includes(value);
  return all.filter((record) => !isServer(record));
}
