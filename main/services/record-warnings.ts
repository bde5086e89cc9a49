import type { ResourceRecord } from '../dns/record.ts';
import { absoluteText, relativeText } from '../model/dns-name.ts';
import type { RecordRows, ZoneRow, ZoneRows } from './dependencies.ts';

/** `www.example.test` without a trailing dot in the zone `example.test`: a common mistake. */
export function nameWarnings(zone: ZoneRow, text: string, name: string): string[] {
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
export function hiddenWarnings(
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
