import { domainToASCII } from 'node:url';

/** RFC 1035 §2.3.4: labels have up to 63 octets, names 255 on the wire, which is 253 characters of text. */
export const LABEL_LENGTH_MAX = 63;
export const HOSTNAME_LENGTH_MAX = 253;

export type HostnameFault =
  | 'empty'
  | 'not_text'
  | 'too_long'
  | 'empty_label'
  | 'label_too_long'
  | 'bad_character'
  | 'hyphen_at_edge'
  | 'all_numeric';

export type HostnameResult = { ok: true; hostname: string } | { ok: false; fault: HostnameFault; label?: string };

/** Letters, digits and inner hyphens (RFC 1123 §2.1). */
const LABEL = /^[a-z0-9-]+$/;

/**
 * Normalises a hostname for comparison and storage: lower case, no trailing dot, internationalised labels as A-labels
 * (RFC 5890). Reports the first fault.
 */
export function normalizeHostname(text: string): HostnameResult {
  const bare = text.endsWith('.') ? text.slice(0, -1) : text;
  if (bare === '') return { ok: false, fault: 'empty' };
  let hostname = bare.toLowerCase();
  if (!isAscii(hostname)) {
    hostname = domainToASCII(hostname);
    if (hostname === '') return { ok: false, fault: 'not_text' };
  }
  const labels = hostname.split('.');
  for (const label of labels) {
    if (label === '') return { ok: false, fault: 'empty_label' };
    if (label.length > LABEL_LENGTH_MAX) return { ok: false, fault: 'label_too_long', label };
    if (!LABEL.test(label)) return { ok: false, fault: 'bad_character', label };
    if (label.startsWith('-') || label.endsWith('-')) return { ok: false, fault: 'hyphen_at_edge', label };
  }
  if (hostname.length > HOSTNAME_LENGTH_MAX) return { ok: false, fault: 'too_long' };
  // URL parsers read a name with a numeric last label as an IPv4 address (WHATWG URL, "ends in a number").
  if (/^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return { ok: false, fault: 'all_numeric' };
  return { ok: true, hostname };
}

export function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

/** Whether `hostname` equals `zone` or is below it; both in normal form. */
export const isWithin = (hostname: string, zone: string): boolean => hostname === zone || hostname.endsWith(`.${zone}`);

export type Scheme = 'http' | 'https';

/** Host and port as sent in `Host` or `:authority`. An IPv6 address keeps its brackets in `host`. */
export interface Authority {
  host: string;
  port: number | null;
}

const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[0-9a-z._-]{1,254})(?::([0-9]{0,5}))?$/i;

/**
 * Parses `uri-host [":" port]` (RFC 9110 §7.2) without user information or percent-encoding; null if malformed. The
 * host is returned in lower case and without a trailing dot.
 */
export function parseAuthority(text: string): Authority | null {
  const match = AUTHORITY.exec(text);
  if (match === null) return null;
  const sent = (match[1] as string).toLowerCase();
  // Before the dot is removed: `a..` would remain a name with one.
  if (sent.includes('..') || sent.startsWith('.')) return null;
  const host = sent.endsWith('.') ? sent.slice(0, -1) : sent;
  const port = match[2] === undefined || match[2] === '' ? null : Number(match[2]);
  return port !== null && port > 65535 ? null : { host, port };
}

/** The default ports of URLs (RFC 9110 §4.2). */
export const DEFAULT_PORT: Record<Scheme, number> = { http: 80, https: 443 };

/** `scheme://hostname[:port]`, without the scheme's default port, as in `Host` headers. */
export const originOf = (scheme: Scheme, hostname: string, port: number): string =>
  port === DEFAULT_PORT[scheme] ? `${scheme}://${hostname}` : `${scheme}://${hostname}:${port}`;
