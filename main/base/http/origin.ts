import type { Scheme } from '../hostname.ts';

/** The default ports of URLs (RFC 9110 §4.2). */
export const DEFAULT_PORT: Record<Scheme, number> = { http: 80, https: 443 };

/** `scheme://hostname[:port]`, without the scheme's default port, as in `Host` headers. */
export function originOf(scheme: Scheme, hostname: string, port: number): string {
  return port === DEFAULT_PORT[scheme] ? `${scheme}://${hostname}` : `${scheme}://${hostname}:${port}`;
}
