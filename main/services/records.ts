import type { InputIssue } from '../contract/errors.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import { type RecordInfo, recordType } from '../contract/zones.ts';
import type * as Dns from '../dns/index.ts';
import type { RecordData, ResourceRecord } from '../dns/index.ts';
import type { RecordRows, VersionRow, ZoneRow, ZoneRows } from './dependencies.ts';
import type { RecordWriter } from './record-writer.ts';
import { existingZone } from './zone-rules.ts';

/** The rules of DNS that the services ask. */
export type RecordRules = Pick<
  typeof Dns,
  | 'absoluteText'
  | 'formatValue'
  | 'formatZoneValue'
  | 'parseName'
  | 'parseValue'
  | 'parseZoneValue'
  | 'recordFaults'
  | 'relativeText'
>;

export function createRecordServices(options: {
  zones: ZoneRows;
  records: RecordRows;
  rules: RecordRules;
  writer: RecordWriter;
}): Services['records'] {
  const { zones, records, rules, writer } = options;

  return {
    list({ zone: text, name }) {
      const zone = existingZone(zones, text).name;
      const rows = name === undefined ? records.list(zone) : records.at(zone, ownerName(rules, zone, name));
      return rows.map((row) => presentRecord(rules, row));
    },
    put(input) {
      const zone = existingZone(zones, input.zone);
      const record = readRecord(rules, zone, input);
      checkPlace(rules, zone, record, input.force ? null : (name) => dataAt(rules, records, zone.name, name));
      writer.put(zone.name, [record]);
      const value = rules.formatZoneValue(record.data);
      const row = records
        .rrset(zone.name, record.name, record.data.type)
        .find((version) => version.visibleUntilMs === null && version.value === value);
      if (row === undefined) throw new Error('A record that was put is not there.');
      return presentRecord(rules, row, nameWarnings(rules, zone, input.name, record));
    },
    remove({ id }) {
      const row = records.get(id);
      if (row === null) {
        throw new VivariumError('not_found', `There is no record "${id}"; records.list shows a zone’s.`);
      }
      const visibleAtMs = writer.remove(row);
      return presentRecord(rules, { ...row, visibleAtMs });
    },
  };
}

/** @throws VivariumError invalid_request */
function ownerName(rules: Pick<RecordRules, 'parseName'>, zone: string, text: string): string {
  const name = rules.parseName(text, zone);
  if (!name.ok) throw refused('invalid_request', [{ path: 'name', message: name.message }]);
  return name.name;
}

/** Data of the records at a name, one of each type, for the rules on what may stand together. */
function dataAt(
  rules: Pick<RecordRules, 'parseZoneValue'>,
  records: Pick<RecordRows, 'typesAt'>,
  zone: string,
  name: string,
): RecordData[] {
  return records.typesAt(zone, name).flatMap((row) => readData(rules, row));
}

/** A stored record's data; nothing where another version of Vivarium has stored what this one can't read. */
export function readData(
  rules: Pick<RecordRules, 'parseZoneValue'>,
  { type, value }: Pick<VersionRow, 'type' | 'value'>,
): RecordData[] {
  const known = recordType.safeParse(type);
  const read = known.success ? rules.parseZoneValue(known.data, value) : null;
  return read?.ok === true ? [read.data] : [];
}

/** @throws VivariumError invalid_request with what is wrong with the name and with the value. */
function readRecord(
  rules: RecordRules,
  zone: ZoneRow,
  input: { name: string; type: RecordInfo['type']; ttl: number; value: string },
): ResourceRecord {
  const issues: InputIssue[] = [];
  const name = rules.parseName(input.name, zone.name);
  if (!name.ok) issues.push({ path: 'name', message: name.message });
  const data = rules.parseValue(input.type, input.value);
  if (!data.ok) issues.push({ path: 'value', message: data.message });
  if (!name.ok || !data.ok) throw refused('invalid_request', issues);
  return { name: name.name, ttlSeconds: input.ttl, data: data.data };
}

/**
 * Holds a record to the rules of its place. Null for `at` is force: what a careless provider stores too, a CNAME beside
 * others or at the apex, an ALIAS where nothing answers from it; only a record outside its zone remains refused.
 * @throws VivariumError `invalid_request`; `conflict` with what stands there already.
 */
function checkPlace(
  rules: Pick<RecordRules, 'recordFaults'>,
  zone: ZoneRow,
  record: ResourceRecord,
  at: ((name: string) => RecordData[]) | null,
): void {
  const { name: apex, supportsAlias } = zone;
  if (at === null) {
    if (record.data.type === 'CNAME' && record.name === apex) return;
    return refuseAll(
      'invalid_request',
      rules.recordFaults({ apex, supportsAlias: true, at: () => [] }, record),
      record,
      zone,
    );
  }
  const alone = rules.recordFaults({ apex, supportsAlias, at: () => [] }, record);
  refuseAll('invalid_request', alone, record, zone);
  refuseAll('conflict', rules.recordFaults({ apex, supportsAlias, at }, record), record, zone);
}

function refuseAll(
  code: 'invalid_request' | 'conflict',
  faults: readonly string[],
  { name }: ResourceRecord,
  zone: ZoneRow,
): void {
  if (faults.length === 0) return;
  const inside = name === zone.name || name.endsWith(`.${zone.name}`);
  throw refused(
    code,
    faults.map((message) => ({ path: inside ? 'type' : 'name', message })),
  );
}

const refused = (code: 'invalid_request' | 'conflict', issues: InputIssue[]): VivariumError =>
  new VivariumError(code, issues.map(({ path, message }) => `${path}: ${message}`).join(' '), { issues });

/** `www.example.test` without the dot, in the zone `example.test`, is what many mean and few get. */
function nameWarnings(rules: RecordRules, zone: ZoneRow, text: string, { name }: ResourceRecord): string[] {
  const doubled = `.${zone.name}.${zone.name}`;
  if (text.endsWith('.') || (!name.endsWith(doubled) && name !== doubled.slice(1))) return [];
  const meant = name.slice(0, -zone.name.length - 1);
  return [
    `The name is relative to the zone, so this is "${rules.absoluteText(name)}". ` +
      `Write "${rules.relativeText(meant, zone.name)}" or "${rules.absoluteText(meant)}" if you meant that.`,
  ];
}

function presentRecord(rules: RecordRules, row: VersionRow, more: string[] = []): RecordInfo {
  const type = recordType.parse(row.type);
  const data = rules.parseZoneValue(type, row.value);
  const warnings = [...more, ...(data.ok ? data.warnings : [])];
  return {
    id: row.id,
    zone: row.zone,
    name: rules.relativeText(row.name, row.zone),
    type,
    ttl: row.ttlSeconds,
    value: data.ok ? rules.formatValue(data.data) : row.value,
    visibleAt: new Date(row.visibleAtMs).toISOString(),
    ...(warnings.length > 0 && { warnings }),
  };
}
