import type { ProviderFacts } from '../domains/index.ts';
import type { RecordRows, VersionRow, ZoneRow } from './dependencies.ts';

/** What the zones here have stored for a hostname, visible or not; null when it is in none of them. */
export function providerFacts(
  hostname: string,
  stored: {
    zone: (name: string) => ZoneRow | null;
    records: Pick<RecordRows, 'rrset'>;
  },
): ProviderFacts | null {
  const zone = zoneOf(hostname, stored.zone);
  if (zone === null) return null;
  const at = (name: string): VersionRow[] => TYPES.flatMap((type) => stored.records.rrset(zone.name, name, type));
  const own = at(hostname);
  const versions =
    own.length > 0 || hostname === zone.name ? own : at(`*.${hostname.slice(hostname.indexOf('.') + 1)}`);
  const moments = versions.flatMap(({ visibleFromMs, visibleUntilMs }) => [visibleFromMs, visibleUntilMs]);
  const onTheWay = moments.filter((moment) => moment !== null);
  return {
    zone: zone.name,
    supportsAlias: zone.supportsAlias,
    records: versions.flatMap(({ type, value, visibleUntilMs }) => (visibleUntilMs === null ? [{ type, value }] : [])),
    visibleAtMs: onTheWay.length === 0 ? null : Math.max(...onTheWay),
  };
}

/** What decides where a hostname leads. */
const TYPES = ['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME'] as const;

function zoneOf(hostname: string, zone: (name: string) => ZoneRow | null): ZoneRow | null {
  for (let name = hostname; name !== ''; name = name.includes('.') ? name.slice(name.indexOf('.') + 1) : '') {
    const found = zone(name);
    if (found !== null) return found;
  }
  return null;
}
