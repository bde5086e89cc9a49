import { closestZone, lineOf, planRecord, recordNames, type RecordPlan } from '../../../main/contract/record-plan.ts';
import type { Check, Domain, Instruction } from '../../../main/contract/domains.ts';
import type { Settings } from '../../../main/contract/settings.ts';
import type { RecordInfo, ZoneInfo } from '../../../main/contract/zones.ts';
import type { Client } from '../../connection/transport.ts';

/** The records of a hostname in Vivarium's own DNS. */
export interface LocalRecords {
  zones: readonly ZoneInfo[];
  /** The closest zone of the hostname; null if there is none. */
  zone: ZoneInfo | null;
  /** The records at the names of its instructions, visible or still propagating. */
  records: readonly RecordInfo[];
  /** The resolver of verification: `local`, or another one, which does not see these zones. */
  resolver: string;
}

/** Reads the records at the names of a domain's instructions from Vivarium's DNS. */
export async function readLocalRecords(
  client: Client,
  domain: Pick<Domain, 'hostname' | 'instructions'>,
  { resolver }: Pick<Settings, 'resolver'>,
  signal: AbortSignal,
): Promise<LocalRecords> {
  const zones = await client.zones.list({}, { signal });
  const zone = closestZone(domain.hostname, zones);
  if (zone === null) return { zones, zone, records: [], resolver };
  const names = recordNames(domain, zone.name);
  const records = await Promise.all(names.map((name) => client.records.list({ zone: zone.name, name }, { signal })));
  return { zones, zone, records: records.flat(), resolver };
}

/** Whether the DNS that verification asks lacks the record, and Vivarium can put it there. */
export const isMissing = (domain: Domain, records: LocalRecords | undefined): boolean =>
  records?.resolver === 'local' && planRecord(domain, records).kind === 'put';

/** A description of the plan, shown before it runs. */
export function describePlan({ zone, createsZone, record, replaced }: Extract<RecordPlan, { kind: 'put' }>): string {
  const adds = `adds \`${lineOf(record)}\``;
  if (createsZone) return `Creates the zone ${zone} in Vivarium’s DNS, and ${adds}.`;
  if (replaced.length === 0)
    return `${adds.charAt(0).toUpperCase()}${adds.slice(1)} to the zone ${zone} in Vivarium’s DNS.`;
  return `Replaces ${replaced.map((each) => `\`${lineOf(each)}\``).join(' and ')} in the zone ${zone} of Vivarium’s DNS.`;
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

export interface Paste {
  text: string;
  what: string;
}

/** The record named in a fix: the domain's own record, or a CAA record in zone-file notation. */
export function pasteOf({ fix }: Pick<Check, 'fix'>, instructions: readonly Instruction[]): Paste | undefined {
  if (fix === undefined) return undefined;
  const own = instructions
    .map(({ name, type, value }) => `${name} ${type} ${value}`)
    .find((line) => fix.includes(line));
  const text = own ?? addedRecord(fix);
  return text === undefined ? undefined : { text, what: 'record' };
}

/** The record in "…, add this record: example.test. CAA 0 issue "ca.example"". */
const addedRecord = (instruction: string): string | undefined =>
  /add this record: (\S+ CAA \d+ \S+ "(?:[^"\\]|\\.)*")/.exec(instruction)?.[1];
