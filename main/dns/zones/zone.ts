import { isIPv4 } from 'node:net';
import { absoluteText, isAtOrBelow, NAME_OCTETS_MAX, parentOf, wireLength } from '../../model/dns-name.ts';
import type { DomainName } from '../../model/dns-name.ts';
import { formatZoneValue } from '../wire/record-text.ts';
import { isAlias, TTL_SECONDS_MAX } from '../wire/record.ts';
import type { RecordData, RecordType, ResourceRecord, RRset, Soa } from '../wire/record.ts';

/** An immutable zone. Its records include the SOA and NS of the apex. */
export interface Zone {
  readonly apex: DomainName;
  /** Whether the zone's provider supports ALIAS/ANAME; if not, such records are not served. */
  readonly supportsAlias: boolean;
  readonly records: readonly ResourceRecord[];
}

export const DEFAULT_TTL_SECONDS = 3600;

/** SOA timers, unused without transfers (RIPE-203 recommends the first three); the last limits negative caching. */
const SOA_REFRESH_SECONDS = 7200;
const SOA_RETRY_SECONDS = 900;
const SOA_EXPIRE_SECONDS = 1_209_600;
export const NEGATIVE_TTL_SECONDS = 300;

export interface ZoneOptions {
  apex: DomainName;
  /** The name server's own name, in SOA and NS. */
  nameServer: DomainName;
  /** Counts the zone's versions (RFC 1982); 1 when unused. */
  serial?: number;
  supportsAlias?: boolean;
  records?: readonly ResourceRecord[];
}

/**
 * A zone with the given records and the mandatory SOA and NS (RFC 1034 §4.2.1), which are generated if
 * they are missing. The serial always comes from the options.
 */
export function createZone(options: ZoneOptions): Zone {
  const { apex, nameServer, records = [] } = options;
  const soa: Soa = {
    type: 'SOA',
    primary: nameServer,
    mailbox: mailboxOf(apex, nameServer),
    serial: options.serial ?? 1,
    refreshSeconds: SOA_REFRESH_SECONDS,
    retrySeconds: SOA_RETRY_SECONDS,
    expireSeconds: SOA_EXPIRE_SECONDS,
    minimumSeconds: NEGATIVE_TTL_SECONDS,
  };
  const own: ResourceRecord[] = [{ name: apex, ttlSeconds: DEFAULT_TTL_SECONDS, data: soa }];
  const given = records.findLast(({ data }) => data.type === 'SOA');
  if (given?.data.type === 'SOA') own[0] = { ...given, data: { ...given.data, serial: soa.serial } };
  if (!records.some(({ name, data }) => name === apex && data.type === 'NS')) {
    own.push({ name: apex, ttlSeconds: DEFAULT_TTL_SECONDS, data: { type: 'NS', target: nameServer } });
  }
  const others = records.filter(({ data }) => data.type !== 'SOA');
  return { apex, supportsAlias: options.supportsAlias ?? true, records: [...own, ...others] };
}

/** An SOA as stored: the server counts the serial of its zones itself. */
export const withoutSerial = (data: RecordData): RecordData => (data.type === 'SOA' ? { ...data, serial: 0 } : data);

/** Whether a record is the SOA, apart from its serial, or the NS that `createZone` generates. */
export function isGenerated(
  { name, ttlSeconds, data }: ResourceRecord,
  apex: DomainName,
  nameServer: DomainName,
): boolean {
  if (name !== apex) return false;
  if (data.type === 'NS') return data.target === nameServer;
  const [soa] = createZone({ apex, nameServer }).records;
  if (data.type !== 'SOA' || soa === undefined || soa.ttlSeconds !== ttlSeconds) return false;
  return formatZoneValue(withoutSerial(data)) === formatZoneValue(withoutSerial(soa.data));
}

/** Below the zone or, if its name leaves no room for a label, at the name server. */
function mailboxOf(apex: DomainName, nameServer: DomainName): DomainName {
  const own = apex === '' ? 'hostmaster' : `hostmaster.${apex}`;
  return wireLength(own) <= NAME_OCTETS_MAX ? own : `hostmaster.${parentOf(nameServer)}`;
}

/** The context of a new record: its zone's rules and existing records. */
export interface RecordContext {
  apex: DomainName;
  supportsAlias: boolean;
  /** Data of the records at a name; one of each type is enough. */
  at(name: DomainName): readonly RecordData[];
}

/**
 * All rules that a record breaks, each as a sentence that tells what to change; empty when it is allowed. An existing
 * equal record is no conflict: putting it again changes its TTL.
 */
export function recordFaults(context: RecordContext, record: ResourceRecord): string[] {
  const { apex, supportsAlias } = context;
  const { name, data } = record;
  const faults = carelessFaults(apex, record);
  if (!isAtOrBelow(name, apex)) return faults;
  const shown = absoluteText(name);
  if (name === apex) faults.push(...apexFaults(data.type, shown));
  if (isAlias(data.type) && !supportsAlias) {
    faults.push(
      `This zone's provider has no ${data.type} records; use A and AAAA records, or a zone that supports them.`,
    );
  }
  faults.push(...targetFaults(data));
  // The apex fault above already covers SOA and NS.
  const isReportedAlready = ({ type }: RecordData): boolean =>
    data.type === 'CNAME' && name === apex && (type === 'SOA' || type === 'NS');
  const present = context.at(name).filter((other) => !isReportedAlready(other));
  return [...faults, ...neighbourFaults(data, present, shown)];
}

