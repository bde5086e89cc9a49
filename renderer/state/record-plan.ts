import type { Domain, Instruction } from '../../main/contract/domains.ts';
import type { Settings } from '../../main/contract/settings.ts';
import type { RecordInfo, ZoneInfo } from '../../main/contract/zones.ts';
import type { Client } from '../connection/transport.ts';

/** The records of a hostname in Vivarium's own DNS. */
export interface LocalRecords {
  zones: readonly ZoneInfo[];
  /** The closest zone of the hostname; null if there is none. */
  zone: ZoneInfo | null;
  /** The hostname's records, visible or still propagating. */
  records: readonly RecordInfo[];
  /** The resolver of verification: `local`, or another one, which does not see these zones. */
  resolver: string;
}

type WantedRecord = Pick<RecordInfo, 'name' | 'type' | 'ttl' | 'value'>;

/** The change that puts the right record into Vivarium's own DNS. */
export type RecordPlan =
  /** The record exists; `visibleAt` may be in the future. */
  | { kind: 'present'; zone: string; visibleAt: string }
  /** The record can't be added; `why` names the alternative. */
  | { kind: 'impossible'; why: string }
  | { kind: 'put'; zone: string; createsZone: boolean; record: WantedRecord; replaced: readonly RecordInfo[] };

/** Reads the records of a hostname from Vivarium's DNS. */
export async function readLocalRecords(
  client: Client,
  hostname: string,
  { resolver }: Pick<Settings, 'resolver'>,
  signal: AbortSignal,
): Promise<LocalRecords> {
  const zones = await client.zones.list({}, { signal });
  const zone = closestZone(hostname, zones);
  if (zone === null) return { zones, zone, records: [], resolver };
  const name = nameWithin(hostname, zone.name);
  const records = await client.records.list({ zone: zone.name, name }, { signal });
  return { zones, zone, records, resolver };
}

/** The closest zone of a name. */
export function closestZone(name: string, zones: readonly ZoneInfo[]): ZoneInfo | null {
  const holding = zones.filter((zone) => name === zone.name || name.endsWith(`.${zone.name}`));
  return holding.sort((a, b) => b.name.length - a.name.length)[0] ?? null;
}

/** A name relative to its zone. */
export const nameWithin = (name: string, zone: string): string =>
  name === zone ? '@' : name.slice(0, -zone.length - 1);

/** The change that adds the right record of a domain to Vivarium's own DNS. */
export function planRecord(
  { hostname, instructions }: Domain,
  { zone, records }: Pick<LocalRecords, 'zone' | 'records'>,
): RecordPlan {
  const [instruction] = instructions;
  if (instruction === undefined) return { kind: 'impossible', why: 'There is no record to add.' };
  const zoneName = zone?.name ?? registeredZone(hostname, instruction);
  const name = nameWithin(hostname, zoneName);
  const impossible = impossibility(instruction, name, zone);
  if (impossible !== null) return { kind: 'impossible', why: impossible };
  const conflicting = records.filter((record) => !isRight(record, instruction) && conflicts(record, instruction));
  const right = records.find((record) => isRight(record, instruction));
  if (right !== undefined && conflicting.length === 0) {
    return { kind: 'present', zone: zoneName, visibleAt: right.visibleAt };
  }
  const { type, value, ttl } = instruction;
  return {
    kind: 'put',
    zone: zoneName,
    createsZone: zone === null,
    record: { name, type, value, ttl },
    replaced: conflicting,
  };
}

/** Without a zone, the instruction's name is relative to the zone to create. */
const registeredZone = (hostname: string, { name }: Instruction): string =>
  name === '@' ? hostname : hostname.slice(name.length + 1);

function impossibility({ type, note }: Instruction, name: string, zone: ZoneInfo | null): string | null {
  const refused = type === 'CNAME' ? name === '@' : zone !== null && !zone.supportsAlias;
  return refused ? (note ?? `The zone can't have a record of the type ${type} there.`) : null;
}

const isAlias = (type: string): boolean => type === 'ALIAS' || type === 'ANAME';

function isRight({ type, value }: RecordInfo, wanted: Instruction): boolean {
  const sameType = type === wanted.type || (isAlias(type) && isAlias(wanted.type));
  return sameType && value.toLowerCase().replace(/\.$/, '') === wanted.value;
}

/** A CNAME allows no other record (RFC 1034 §3.6.2); beside an ALIAS, only address records conflict. */
const conflicts = ({ type }: RecordInfo, wanted: Instruction): boolean =>
  wanted.type === 'CNAME' || ['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME'].includes(type);

/** A record in zone-file notation. */
export const lineOf = ({ name, type, value }: WantedRecord): string => `${name} ${type} ${value}`;

/** A description of the plan, shown before it runs. */
export function describePlan({ zone, createsZone, record, replaced }: Extract<RecordPlan, { kind: 'put' }>): string {
  const adds = `adds ${lineOf(record)}`;
  if (createsZone) return `Creates the zone ${zone} in Vivarium’s DNS, and ${adds}.`;
  if (replaced.length === 0)
    return `${adds.charAt(0).toUpperCase()}${adds.slice(1)} to the zone ${zone} in Vivarium’s DNS.`;
  return `In the zone ${zone}, removes ${replaced.map(lineOf).join(' and ')}, which is in the way, and ${adds}.`;
}

/**
 * Adds the record. The last conflicting record becomes the new one in a single step, so resolvers always find one of
 * the two. If the record is refused, the removed conflicts are restored.
 * @returns a function that undoes it: removes the record, restores replaced ones, and removes a zone created for it if
 * empty.
 */
export async function applyPlan(
  client: Client,
  { zone, createsZone, record, replaced }: Extract<RecordPlan, { kind: 'put' }>,
): Promise<() => Promise<void>> {
  const changed = replaced.at(-1);
  const removed = replaced.slice(0, -1);
  const restore = async (): Promise<void> => {
    // Restore with force: the records were accepted that way before.
    for (const { name, type, ttl, value } of removed) {
      await client.records.put({ zone, name, type, ttl, value, force: true });
    }
  };
  const removeEmptyZone = async (): Promise<void> => {
    if (!createsZone) return;
    const made = (await client.zones.list({})).find(({ name }) => name === zone);
    if (made?.records === 0) await client.zones.remove({ name: zone });
  };
  if (createsZone) await client.zones.create({ name: zone, supportsAlias: true });
  for (const { id } of removed) await client.records.remove({ id });
  try {
    if (changed === undefined) {
      const { id } = await client.records.put({ zone, ...record });
      return async () => {
        await client.records.remove({ id });
        await removeEmptyZone();
      };
    }
    const { id } = await client.records.update({ id: changed.id, ...record });
    return async () => {
      const { name, type, ttl, value } = changed;
      // The record merged with an identical existing one.
      if (id !== changed.id) await client.records.put({ zone, name, type, ttl, value, force: true });
      else await client.records.update({ id, name, type, ttl, value, force: true });
      await restore();
    };
  } catch (error) {
    await restore();
    await removeEmptyZone();
    throw error;
  }
}
