import type { ProviderFacts } from '../domains/provider.ts';
import { parentOf, ROOT } from '../model/dns-name.ts';
import type { RecordRows, VersionRow } from './dependencies.ts';

/** Finds a zone that is answered from by its apex. */
export type FindZone = (apex: string) => { apex: string; supportsAlias: boolean } | undefined;

/** The zone here that a hostname is in, the closest one first; null when it is in none. */
export function zoneFacts(hostname: string, find: FindZone): Pick<ProviderFacts, 'zone' | 'supportsAlias'> | null {
  for (let name = hostname; name !== ROOT; name = parentOf(name)) {
    const found = find(name);
    if (found !== undefined) return { zone: found.apex, supportsAlias: found.supportsAlias };
  }
  return null;
}

/** What decides where a hostname leads. */
const TYPES = ['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME'] as const;

/** What the zones here have stored for a hostname, visible or not; null when it is in none of them. */
export function providerFacts(
  hostname: string,
  stored: { zone: FindZone; records: Pick<RecordRows, 'rrset'> },
): ProviderFacts | null {
  const zone = zoneFacts(hostname, stored.zone);
  if (zone === null) return null;
  const at = (name: string): VersionRow[] => TYPES.flatMap((type) => stored.records.rrset(zone.zone, name, type));
  const own = at(hostname);
  const versions = own.length > 0 || hostname === zone.zone ? own : at(`*.${parentOf(hostname)}`);
  const moments = versions.flatMap(({ visibleFromMs, visibleUntilMs }) => [visibleFromMs, visibleUntilMs]);
  const onTheWay = moments.filter((moment) => moment !== null);
  return {
    ...zone,
    records: versions.flatMap(({ type, value, visibleUntilMs }) => (visibleUntilMs === null ? [{ type, value }] : [])),
    visibleAtMs: onTheWay.length === 0 ? null : Math.max(...onTheWay),
  };
}
