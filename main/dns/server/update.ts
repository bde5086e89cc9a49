import { isAtOrBelow, type DomainName } from '../../model/dns-name.ts';
import { formatZoneValue, parseZoneValue } from '../wire/record-text.ts';
import {
  CLASS_ANY,
  CLASS_IN,
  CLASS_NONE,
  QUESTION_TYPES,
  readRecordType,
  TTL_SECONDS_MAX,
  typeName,
  type RecordData,
  type RecordType,
} from '../wire/record.ts';
import { type UpdateResult, type UpdateMessage, UPDATE_RECORDS_MAX, type UpdateRecord } from './update-exchange.ts';
import { isGenerated, recordFaults, withoutSerial } from '../zones/zone.ts';

/**
 * TTLs of an RRset by value, as `formatZoneValue` writes it. It is read value by value, because it may be large; `keys`
 * yields at most one more than an update can delete.
 */
export type Values = Pick<ReadonlyMap<string, number>, 'get' | 'size' | 'keys'>;

/** A zone's stored records, visible or not yet, with the SOA and NS that are generated if there are none. */
export interface UpdatedZone {
  apex: DomainName;
  nameServer: DomainName;
  supportsAlias: boolean;
  rrset(name: DomainName, type: string): Values;
  /** The types at a name, each with one of its values. */
  typesAt(name: DomainName): readonly { type: string; value: string }[];
}

/** An update's changes to an RRset. */
export interface UpdatedRRset {
  name: DomainName;
  type: string;
  /** TTLs of new values, and new TTLs of present ones. */
  put: ReadonlyMap<string, number>;
  /** Removed values. */
  gone: ReadonlySet<string>;
}

export type PlannedUpdate = { ok: true; rrsets: readonly UpdatedRRset[] } | ({ ok: false } & UpdateResult);

/** Aborts an update. */
class Refusal extends Error {
  readonly result: UpdateResult;

  constructor(result: UpdateResult) {
    super();
    this.result = result;
  }
}

const refuse = (rcode: UpdateResult['rcode'], reason?: string): never => {
  throw new Refusal({ rcode, ...(reason !== undefined && { reason }) });
};

/**
 * The result of an update on a zone (RFC 2136 §3.2 to §3.4): all of it or nothing. The rules for records apply as for
 * any other input, so a record that BIND would silently skip refuses the update with its reason.
 */
export function planUpdate({ prerequisites, updates }: UpdateMessage, zone: UpdatedZone): PlannedUpdate {
  const draft = new Draft(zone);
  try {
    for (const record of [...prerequisites, ...updates]) {
      if (!isAtOrBelow(record.name, zone.apex)) refuse('NOTZONE');
    }
    checkPrerequisites(prerequisites, draft);
    for (const record of updates) checkForm(record);
    for (const record of updates) change(record, draft);
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, ...error.result };
    throw error;
  }
  return { ok: true, rrsets: draft.rrsets() };
}

class Draft {
  readonly zone: UpdatedZone;
  readonly #rrsets = new Map<string, DraftRRset>();
  #deleted = 0;

  constructor(zone: UpdatedZone) {
    this.zone = zone;
  }

  rrset(name: DomainName, type: string): DraftRRset {
    const key = `${type} ${name}`;
    let held = this.#rrsets.get(key);
    if (held === undefined) this.#rrsets.set(key, (held = new DraftRRset(name, type, this.zone.rrset(name, type))));
    return held;
  }

  /** One record of each type at a name, except `without`. */
  at(name: DomainName, without?: string): RecordData[] {
    const all = this.zone.typesAt(name);
    const stored = all.filter(({ type }) => !this.#rrsets.has(`${type} ${name}`));
    const changed = [...this.#rrsets.values()].flatMap((rrset) => {
      if (rrset.name !== name) return [];
      const value = rrset.any(all.find(({ type }) => type === rrset.type)?.value);
      return value === undefined ? [] : [{ type: rrset.type, value }];
    });
    return [...stored, ...changed].flatMap(({ type, value }) => {
      const known = type === without ? null : readRecordType(type);
      const read = known === null ? null : parseZoneValue(known, value);
      return read?.ok === true ? [read.data] : [];
    });
  }

