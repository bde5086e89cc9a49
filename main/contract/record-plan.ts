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

/**
 * The names of a domain's records, relative to a zone that has the hostname. Names outside the zone are left out: TXT
 * records of a claim may be above it.
 */
export function recordNames(
  { hostname, instructions }: Pick<Domain, 'hostname' | 'instructions'>,
  zone: string,
): string[] {
  const names = instructions.map((instruction) => absoluteName(hostname, instructions, instruction));
  return [...new Set(names)]
    .filter((name) => name === zone || name.endsWith(`.${zone}`))
    .map((name) => nameWithin(name, zone));
}

/** A plan for each record of a domain: TXT records first, because they may be there before traffic moves. */
export function planRecords(domain: Domain, local: LocalZone): RecordPlan[] {
  const [leading, ...proofs] = domain.instructions;
  if (leading === undefined) return [{ kind: 'impossible', why: 'There is no record to add.' }];
  return [...proofs, leading].map((instruction) => planOne(domain, instruction, local));
}

/** The next change for a domain, or that of its last record. */
export function planRecord(domain: Domain, local: LocalZone): RecordPlan {
  const plans = planRecords(domain, local);
  const [last] = plans.toReversed();
  return (
    plans.find(({ kind }) => kind !== 'present') ?? last ?? { kind: 'impossible', why: 'There is no record to add.' }
  );
}

/** Vivarium's own DNS, as far as a domain is concerned. */
export interface LocalZone {
  zone: ZoneInfo | null;
  /** Those at `recordNames`. */
  records: readonly RecordInfo[];
}

function planOne(
  { hostname, instructions }: Domain,
  instruction: Instruction,
  { zone, records }: LocalZone,
): RecordPlan {
  const zoneName = zone?.name ?? zoneOfInstructions(hostname, instructions);
  const absolute = absoluteName(hostname, instructions, instruction);
  const { type, value, ttl } = instruction;
  if (absolute !== zoneName && !absolute.endsWith(`.${zoneName}`)) {
    return { kind: 'impossible', why: `${absolute} is not in the zone ${zoneName}. Add it to the zone above.` };
  }
  const name = nameWithin(absolute, zoneName);
  const impossible = impossibility(instruction, name, zone);
  if (impossible !== null) return { kind: 'impossible', why: impossible };
  const there = records.filter((record) => record.name === name);
  const conflicting = there.filter((record) => !isRight(record, instruction) && conflicts(record, instruction));
  const right = there.find((record) => isRight(record, instruction));
  if (right !== undefined && conflicting.length === 0) {
    return { kind: 'present', zone: zoneName, visibleAt: right.visibleAt };
  }
  return {
    kind: 'put',
    zone: zoneName,
    createsZone: zone === null,
    record: { name, type, value, ttl },
    replaced: conflicting,
  };
}

/** The zone that the names of instructions are relative to: the first is of the hostname itself. */
function zoneOfInstructions(hostname: string, [leading]: readonly Instruction[]): string {
  const name = leading?.name ?? '@';
  return name === '@' ? hostname : hostname.slice(name.length + 1);
}

/** The name of an instruction; one outside its zone ends with a dot. */
function absoluteName(hostname: string, instructions: readonly Instruction[], { name }: Instruction): string {
  if (name.endsWith('.')) return name.slice(0, -1);
  const zone = zoneOfInstructions(hostname, instructions);
  return name === '@' ? zone : `${name}.${zone}`;
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
  type === 'CNAME' || wanted.type === 'CNAME'
    ? true
    : wanted.type !== 'TXT' && ['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME'].includes(type);

/** A record in zone-file notation. */
export const lineOf = ({ name, type, value }: WantedRecord): string => `${name} ${type} ${value}`;
