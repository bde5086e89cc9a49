import { PLATFORM_ZONE } from '../../base/config.ts';
import {
  HOSTNAME_LENGTH_MAX,
  type HostnameFault,
  type HostnameResult,
  isWithin,
  normalizeHostname,
} from '../../base/text/hostname.ts';
import { conflict, notFound } from '../../contract/errors.ts';
import type { ZoneInfo, ZoneDnssec } from '../../contract/zones.ts';
import type { ProviderFacts } from '../../domains/personas/provider.ts';
import { parentOf, parseName, ROOT, type DomainName } from '../../model/dns-name.ts';
import type { StoredZone, ZoneRows, RecordRows, VersionRow } from '../dependencies.ts';
import { inputError } from '../projects/project-rules.ts';
import type { Clock, EpochMs } from '../../base/clock.ts';
import type { Services } from '../../contract/index.ts';
import {
  ALGORITHM_NAME,
  createSigningKey,
  dnskeyText,
  dsText,
  readSigningKey,
  keysAt,
  ROLL_MS,
  validityAt,
} from '../../dns/zones/zone-signer.ts';
import type { ZoneSigning } from '../../model/dns-lookup.ts';

/** Zones per Vivarium; the DNS server’s published measurements use this number. */
export const ZONES_MAX = 1_000;

/** Superseded versions that are still visible; bounds the effect of repeated TTL changes. */
export const ENDING_MAX = 100_000;

const FAULTS: Record<HostnameFault, string> = {
  empty: 'is empty; write the zone’s name, such as "example.test".',
  not_text: 'has characters that DNS can’t represent (RFC 5890).',
  too_long: 'is longer than 253 characters.',
  empty_label: 'has an empty label: two dots beside each other, or one at the beginning.',
  label_too_long: 'has a label of more than 63 characters.',
  bad_character: 'may have only letters, digits and hyphens between dots; labels other than the last also _ and /.',
  hyphen_at_edge: 'has a label that begins or ends with a hyphen.',
  all_numeric: 'ends in a number, which makes it an IP address.',
};

/** Labels of a zone's name except the last: `_acme-challenge`, `_msdcs`, and `0/25` of a delegated block (RFC 2317). */
const ZONE_LABEL = /^[0-9a-z_/-]+$/;

/** Normalises a zone's name: a hostname, whose labels except the last may also have underscores and slashes. */
function normalizeZoneName(text: string): HostnameResult {
  const result = normalizeHostname(text);
  if (result.ok || result.fault !== 'bad_character') return result;
  const name = parseName(text);
  if (!name.ok || name.name.length > HOSTNAME_LENGTH_MAX) return result;
  const labels = name.name.split('.');
  return labels.every((label) => ZONE_LABEL.test(label)) && normalizeHostname(labels.at(-1) ?? '').ok
    ? { ok: true, hostname: name.name }
    : result;
}

/**
 * The normalized name of a new zone. Any hostname may be a zone, public suffixes such as `test` included: the server
 * answers only on this machine, and parent zones are needed to rehearse delegation and the upper steps of a CAA walk.
 * Labels of services and address blocks (`_acme-challenge`, `0/25`) may be in it. Names in the platform's zone are
 * refused because they would hide the platform's hostnames.
 * @throws VivariumError `invalid_request`; `conflict` in the platform's zone.
 */
export function newZoneName(text: string): string {
  const result = normalizeZoneName(text.trim());
  if (!result.ok) throw inputError('name', FAULTS[result.fault]);
  if (isWithin(result.hostname, PLATFORM_ZONE)) {
    const message = `is in "${PLATFORM_ZONE}", the platform’s own zone, which Vivarium manages; choose another name.`;
    throw inputError('name', message, 'conflict');
  }
  return result.hostname;
}

/**
 * Finds a zone by any spelling of its name.
 * @throws VivariumError `not_found`, or `conflict` for the read-only platform zone.
 */
export function existingZone(zones: Pick<ZoneRows, 'get'>, text: string): StoredZone {
  const result = normalizeZoneName(text.trim());
  const row = result.ok ? zones.get(result.hostname) : null;
  if (row !== null) return row;
  if (result.ok && result.hostname === PLATFORM_ZONE) {
    throw conflict(`"${PLATFORM_ZONE}" is the platform’s own zone, which Vivarium manages.`);
  }
  throw notFound(`There is no zone "${text}". List them: \`zones.list\`.`);
}

export const presentZone = ({ name, supportsAlias, records, signing, createdAtMs }: StoredZone): ZoneInfo => ({
  name,
  supportsAlias,
  records,
  ...(signing?.on === true && { signed: true }),
  createdAt: new Date(createdAtMs).toISOString(),
});

