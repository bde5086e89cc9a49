import { hash, createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { EpochMs } from '../../base/clock.ts';
import type { LruMap } from '../../base/lru.ts';
import type { DomainName } from '../../model/dns-name.ts';
import { type ZoneSigning, privateKeyOf, type StoredKey } from '../../model/dns-lookup.ts';
import { canonicalRRset, labelCount, octetsOf } from '../wire/canonical.ts';
import { codeOfType, DNSKEY, RRSIG, type RRset } from '../wire/record.ts';

/** ECDSA with P-256 and SHA-256 (RFC 6605), which every validator must know (RFC 8624). */
export const ALGORITHM = 13;
export const ALGORITHM_NAME = 'ECDSAP256SHA256';

/** A zone key that is also a secure entry point (RFC 4034 §2.1.1). */
const KEY_FLAGS = 257;
const KEY_PROTOCOL = 3;

/** SHA-256 (RFC 4509). */
const DIGEST_TYPE = 2;

/** A key that signs a zone. Strings hold octets. */
export interface SigningKey {
  tag: number;
  /** The data of its DNSKEY record. */
  dnskey: string;
  /** Signs octets; the signature is both numbers, concatenated (RFC 6605 §4). */
  sign(octets: string): string;
}

export function createSigningKey(): StoredKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { d = '', x = '', y = '' } = privateKey.export({ format: 'jwk' });
  return { d, x, y };
}

export function readSigningKey(stored: StoredKey): SigningKey {
  const publicKey = [stored.x, stored.y].map((number) => Buffer.from(number, 'base64url').toString('latin1')).join('');
  const dnskey = octetsOf((to) => {
    to.uint16(KEY_FLAGS);
    to.octet(KEY_PROTOCOL);
    to.octet(ALGORITHM);
    to.text(publicKey);
  });
  // Parsed on first use: that takes longer than a signature, and some zones are never queried.
  let key: KeyObject | null = null;
  return {
    tag: keyTag(dnskey),
    dnskey,
    sign(octets) {
      key ??= privateKeyOf(stored);
      const data = Buffer.from(octets, 'latin1');
      return sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' }).toString('latin1');
    },
  };
}

/** RFC 4034, appendix B. */
export function keyTag(dnskey: string): number {
  let sum = 0;
  for (let index = 0; index < dnskey.length; index++) {
    const octet = dnskey.charCodeAt(index);
    sum += index % 2 === 0 ? octet << 8 : octet;
  }
  return (sum + (sum >>> 16)) & 0xffff;
}

/** The value of a DNSKEY record in a zone file. */
export const dnskeyText = (dnskey: string): string => {
  const octets = Buffer.from(dnskey, 'latin1');
  return `${octets.readUInt16BE(0)} ${octets[2]} ${octets[3]} ${octets.toString('base64', 4)}`;
};

/** The value of the DS record for a key (RFC 4034 §5.1.4). */
export function dsText(apex: DomainName, { tag, dnskey }: Pick<SigningKey, 'tag' | 'dnskey'>): string {
  const octets = octetsOf((to) => {
    to.name(apex);
    to.text(dnskey);
  });
  const digest = createHash('sha256').update(octets, 'latin1').digest('hex').toUpperCase();
  return `${tag} ${ALGORITHM} ${DIGEST_TYPE} ${digest}`;
}

const DAY_MS = 86_400_000;

/** Signatures are renewed this often, and are valid for twice as long, so at least half the time is left. */
const PERIOD_MS = 7 * DAY_MS;

/** For validators whose clocks are slow. */
const EARLIER_MS = 3_600_000;

/** How long both keys sign during a roll: most records, and so their signatures, are cached for a day at most. */
export const ROLL_MS = 2 * DAY_MS;

/** The usual value; a roll depends on it. */
const DNSKEY_TTL_SECONDS = 3600;

/** Maximum signatures cached for all zones together: some 3 MB. */
export const SIGNATURES_KEPT_MAX = 10_000;

/** By the digest of the signed data; a signature takes as long as 20 unsigned answers. */
export type Signatures = LruMap<string>;

