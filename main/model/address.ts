import { isIPv4, isIPv6 } from 'node:net';

/**
 * Normalises an IP address for comparison: lower case, shortened zeros, no zone (RFC 5952; IPv4-mapped ones stay
 * hexadecimal). Returns anything but an IPv6 address unchanged.
 */
export function canonicalAddress(text: string): string {
  if (!isIPv6(text)) return text;
  const [bare = ''] = text.split('%', 1);
  return new URL(`http://[${bare}]`).hostname.slice(1, -1);
}

/** RFC 4291 §2.5.5.2: a dual-stack socket reports IPv4 clients as `::ffff:127.0.0.1`. */
const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** The longest text of an IPv6 address (RFC 4291 §2.2, with an IPv4 tail). */
const ADDRESS_LENGTH_MAX = 45;

/**
 * Normalises a client's address: IPv4-mapped addresses become IPv4, IPv6 zones (`%eth0`) are dropped. A closed socket
 * has no address, which yields `unknown`.
 */
export function clientAddress(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const [bare = ''] = address.split('%', 1);
  return (MAPPED_IPV4.exec(bare)?.[1] ?? bare.toLowerCase()).slice(0, ADDRESS_LENGTH_MAX);
}

/** The 4 or 16 octets of an IP address in text. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(ipv4Octets(address));
  return Buffer.from(ipv6Groups(canonicalAddress(address)).flatMap((group) => [group >> 8, group & 0xff]));
}

export function ipv4Octets(address: string): number[] {
  const octets = [0];
  for (let index = 0, part = 0; index < address.length; index++) {
    const code = address.charCodeAt(index);
    if (code === 0x2e) octets[++part] = 0;
    else octets[part] = (octets[part] ?? 0) * 10 + code - 0x30;
  }
  return octets;
}

/** The eight 16-bit groups of an IPv6 address without a zone; the last two may be written as IPv4 (RFC 4291 §2.2). */
export function ipv6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const groups = sideGroups(head);
  if (tail === undefined) return groups;
  const after = sideGroups(tail);
  while (groups.length + after.length < 8) groups.push(0);
  return groups.concat(after);
}

function sideGroups(text: string): number[] {
  if (text === '') return [];
  const groups: number[] = [];
  for (const group of text.split(':')) {
    if (!group.includes('.')) groups.push(parseInt(group, 16));
    else {
      const [a = 0, b = 0, c = 0, d = 0] = ipv4Octets(group);
      groups.push(a * 256 + b, c * 256 + d);
    }
  }
  return groups;
}