/** Finds a served zone by its apex. */
type FindZone = (apex: string) => { apex: string; supportsAlias: boolean } | undefined;

/** The closest zone here that contains a hostname; null if there is none. */
export function zoneFacts(hostname: string, find: FindZone): Pick<ProviderFacts, 'zone' | 'supportsAlias'> | null {
  for (let name = hostname; name !== ROOT; name = parentOf(name)) {
    const found = find(name);
    if (found !== undefined) return { zone: found.apex, supportsAlias: found.supportsAlias };
  }
  return null;
}

/** The record types that decide where a hostname leads. */
const TYPES = ['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME'] as const;

/** The records stored for a hostname in the zones here, visible or not; null if no zone contains it. */
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
  const pending = moments.filter((moment) => moment !== null);
  return {
    ...zone,
    records: versions.flatMap(({ type, value, visibleUntilMs }) => (visibleUntilMs === null ? [{ type, value }] : [])),
    visibleAtMs: pending.length === 0 ? null : Math.max(...pending),
  };
}

/** The switch, the roll and the breaks of a zone's DNSSEC. */
export function createZoneSigning(options: {
  clock: Pick<Clock, 'now'>;
  zones: ZoneRows;
  changed: (name: DomainName) => void;
}): Services['zones']['dnssec'] {
  const { clock, zones } = options;

  return ({ name: text, signed, roll, break: asked }) => {
    const { name, signing } = existingZone(zones, text);
    const nowMs = clock.now();
    let next = signing;
    if (signed !== undefined) next = next === null ? (signed ? firstSigning() : null) : { ...next, on: signed };
    if (roll) next = rolled(requireSigned(next, name, 'roll'), nowMs, name);
    if (asked !== undefined) {
      const present = requireSigned(next, name, 'break');
      const broken = asked === 'none' ? null : asked;
      const stranger = broken === 'wrong-key' ? (present.stranger ?? createSigningKey()) : present.stranger;
      next = { ...present, broken, stranger };
    }
    if (next !== null && next !== signing) {
      zones.setSigning(name, next);
      options.changed(name);
    }
    return presentSigning(name, next, nowMs);
  };
}

const firstSigning = (): ZoneSigning => ({
  on: true,
  keys: [{ ...createSigningKey(), retiresAtMs: null }],
  broken: null,
  stranger: null,
});

function requireSigned(signing: ZoneSigning | null, name: DomainName, input: string): ZoneSigning {
  if (signing?.on === true) return signing;
  const message = `"${name}" is not signed; sign it first: signed true.`;
  throw inputError(input, message, 'conflict');
}

/** A new key signs beside the current one, which retires by the app's clock. */
function rolled(signing: ZoneSigning, nowMs: EpochMs, name: DomainName): ZoneSigning {
  const present = keysAt(signing, nowMs);
  const ends = present.find(({ retiresAtMs }) => retiresAtMs !== null)?.retiresAtMs;
  if (ends !== null && ends !== undefined) {
    const message = `The keys of "${name}" are being rolled until ${isoOf(ends)}; move the clock there, or wait.`;
    throw inputError('roll', message, 'conflict');
  }
  const retiring = present.map((key) => ({ ...key, retiresAtMs: nowMs + ROLL_MS }));
  return { ...signing, keys: [...retiring, { ...createSigningKey(), retiresAtMs: null }] };
}

const isoOf = (atMs: EpochMs): string => new Date(atMs).toISOString();

function presentSigning(name: DomainName, signing: ZoneSigning | null, nowMs: EpochMs): ZoneDnssec {
  if (signing?.on !== true) return { name, signed: false };
  const keys = keysAt(signing, nowMs).map((stored) => {
    const key = readSigningKey(stored);
    return {
      tag: key.tag,
      ds: dsText(name, key),
      dnskey: dnskeyText(key.dnskey),
      ...(stored.retiresAtMs !== null && { retiresAt: isoOf(stored.retiresAtMs) }),
    };
  });
  const { fromMs, untilMs } = validityAt(signing, nowMs);
  return {
    name,
    signed: true,
    algorithm: ALGORITHM_NAME,
    keys,
    signatures: { from: isoOf(fromMs), until: isoOf(untilMs) },
    ...(signing.broken !== null && { break: signing.broken }),
    anchors: {
      unbound: keys.map(({ ds }) => `${name}. IN DS ${ds}\n`).join(''),
      delv: `trust-anchors {\n${keys.map(delvLine(name)).join('')}};\n`,
    },
  };
}

const delvLine =
  (name: DomainName) =>
  ({ dnskey }: { dnskey: string }): string => {
    const [flags, protocol, algorithm, key] = dnskey.split(' ');
    return `  "${name}." static-key ${flags} ${protocol} ${algorithm} "${key}";\n`;
  };
