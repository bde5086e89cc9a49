import { isIPv6 } from 'node:net';

/** The one spelling of an address: lower case, zeros shortened (RFC 5952; IPv4-mapped ones stay hexadecimal). */
export function canonicalAddress(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

/** The four octets of an IPv4 address. */
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
