import type { Domain, Instruction } from './domains.ts';
import type { RecordInfo, ZoneInfo } from './zones.ts';

type WantedRecord = Pick<RecordInfo, 'name' | 'type' | 'ttl' | 'value'>;

/**
 * The change that puts the right record of a domain into Vivarium's own DNS; the page and `domains.attach` share it.
 */
export type RecordPlan =
  /** The record exists; `visibleAt` may be in the future. */
  | { kind: 'present'; zone: string; visibleAt: string }
  /** The record can't be added; `why` names the alternative. */
  | { kind: 'impossible'; why: string }
  | { kind: 'put'; zone: string; createsZone: boolean; record: WantedRecord; replaced: readonly RecordInfo[] };

export function closestZone(name: string, zones: readonly ZoneInfo[]): ZoneInfo | null {
  const holding = zones.filter((zone) => name === zone.name || name.endsWith(`.${zone.name}`));
  return holding.sort((a, b) => b.name.length - a.name.length)[0] ?? null;
}

export const nameWithin = (name: string, zone: string): string =>
  name === zone ? '@' : name.slice(0, -zone.length - 1);

/** Vivarium's own DNS, as far as a domain is concerned. */
export interface LocalZone {
  zone: ZoneInfo | null;
  /** Those at `recordNames`. */
  records: readonly RecordInfo[];
}

type Instructed = Pick<Domain, 'hostname' | 'instructions'>;

/** The names of a domain's records in a zone that has the hostname; TXT records of a claim may be above it. */
export const recordNames = (domain: Instructed, zone: string): string[] => [
  ...new Set(domain.instructions.flatMap((instruction) => nameOf(domain, instruction, zone) ?? [])),
];

/** The next change for a domain: TXT records first, because they may be there before traffic moves. */
export function planRecord(domain: Domain, local: LocalZone): RecordPlan {
  const [leading, ...proofs] = domain.instructions;
  if (leading === undefined) return { kind: 'impossible', why: 'There is no record to add.' };
  const missing = proofs.map((proof) => planOne(domain, proof, local)).find(({ kind }) => kind !== 'present');
  return missing ?? planOne(domain, leading, local);
}

export const planRecords = (domain: Domain, local: LocalZone): RecordPlan[] =>
  domain.instructions.map((instruction) => planOne(domain, instruction, local));

function planOne(domain: Instructed, instruction: Instruction, { zone, records }: LocalZone): RecordPlan {
  const zoneName = zone?.name ?? zoneOfInstructions(domain);
  const name = nameOf(domain, instruction, zoneName);
  if (name === null) return { kind: 'impossible', why: `${instruction.name} is above the zone ${zoneName}.` };
  const impossible = impossibility(instruction, name, zone);
  if (impossible !== null) return { kind: 'impossible', why: impossible };
  const there = records.filter((record) => record.name === name);
  const conflicting = there.filter((record) => !isRight(record, instruction) && conflicts(record, instruction));
  const right = there.find((record) => isRight(record, instruction));
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

/** The zone that the names of instructions are relative to: the first is of the hostname itself. */
const zoneOfInstructions = ({ hostname, instructions: [leading] }: Instructed): string =>
  leading === undefined || leading.name === '@' ? hostname : hostname.slice(leading.name.length + 1);

/** The name of an instruction in a zone; null above it. A name that ends with a dot is absolute. */
function nameOf(domain: Instructed, { name }: Instruction, zone: string): string | null {
  const own = zoneOfInstructions(domain);
  const absolute = name === '@' ? own : name.endsWith('.') ? name.slice(0, -1) : `${name}.${own}`;
  return absolute === zone || absolute.endsWith(`.${zone}`) ? nameWithin(absolute, zone) : null;
}

function impossibility({ type, note }: Instruction, name: string, zone: ZoneInfo | null): string | null {
  const refused = type === 'CNAME' ? name === '@' : isAlias(type) && zone !== null && !zone.supportsAlias;
  return refused ? (note ?? `The zone can't have a record of the type ${type} there.`) : null;
}

const isAlias = (type: string): boolean => type === 'ALIAS' || type === 'ANAME';

function isRight({ type, value }: RecordInfo, wanted: Instruction): boolean {
  const sameType = type === wanted.type || (isAlias(type) && isAlias(wanted.type));
  // The case of a text counts.
  return sameType && (type === 'TXT' ? value : value.toLowerCase().replace(/\.$/, '')) === wanted.value;
}

/** A CNAME allows no other record (RFC 1034 §3.6.2); beside an ALIAS or address, only those conflict. */
const conflicts = ({ type }: RecordInfo, wanted: Instruction): boolean =>
  type === 'CNAME' ||
  wanted.type === 'CNAME' ||
  (wanted.type !== 'TXT' && ['A', 'AAAA', 'ALIAS', 'ANAME'].includes(type));

/** A record in zone-file notation. */
export const lineOf = ({ name, type, value }: WantedRecord): string => `${name} ${type} ${value}`;
