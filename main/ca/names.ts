import { isIP } from 'node:net';
import { normalizeHostname } from '../base/text/hostname.ts';
import { addressBytes, canonicalAddress } from '../model/address.ts';
import { isWildcard } from '../contract/hostnames.ts';
import { VivariumError } from '../contract/errors.ts';
import { taggedOctets, type Node } from './der.ts';

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
  throw new VivariumError(
    'invalid_request',
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
