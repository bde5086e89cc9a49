import { domainToASCII } from 'node:url';
import { isIPv6 } from 'node:net';

/** The form in which DNS names are compared here: lower case, A-labels, no trailing dot (RFC 4343, RFC 5891 §3.2). */
export function dnsName(text: string): string {
  const bare = text.endsWith('.') ? text.slice(0, -1) : text;
  const lower = bare.toLowerCase();
  return /^[\0-\x7f]*$/.test(lower) ? lower : domainToASCII(lower) || lower;
}

/** The name without its leftmost label; null for a top-level domain. */
export function parentName(name: string): string | null {
  const dot = name.indexOf('.');
  return dot < 0 ? null : name.slice(dot + 1);
}

/** `name` as written in the zone: `www`, or `@` for the zone's apex. */
export function nameInZone(name: string, zone: string): string {
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -(zone.length + 1)) : `${name}.`;
}

/** The one spelling of an IP address, so that sets of them can be compared (RFC 5952 for IPv6). */
export function canonicalAddress(text: string): string {
  if (!isIPv6(text)) return text;
  // The URL parser writes an IPv6 address in hexadecimal groups with its longest run of zeros left out.
  return new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
}
