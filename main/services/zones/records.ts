import type { Clock } from '../../base/clock.ts';
import { nextTurn } from '../../base/turns.ts';
import { type InputIssue, notFound, VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import { type PropagatingRRset, type RecordInfo, recordType } from '../../contract/zones.ts';
import { readRecordType, type RecordData, type ResourceRecord } from '../../dns/wire/record.ts';
import { statesOf } from '../../dns/zones/propagation.ts';
import { formatValue, formatZoneValue, parseValue, parseZoneValue } from '../../dns/wire/record-text.ts';
import { carelessFaults, recordFaults, withoutSerial } from '../../dns/zones/zone.ts';
import { parseName, relativeText, absoluteText } from '../../model/dns-name.ts';
import type { RecordRows, VersionRow, ZoneRow, ZoneRows } from '../dependencies.ts';
import type { RecordWriter } from './record-writer.ts';
import { existingZone } from './zone-rules.ts';

/** Records listed before yielding to other work: some milliseconds. */
const RECORDS_PER_TURN = 500;

/** Pending changes listed per RRset. */
const CHANGES_LISTED_MAX = 10;

export function createRecordServices(options: {
  clock: Pick<Clock, 'now'>;
  zones: ZoneRows;
  records: RecordRows;
  writer: RecordWriter;
  /** Finds the running break that has put a record. */
  broken: () => (row: VersionRow) => string | undefined;
}): Services['records'] {
  const { clock, zones, records, writer } = options;

  /** The current record with that value after a change. */
  function shown(zone: ZoneRow, record: ResourceRecord, typed: string): RecordInfo {
    const { name, data } = record;
    const value = formatZoneValue(data);
    const row = records
      .rrset(zone.name, name, data.type)
      .find((version) => version.visibleUntilMs === null && version.value === value);
    if (row === undefined) throw new Error('A stored record is missing.');
    return presentRecord(row, [
      ...nameWarnings(zone, typed, name),
      ...hiddenWarnings({ zones, records }, zone, record),
    ]);
  }

  function existing(id: string): VersionRow {
    const row = records.get(id);
    if (row !== null) return row;
    throw notFound(`There is no record "${id}". List a zone’s: \`records.list\`.`);
  }

  return {
    async list({ zone: text, name }) {
      const zone = existingZone(zones, text).name;
      const broken = options.broken();
      const present = (row: VersionRow): RecordInfo => {
        const breakId = broken(row);
        return { ...presentRecord(row), ...(breakId !== undefined && { breakId }) };
      };
      if (name !== undefined) return records.at(zone, ownerName(zone, name)).map(present);
      // By id: a record whose name changes in the meantime would be listed twice.
      const found = new Map<string, RecordInfo>();
      for (const part of records.parts(zone, RECORDS_PER_TURN)) {
        for (const row of part) found.set(row.id, present(row));
        await nextTurn();
      }
      // The zone may have been removed in the meantime.
      existingZone(zones, zone);
      return [...found.values()];
    },
    put(input) {
      const zone = existingZone(zones, input.zone);
      const record = readRecord(zone, input);
      checkRecord(zone, record, input.force, (name) => dataAt(records, zone.name, name));
      writer.put(zone.name, [record]);
      return shown(zone, record, input.name);
    },
    update({ id, force, ...changes }) {
      const row = existing(id);
      const zone = existingZone(zones, row.zone);
      const before = presentRecord(row);
      const { name = before.name, type = before.type, ttl = before.ttl, value = before.value } = changes;
      const read = readRecord(zone, { name, type, ttl, value });
      // The displayed text may be shorter than the stored one.
      const kept = changes.value === undefined && type === before.type ? readData(row)[0] : undefined;
      const record = kept === undefined ? read : { ...read, data: kept };
      checkRecord(zone, record, force, (owner) => dataAt(records, zone.name, owner, row));
      writer.replace(row, record);
      return shown(zone, record, name);
    },
    remove({ id }) {
      const row = existing(id);
      const visibleAtMs = writer.remove(row);
      return presentRecord({ ...row, visibleAtMs });
    },
    propagating({ zone }) {
      const { name: apex } = existingZone(zones, zone);
      if (records.nextChangeMs() === null) return [];
      const rrsets = Map.groupBy(records.versions(apex), ({ type, name }) => `${type} ${name}`);
      return [...rrsets.values()].flatMap((versions) => presentPropagating(versions, clock.now()));
    },
  };
}

/** @throws VivariumError invalid_request */
function ownerName(zone: string, text: string): string {
  const name = parseName(text, zone);
  if (!name.ok) throw refused('invalid_request', [{ path: 'name', message: name.message }]);
  return name.name;
}

/** Data of the records at a name, one of each type, for the coexistence rules; leaves out the record `without`. */
function dataAt(
  records: Pick<RecordRows, 'typesAt' | 'rrset'>,
  zone: string,
  name: string,
  without?: VersionRow,
): RecordData[] {
  const rows = records.typesAt(zone, name);
  if (without?.name !== name) return rows.flatMap((row) => readData(row));
  const rest = records
    .rrset(zone, name, without.type)
    .find((version) => version.visibleUntilMs === null && version.id !== without.id);
  const kept = rows.filter(({ type }) => type !== without.type);
  return [...kept, ...(rest === undefined ? [] : [rest])].flatMap((row) => readData(row));
}

/** An RRset with pending changes; null without any. */
function presentPropagating(versions: readonly VersionRow[], nowMs: number): PropagatingRRset[] {
  const [first] = versions;
  const [now, ...ahead] = statesOf(versions, nowMs, CHANGES_LISTED_MAX);
  if (first === undefined || now === undefined || ahead.length === 0) return [];
  const answered = (rows: readonly VersionRow[]) =>
    rows.map((row) => {
      const { ttl, value } = presentRecord(row);
      return { ttl, value };
    });
  return [
    {
      name: relativeText(first.name, first.zone),
      type: recordType.parse(first.type),
      answered: answered(now.versions),
      changes: ahead.map((state) => ({ at: new Date(state.fromMs).toISOString(), answered: answered(state.versions) })),
    },
  ];
}

/** A stored record's data; null if another version of Vivarium wrote data that this one can't read. */
export function readData({ type, value }: Pick<VersionRow, 'type' | 'value'>): RecordData[] {
  const known = readRecordType(type);
  const read = known === null ? null : parseZoneValue(known, value);
  return read?.ok === true ? [read.data] : [];
}

/** @throws VivariumError invalid_request with the problems of both name and value. */
function readRecord(
  zone: ZoneRow,
  input: { name: string; type: RecordInfo['type']; ttl: number; value: string },
): ResourceRecord {
  const issues: InputIssue[] = [];
  const name = parseName(input.name, zone.name);
  if (!name.ok) issues.push({ path: 'name', message: name.message });
  const type = readRecordType(input.type);
  if (type === null)
    throw refused('invalid_request', [{ path: 'type', message: `${input.type} is not a record type.` }]);
  const data = parseValue(type, input.value);
  if (!data.ok) issues.push({ path: 'value', message: data.message });
  if (!name.ok || !data.ok) throw refused('invalid_request', issues);
  return { name: name.name, ttlSeconds: input.ttl, data: withoutSerial(data.data) };
}

/**
 * Checks a record against the rules of its zone; with force, only against those that lax providers enforce too.
 * @throws VivariumError `invalid_request`; `conflict` with an existing record. The issues say whether force helps.
 */
function checkRecord(zone: ZoneRow, record: ResourceRecord, force: boolean, at: (name: string) => RecordData[]): void {
  const { name: apex, supportsAlias } = zone;
  const careless = carelessFaults(apex, record);
  const inside = record.name === apex || record.name.endsWith(`.${apex}`);
  const forcible = careless.length === 0 && { forcible: true as const };
  const refuseAll = (code: 'invalid_request' | 'conflict', faults: readonly string[]): void => {
    if (faults.length === 0) return;
    throw refused(
      code,
      faults.map((message) => ({ path: inside ? 'type' : 'name', message, ...forcible })),
    );
  };
  if (force) return refuseAll('invalid_request', careless);
  refuseAll('invalid_request', recordFaults({ apex, supportsAlias, at: () => [] }, record));
  refuseAll('conflict', recordFaults({ apex, supportsAlias, at }, record));
}

const refused = (code: 'invalid_request' | 'conflict', issues: InputIssue[]): VivariumError =>
  new VivariumError(code, issues.map(({ path, message }) => `${path}: ${message}`).join(' '), { issues });

function presentRecord(row: VersionRow, more: string[] = []): RecordInfo {
  const type = recordType.parse(row.type);
  const data = parseZoneValue(type, row.value);
  const warnings = [...more, ...(data.ok ? data.warnings : [])];
  return {
    id: row.id,
    zone: row.zone,
    name: relativeText(row.name, row.zone),
    type,
    ttl: row.ttlSeconds,
    value: data.ok ? formatValue(data.data) : row.value,
    visibleAt: new Date(row.visibleAtMs).toISOString(),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** `www.example.test` without a trailing dot in the zone `example.test`: a common mistake. */
function nameWarnings(zone: ZoneRow, text: string, name: string): string[] {
  const doubled = `.${zone.name}.${zone.name}`;
  if (text.endsWith('.') || (!name.endsWith(doubled) && name !== doubled.slice(1))) return [];
  const meant = name.slice(0, -zone.name.length - 1);
  return [
    `The name is relative to the zone, so this is "${absoluteText(name)}". ` +
      `Write "${relativeText(meant, zone.name)}" or "${absoluteText(meant)}" if you meant that.`,
  ];
}

/**
 * Why a stored record is not what the server answers: its name lies in a deeper zone here, or its own zone delegates it
 * (RFC 1034 §4.2.1). One sentence, about the cut nearest to the apex; null for the NS of a delegation and the addresses
 * of its name servers.
 */
function hiddenWarnings(
  stored: { zones: Pick<ZoneRows, 'get'>; records: Pick<RecordRows, 'rrset'> },
  zone: ZoneRow,
  { name, data }: ResourceRecord,
): string[] {
  for (const ancestor of namesBelow(zone.name, name)) {
    if (ancestor === name && data.type === 'NS') return [];
    const shown = absoluteText(ancestor);
    if (stored.zones.get(ancestor) !== null) {
      return [`The zone "${shown}" here answers for this name instead. Put the record there.`];
    }
    const servers = stored.records
      .rrset(zone.name, ancestor, 'NS')
      .filter(({ visibleUntilMs }) => visibleUntilMs === null);
    if (servers.length === 0) continue;
    const isGlue = data.type === 'A' || data.type === 'AAAA';
    if (isGlue && servers.some(({ value }) => value === absoluteText(name))) return [];
    return [
      `"${shown}" is delegated by its NS records, so other name servers answer for this name, and this record is never served. ` +
        'Remove the NS records, or create the record on those servers.',
    ];
  }
  return [];
}

/** The names from just below the apex down to `name`. */
function namesBelow(apex: string, name: string): string[] {
  const names: string[] = [];
  for (
    let ancestor = name;
    ancestor !== apex && ancestor.endsWith(`.${apex}`);
    ancestor = ancestor.slice(ancestor.indexOf('.') + 1)
  ) {
    names.unshift(ancestor);
  }
  return names;
}
