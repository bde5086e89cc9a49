import { isWithin, normalizeHostname } from '../base/text/hostname.ts';
import { children, content, decode, encode, isContext, sequence, tagged, taggedOctets, type Node } from './der.ts';
import { addressBytes, canonicalAddress } from '../model/address.ts';
import { isWildcard } from '../contract/hostnames.ts';
import { isIP } from 'node:net';
import { invalidRequest } from '../contract/errors.ts';

/**
 * A name in a leaf: a hostname in normal form, also a wildcard (RFC 9525 §6.3), or an IP address with its 4 or 16
 * octets.
 */
export type LeafName = { kind: 'dns'; text: string } | { kind: 'ip'; text: string; bytes: Buffer };

/** Tags of GeneralName (RFC 5280 §4.2.1.6). */
export const GENERAL_NAME = { email: 1, dns: 2, uri: 6, ip: 7 } as const;

/**
 * Parses an IP address (without brackets), a hostname or a wildcard into its normal form. @throws VivariumError
 * invalid_request for other texts.
 */
export function parseLeafName(text: string): LeafName {
  if (isIP(text) !== 0) {
    const bytes = addressBytes(text);
    return { kind: 'ip', text: formatAddress(bytes), bytes };
  }
  const star = isWildcard(text) ? '*.' : '';
  const result = normalizeHostname(text.slice(star.length));
  if (result.ok) return { kind: 'dns', text: star + result.hostname };
  throw invalidRequest(
    `A certificate cannot be made for "${text}": it is neither a hostname nor an IP address (${result.fault.replaceAll('_', ' ')}).`,
  );
}

export const generalName = (name: LeafName): Node =>
  name.kind === 'dns'
    ? taggedOctets(GENERAL_NAME.dns, Buffer.from(name.text, 'latin1'))
    : taggedOctets(GENERAL_NAME.ip, name.bytes);

/** The text of an IP address of 4 or 16 octets, IPv6 as in RFC 5952. */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const hex = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? [];
  return canonicalAddress(hex.join(':'));
}

/** The names that a root may sign for; e-mail addresses and URIs are always excluded. */
export interface NameConstraints {
  /** Each suffix permits itself and every name below it. */
  readonly suffixes: readonly string[];
  readonly addresses: readonly AddressRange[];
}

export interface AddressRange {
  readonly address: Buffer;
  readonly mask: Buffer;
}

/** This machine's own addresses (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
const LOOPBACK: readonly AddressRange[] = [
  { address: addressBytes('127.0.0.0'), mask: addressBytes('255.0.0.0') },
  { address: addressBytes('::1'), mask: Buffer.alloc(16, 0xff) },
];

/**
 * RFC 5280 §4.2.1.10 restricts only the name forms that a constraint mentions, so e-mail and URIs need one. OpenSSL
 * reads "excluded: the empty name" as an exact match, which excludes nothing. Permitting only one impossible host (RFC
 * 6761 §6.4) excludes all others in every verifier.
 */
const IMPOSSIBLE_HOST = 'none.invalid';

export const constrainTo = (suffixes: readonly string[]): NameConstraints => ({ suffixes, addresses: LOOPBACK });

/** No address: without a range, every address would be permitted, and no client connects to these two. */
export const constrainToNames = (suffixes: readonly string[]): NameConstraints => ({
  suffixes,
  addresses: ['0.0.0.0', '::'].map((text) => {
    const address = addressBytes(text);
    return { address, mask: Buffer.alloc(address.length, 0xff) };
  }),
});

/** The DER of the NameConstraints extension. */
export function encodeConstraints(constraints: NameConstraints): Buffer {
  const permitted = [
    ...constraints.suffixes.map((suffix) => subtree(GENERAL_NAME.dns, Buffer.from(suffix, 'latin1'))),
    ...constraints.addresses.map(({ address, mask }) => subtree(GENERAL_NAME.ip, Buffer.concat([address, mask]))),
    subtree(GENERAL_NAME.email, Buffer.from(IMPOSSIBLE_HOST, 'latin1')),
    subtree(GENERAL_NAME.uri, Buffer.from(IMPOSSIBLE_HOST, 'latin1')),
  ];
  return encode(sequence(tagged(0, ...permitted)));
}

const subtree = (tag: number, base: Buffer): Node => sequence(taggedOctets(tag, base));

/** Parses the extension of a certificate, which makes the file the only source of its root's constraints. */
export function decodeConstraints(der: Uint8Array): NameConstraints {
  const permitted = children(decode(der)).find((node) => isContext(node, 0));
  const bases = permitted === undefined ? [] : children(permitted).map((node) => children(node)[0]);
  return {
    suffixes: bases.filter((base) => isContext(base, GENERAL_NAME.dns)).map((base) => content(base).toString('latin1')),
    addresses: bases.filter((base) => isContext(base, GENERAL_NAME.ip)).map((base) => addressRange(content(base))),
  };
}

function addressRange(bytes: Buffer): AddressRange {
  const half = bytes.length / 2;
  return { address: bytes.subarray(0, half), mask: bytes.subarray(half) };
}

/** Whether a verifier that honours `constraints` accepts a leaf with `name`. */
export function permits(constraints: NameConstraints, name: LeafName): boolean {
  return name.kind === 'dns'
    ? constraints.suffixes.some((suffix) => isWithin(name.text, suffix))
    : constraints.addresses.some((range) => contains(range, name.bytes));
}

function contains({ address, mask }: AddressRange, bytes: Buffer): boolean {
  if (bytes.length !== address.length) return false;
  return bytes.every((byte, index) => ((byte ^ (address[index] ?? 0)) & (mask[index] ?? 0xff)) === 0);
}

/** The range in CIDR notation: `127.0.0.0/8`. */
export function formatRange({ address, mask }: AddressRange): string {
  let bits = 0;
  for (const byte of mask) bits += byte.toString(2).replaceAll('0', '').length;
  return `${formatAddress(address)}/${bits}`;
}