/**
 * The subset of `recordFaults` that even a careless provider enforces: it stores a CNAME beside others or at the apex,
 * an ALIAS that has no effect, and an address in place of a name.
 */
export function carelessFaults(apex: DomainName, { name, data, ttlSeconds }: ResourceRecord): string[] {
  const shown = absoluteText(name);
  if (!isAtOrBelow(name, apex)) {
    return [`"${shown}" is not in the zone "${absoluteText(apex)}"; add it to the zone that it belongs to.`];
  }
  const faults: string[] = [];
  if (!Number.isInteger(ttlSeconds) || ttlSeconds < 0 || ttlSeconds > TTL_SECONDS_MAX) {
    faults.push(`The TTL is a whole number of seconds from 0 to ${TTL_SECONDS_MAX}, not ${ttlSeconds}.`);
  }
  if (data.type === 'SOA' && name !== apex) {
    faults.push(`An SOA is allowed at the zone's own name only, not at "${shown}".`);
  }
  if (data.type === 'NS' && name.startsWith('*.')) {
    faults.push(`A wildcard can't be delegated (RFC 4592 §4.2): use the delegated name itself instead of "${shown}".`);
  }
  return faults;
}

/** `www CNAME 192.0.2.1` would lead to a name of four labels, which does not exist. */
function targetFaults(data: RecordData): string[] {
  const target = hostOf(data);
  if (target === null || !isIPv4(target)) return [];
  const instead =
    data.type === 'MX' || data.type === 'NS' || data.type === 'SRV'
      ? 'give a name an A record with that address, and use the name'
      : 'use an A record for it';
  return [`${data.type} needs a name, but "${target}" is an address; ${instead}.`];
}

/** The host that a record names. `.` in SVCB and HTTPS is the owner (RFC 9460 §2.5.2), and no host here. */
export function hostOf(data: RecordData): DomainName | null {
  if (data.type === 'MX') return data.exchange;
  if ('server' in data) return data.server;
  return 'target' in data ? data.target : null;
}

function apexFaults(type: RecordType, shown: string): string[] {
  if (type !== 'CNAME') return [];
  return [`"${shown}" is the zone's own name, which has SOA and NS, so it can't have a CNAME; use ALIAS (or ANAME).`];
}

function neighbourFaults(data: RecordData, present: readonly RecordData[], shown: string): string[] {
  // Ignores the same record and, for types with several values, other values of its type.
  const repeats = data.type !== 'CNAME' && data.type !== 'DNAME' && data.type !== 'SOA' && !isAlias(data.type);
  const text = repeats ? '' : formatZoneValue(data);
  const others = present.filter((other) => other.type !== data.type || (!repeats && formatZoneValue(other) !== text));
  const types = [...new Set(others.map(({ type }) => type))];
  if (data.type === 'CNAME') {
    if (types.includes('CNAME')) return [`"${shown}" has a CNAME with another target already; remove it first.`];
    if (types.length === 0) return [];
    return [
      `A CNAME must be the only record of its name (RFC 1034 §3.6.2); "${shown}" has ${types.join(', ')} already.`,
    ];
  }
  if (types.includes('CNAME')) {
    return [`"${shown}" has a CNAME, which must be the only record of its name (RFC 1034 §3.6.2); remove it first.`];
  }
  if (data.type === 'DNAME' && types.includes('DNAME')) {
    return [`"${shown}" has a DNAME with another target already (RFC 6672 §2.4); remove it first.`];
  }
  if (data.type === 'SOA' && types.includes('SOA')) return [`"${shown}" has an SOA already; a zone has exactly one.`];
  return aliasFaults(data.type, types, shown);
}

function aliasFaults(type: RecordType, present: readonly RecordType[], shown: string): string[] {
  if (isAlias(type)) {
    if (present.some(isAlias))
      return [`"${shown}" has an ALIAS or ANAME with another target already; remove it first.`];
    const addresses = present.filter((other) => other === 'A' || other === 'AAAA');
    if (addresses.length === 0) return [];
    return [
      `${type} provides the target's addresses, but "${shown}" has its own (${addresses.join(', ')}): remove them first.`,
    ];
  }
  if ((type !== 'A' && type !== 'AAAA') || !present.some(isAlias)) return [];
  return [`"${shown}" takes its addresses from an ALIAS or ANAME; remove that first, or leave out the ${type}.`];
}

/** The SOA of a negative answer, with the negative TTL (RFC 2308 §5). */
export function negativeSoa(soa: RRset): RRset {
  const [data] = soa.data;
  if (data?.type !== 'SOA') return soa;
  return { ...soa, ttlSeconds: Math.min(soa.ttlSeconds, data.minimumSeconds) };
}
