import { absoluteText, relativeText, ROOT, type DomainName } from '../model/dns-name.ts';
import { fieldsOf, valueIn } from './record-fields.ts';
import type { RecordData, ResourceRecord } from './record.ts';

/** A record's value in the form that `parseValue` reads. */
export function formatValue(data: RecordData): string {
  if (data.type === 'TXT') return Buffer.from(data.strings.join(''), 'latin1').toString('utf8');
  return formatData(data, (name) => (name === ROOT ? '.' : name));
}

/** A record's value as in a zone file; names relative to `origin` if given, else absolute. */
export function formatZoneValue(data: RecordData, origin?: DomainName): string {
  return formatData(data, origin === undefined ? absoluteText : (name) => relativeText(name, origin));
}

/** A record as one line of a zone file: `www.example. 3600 IN A 192.0.2.1`. */
export function formatRecord(record: ResourceRecord, origin?: DomainName): string {
  const owner = origin === undefined ? absoluteText(record.name) : relativeText(record.name, origin);
  return `${owner} ${record.ttlSeconds} IN ${record.data.type} ${formatZoneValue(record.data, origin)}`;
}

function formatData(data: RecordData, name: (name: DomainName) => string): string {
  if ('octets' in data) return formatUnknown(data.octets);
  const values = (fieldsOf(data.type) ?? []).map(([field, { format }]) => format(valueIn(data, field), name));
  return values.filter((text) => text !== '').join(' ');
}

/** RFC 3597 §5. */
function formatUnknown(octets: string): string {
  const hex = Buffer.from(octets, 'latin1').toString('hex').toUpperCase();
  return `\\# ${octets.length} ${hex}`.trimEnd();
}
