import { PLATFORM_ZONE } from '../base/config.ts';
import { type HostnameFault, isWithin, normalizeHostname } from '../base/hostname.ts';
import { VivariumError } from '../contract/errors.ts';
import type { ZoneInfo } from '../contract/zones.ts';
import type { ProviderFacts } from '../domains/provider.ts';
import { parentOf, ROOT } from '../model/dns-name.ts';
import type { StoredZone, ZoneRows, RecordRows, VersionRow } from './dependencies.ts';
import { inputError } from './project-rules.ts';

/** Zones of one Vivarium, and records in all of them: what the DNS server's figures are measured with. */
export const ZONES_MAX = 1_000;
export const RECORDS_MAX = 100_000;

/** Versions that are on their way to their end besides; more can't be waiting, however often a TTL is changed. */
export const ENDING_MAX = 100_000;

const FAULTS: Record<HostnameFault, string> = {
  empty: 'is empty; write the zone’s name, such as "example.test".',
  not_text: 'has characters that have no form in DNS (RFC 5890).',
  too_long: 'is longer than 253 characters.',
  empty_label: 'has an empty label: two dots beside each other, or one at the beginning.',
  label_too_long: 'has a label of more than 63 characters.',
  bad_character: 'may have letters, digits and hyphens only, between dots.',
  hyphen_at_edge: 'has a label that begins or ends with a hyphen.',
  all_numeric: 'ends in a number, which makes it an IP address.',
};

/**
 * The name under which a new zone is stored. Any hostname may be a zone, a public suffix such as `test` included: the
 * server answers on this machine only, and a zone above others is what delegation and the upper steps of a CAA walk are
 * rehearsed with. What is in the platform's zone can't be, because it would hide the platform's hostnames.
 * @throws VivariumError `invalid_request`; `conflict` in the platform's zone.
 */
export function newZoneName(text: string): string {
  const result = normalizeHostname(text.trim());
  if (!result.ok) throw inputError('name', FAULTS[result.fault]);
  if (isWithin(result.hostname, PLATFORM_ZONE)) {
    const message = `is in "${PLATFORM_ZONE}", the platform’s own zone, which follows the projects; choose another name.`;
    throw new VivariumError('conflict', `name: ${message}`, { issues: [{ path: 'name', message }] });
  }
  return result.hostname;
}

/**
 * The zone of that name, however it is written.
 * @throws VivariumError `not_found`, or `conflict` for the platform's own, which nobody changes.
 */
export function existingZone(zones: Pick<ZoneRows, 'get'>, text: string): StoredZone {
  const result = normalizeHostname(text.trim());
  const row = result.ok ? zones.get(result.hostname) : null;
  if (row !== null) return row;
  if (result.ok && result.hostname === PLATFORM_ZONE) {
    throw new VivariumError('conflict', `"${PLATFORM_ZONE}" is the platform’s own zone; it follows the projects.`);
  }
  throw new VivariumError('not_found', `There is no zone "${text}"; zones.list shows those that there are.`);
}

export const presentZone = ({ name, supportsAlias, records, createdAtMs }: StoredZone): ZoneInfo => ({
  name,
  supportsAlias,
  records,
  createdAt: new Date(createdAtMs).toISOString(),
});

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
