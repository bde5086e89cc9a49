import type { Scheme } from '../hostname.ts';

/** The ports that URLs without a port mean (RFC 9110 §4.2). */
export const DEFAULT_PORT: Record<Scheme, number> = { http: 80, https: 443 };

/** `scheme://hostname[:port]`; the scheme's own port is left out, as clients and `Host` headers do. */
export function originOf(scheme: Scheme, hostname: string, port: number): string {
  return port === DEFAULT_PORT[scheme] ? `${scheme}://${hostname}` : `${scheme}://${hostname}:${port}`;
}
