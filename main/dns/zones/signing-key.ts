import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { DomainName } from '../../model/dns-name.ts';
import { privateKeyOf, type StoredKey } from '../../model/zone-signing.ts';
import { octetsOf } from '../wire/canonical.ts';

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
  const {
    d = '',
    x = '',
    y = '',
  } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    format: 'jwk',
  });
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