/** The keys that trust in a zone starts from, as the data of DNSKEY records. */
export interface TrustAnchor {
  apex: DomainName;
  dnskeys: readonly string[];
}

export interface Validity {
  fromMs: EpochMs;
  untilMs: EpochMs;
}

/** Signs one zone's RRsets during one period of the app's clock. */
export interface ZoneSigner {
  readonly dnskeys: RRset;
  /** The data of the DNSKEY records that clients trust: the published ones, except with the break `wrong-key`. */
  readonly trusted: readonly string[];
  /**
   * An RRset's signatures, one for each key; null if the zone omits them. `owner`: the wildcard that it was synthesised
   * from. `zoneTtlSeconds`: its TTL in the zone, if the answer's is lower.
   */
  sign(rrset: RRset, owner?: DomainName, zoneTtlSeconds?: number): RRset | null;
}

/** The keys published at a moment: the newest and, during a roll, the previous one. */
export const keysAt = ({ keys }: ZoneSigning, nowMs: EpochMs): ZoneSigning['keys'] =>
  keys.filter(({ retiresAtMs }) => retiresAtMs === null || retiresAtMs > nowMs);

export function validityAt({ broken }: ZoneSigning, nowMs: EpochMs): Validity {
  const startMs = nowMs - (((nowMs % PERIOD_MS) + PERIOD_MS) % PERIOD_MS) - (broken === 'expired' ? 4 * PERIOD_MS : 0);
  return { fromMs: startMs - EARLIER_MS, untilMs: startMs + 2 * PERIOD_MS };
}

/** When a zone's signatures or keys next change without an edit. */
export function nextSigningMs(signing: ZoneSigning, nowMs: EpochMs): EpochMs {
  const periodEndsMs = validityAt({ ...signing, broken: null }, nowMs).untilMs - PERIOD_MS;
  return Math.min(periodEndsMs, ...keysAt(signing, nowMs).map(({ retiresAtMs }) => retiresAtMs ?? Infinity));
}

export function zoneSigner(apex: DomainName, signing: ZoneSigning, nowMs: EpochMs, signatures: Signatures): ZoneSigner {
  const { broken, stranger } = signing;
  const own = keysAt(signing, nowMs).map(readSigningKey);
  const keys = broken === 'wrong-key' && stranger !== null ? [readSigningKey(stranger)] : own;
  const validity = validityAt(signing, nowMs);
  return {
    trusted: own.map(({ dnskey }) => dnskey),
    dnskeys: {
      name: apex,
      type: DNSKEY,
      ttlSeconds: DNSKEY_TTL_SECONDS,
      data: keys.map(({ dnskey }) => ({ type: DNSKEY, octets: dnskey })),
    },
    sign(rrset, owner = rrset.name, zoneTtlSeconds = rrset.ttlSeconds) {
      if (broken === 'missing') return null;
      const signed = canonicalRRset(rrset, owner, zoneTtlSeconds);
      const data = keys.map((key) => {
        const start = signatureStart(apex, key, validity, { type: rrset.type, owner, zoneTtlSeconds });
        const octets = start + signed;
        const signature = signatures.use(`${key.dnskey}${digestOf(octets)}`, () => key.sign(octets));
        return { type: RRSIG, octets: start + signature };
      });
      return { name: rrset.name, type: RRSIG, ttlSeconds: rrset.ttlSeconds, data };
    },
  };
}

const digestOf = (octets: string): string => hash('sha256', Buffer.from(octets, 'latin1'), 'base64');

/** The data of an RRSIG without the signature; it is part of the signed data (RFC 4034 §3.1). */
function signatureStart(
  apex: DomainName,
  { tag }: SigningKey,
  { fromMs, untilMs }: Validity,
  { type, owner, zoneTtlSeconds }: { type: RRset['type']; owner: DomainName; zoneTtlSeconds: number },
): string {
  return octetsOf((to) => {
    to.uint16(codeOfType(type));
    to.octet(ALGORITHM);
    to.octet(labelCount(owner));
    to.uint32(zoneTtlSeconds);
    to.uint32(Math.floor(untilMs / 1000));
    to.uint32(Math.floor(fromMs / 1000));
    to.uint16(tag);
    to.name(apex);
  });
}
