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
  for (const place of placesBelow(zone.name, name)) {
    if (place === name && data.type === 'NS') return [];
    const shown = absoluteText(place);
    if (stored.zones.get(place) !== null) {
      return [`The zone "${shown}" here answers for this name instead. Put the record there.`];
    }
    const servers = stored.records
      .rrset(zone.name, place, 'NS')
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
function placesBelow(apex: string, name: string): string[] {
  const places: string[] = [];
  for (let place = name; place !== apex && place.endsWith(`.${apex}`); place = place.slice(place.indexOf('.') + 1)) {
    places.unshift(place);
  }
  return places;
}
