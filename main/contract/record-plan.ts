import type { Domain, Instruction } from './domains.ts';
import type { RecordInfo, ZoneInfo } from './zones.ts';

type WantedRecord = Pick<RecordInfo, 'name' | 'type' | 'ttl' | 'value'>;

/** The change that puts the right record of a domain into Vivarium's own DNS; the page and `domains.attach` share it. */
export type RecordPlan =
  /** The record exists; `visibleAt` may be in the future. */
  | { kind: 'present'; zone: string; visibleAt: string }
  /** The record can't be added; `why` names the alternative. */
  | { kind: 'impossible'; why: string }
  | { kind: 'put'; zone: string; createsZone: boolean; record: WantedRecord; replaced: readonly RecordInfo[] };

/** The closest zone of a name. */
export function closestZone(name: string, zones: readonly ZoneInfo[]): ZoneInfo | null {
  const holding = zones.filter((zone) => name === zone.name || name.endsWith(`.${zone.name}`));
  return holding.sort((a, b) => b.name.length - a.name.length)[0] ?? null;
}

/** A name relative to its zone. */
export const nameWithin = (name: string, zone: string): string =>
  name === zone ? '@' : name.slice(0, -zone.length - 1);

export function planRecord(
  { hostname, instructions }: Domain,
  { zone, records }: { zone: ZoneInfo | null; records: readonly RecordInfo[] },
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
