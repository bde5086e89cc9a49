import type { Clock, EpochMs } from '../../base/clock.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import type { ZoneDnssec } from '../../contract/zones.ts';
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
import type { DomainName } from '../../model/dns-name.ts';
import type { ZoneSigning } from '../../model/zone-signing.ts';
import type { ZoneRows } from '../dependencies.ts';
import { existingZone } from './zone-rules.ts';

/** The switch, the roll and the breaks of a zone's DNSSEC. */
export function createZoneSigning(options: {
  clock: Pick<Clock, 'now'>;
  zones: ZoneRows;
  /** Applies a change. */
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
  throw new VivariumError('conflict', `${input}: ${message}`, { issues: [{ path: input, message }] });
}

/** A new key signs beside the current one, which retires by the app's clock. */
function rolled(signing: ZoneSigning, nowMs: EpochMs, name: DomainName): ZoneSigning {
  const present = keysAt(signing, nowMs);
  const ends = present.find(({ retiresAtMs }) => retiresAtMs !== null)?.retiresAtMs;
  if (ends !== null && ends !== undefined) {
    const message = `The keys of "${name}" are being rolled until ${isoOf(ends)}; move the clock there, or wait.`;
    throw new VivariumError('conflict', `roll: ${message}`, { issues: [{ path: 'roll', message }] });
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