  /** Deletes an RRset; all deletions together are limited, because more would delay questions. */
  delete(rrset: DraftRRset): void {
    this.#deleted += rrset.size;
    if (this.#deleted > UPDATE_RECORDS_MAX)
      refuse('REFUSED', `An update deletes at most ${UPDATE_RECORDS_MAX} records; delete them by value, in several.`);
    rrset.clear();
  }

  rrsets(): readonly UpdatedRRset[] {
    return [...this.#rrsets.values()];
  }
}

/** An RRset during the update: the stored one, and the differences. */
class DraftRRset implements UpdatedRRset {
  readonly name: DomainName;
  readonly type: string;
  readonly #before: Values;
  readonly put = new Map<string, number>();
  readonly gone = new Set<string>();

  constructor(name: DomainName, type: string, before: Values) {
    this.name = name;
    this.type = type;
    this.#before = before;
  }

  get size(): number {
    let size = this.#before.size - this.gone.size;
    for (const value of this.put.keys()) if (this.#before.get(value) === undefined) size++;
    return size;
  }

  has(value: string): boolean {
    return this.put.has(value) || (!this.gone.has(value) && this.#before.get(value) !== undefined);
  }

  /** Any one of its values; `stored` is one of the stored values. */
  any(stored: string | undefined): string | undefined {
    for (const value of this.put.keys()) return value;
    if (stored === undefined || !this.gone.has(stored)) return stored;
    for (const value of this.#before.keys()) if (!this.gone.has(value)) return value;
    return undefined;
  }

  set(value: string, ttlSeconds: number): void {
    this.gone.delete(value);
    if (this.#before.get(value) === ttlSeconds) this.put.delete(value);
    else this.put.set(value, ttlSeconds);
  }

  delete(value: string): void {
    this.put.delete(value);
    if (this.#before.get(value) !== undefined) this.gone.add(value);
  }

  clear(): void {
    this.put.clear();
    for (const value of this.#before.keys()) this.gone.add(value);
  }
}

/** RFC 2136 §3.2. */
function checkPrerequisites(records: readonly UpdateRecord[], draft: Draft): void {
  const wanted = new Map<string, { name: DomainName; type: string; values: Set<string> }>();
  for (const { name, type, class: recordClass, ttlSeconds, data } of records) {
    if (ttlSeconds !== 0 || (recordClass !== CLASS_IN && data !== null)) refuse('FORMERR');
    const mnemonic = typeName(type);
    const isThere = (): boolean =>
      type === QUESTION_TYPES.ANY ? draft.at(name).length > 0 : draft.rrset(name, mnemonic).size > 0;
    if (recordClass === CLASS_ANY) {
      if (!isThere()) refuse(type === QUESTION_TYPES.ANY ? 'NXDOMAIN' : 'NXRRSET');
    } else if (recordClass === CLASS_NONE) {
      if (isThere()) refuse(type === QUESTION_TYPES.ANY ? 'YXDOMAIN' : 'YXRRSET');
    } else if (recordClass === CLASS_IN && data !== null) {
      const key = `${mnemonic} ${name}`;
      const rrset = wanted.get(key) ?? { name, type: mnemonic, values: new Set() };
      wanted.set(key, rrset);
      rrset.values.add(valueOf(data));
    } else refuse('FORMERR');
  }
  for (const { name, type, values } of wanted.values()) {
    const present = draft.rrset(name, type);
    if (present.size !== values.size || [...values].some((value) => !present.has(value))) refuse('NXRRSET');
  }
}

const isMeta = (type: number): boolean => type >= 128 && type < 256;

/** RFC 2136 §3.4.1. */
function checkForm({ type, class: recordClass, ttlSeconds, data }: UpdateRecord): void {
  const all = type === QUESTION_TYPES.ANY;
  if (recordClass === CLASS_IN) {
    if (isMeta(type) || data === null) refuse('FORMERR');
  } else if (recordClass === CLASS_ANY) {
    if (ttlSeconds !== 0 || data !== null || (isMeta(type) && !all)) refuse('FORMERR');
  } else if (recordClass !== CLASS_NONE || ttlSeconds !== 0 || isMeta(type) || data === null) refuse('FORMERR');
}

/** RFC 2136 §3.4.2. */
function change({ name, type, class: recordClass, ttlSeconds, data }: UpdateRecord, draft: Draft): void {
  const { apex } = draft.zone;
  const mnemonic = typeName(type);
  // The SOA and the last NS of the apex cannot be deleted.
  const stays = (each: string): boolean => name === apex && (each === 'SOA' || each === 'NS');
  if (recordClass === CLASS_IN) {
    if (data !== null) add(name, ttlSeconds, data, draft);
  } else if (recordClass === CLASS_ANY) {
    const types = type === QUESTION_TYPES.ANY ? draft.at(name).map((each) => each.type) : [mnemonic];
    for (const each of types) if (!stays(each)) draft.delete(draft.rrset(name, each));
  } else if (data !== null) {
    const rrset = draft.rrset(name, mnemonic);
    if (stays(mnemonic) && (mnemonic === 'SOA' || rrset.size === 1)) return;
    rrset.delete(valueOf(data));
  }
}

function add(name: DomainName, ttl: number, data: RecordData, draft: Draft): void {
  const { apex, nameServer, supportsAlias } = draft.zone;
  // Records from a message meet the same rules and limits as typed ones.
  const typed = parseZoneValue(data.type, valueOf(data));
  if (!typed.ok) return refuse('REFUSED', typed.message);
  // RFC 2181 §8: a TTL with its highest bit set counts as zero.
  const record = { name, ttlSeconds: ttl > TTL_SECONDS_MAX ? 0 : ttl, data: typed.data };
  if (isGenerated(record, apex, nameServer)) return;
  const replaces: RecordType | undefined = data.type === 'SOA' || data.type === 'CNAME' ? data.type : undefined;
  const at = (owner: DomainName): RecordData[] => draft.at(owner, replaces);
  const [fault] = recordFaults({ apex, supportsAlias, at }, record);
  if (fault !== undefined) refuse('REFUSED', fault);
  const rrset = draft.rrset(name, data.type);
  if (replaces !== undefined) draft.delete(rrset);
  rrset.set(valueOf(typed.data), record.ttlSeconds);
}

const valueOf = (data: RecordData): string => formatZoneValue(withoutSerial(data));
