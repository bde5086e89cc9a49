import { X509Certificate } from 'node:crypto';
import type { PreviewRequest } from '../base/preview.ts';

type Served = Pick<PreviewRequest, 'isMapped' | 'rootPem'>;

const hostnameOf = (text: string): string => text.toLowerCase().replace(/\.$/, '');

/** Whether a preview's page may be, or lead to, `text`: an address of a hostname that is served, without a user name. */
export function isPreviewable(text: string, { isMapped }: Pick<Served, 'isMapped'>): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && isMapped(hostnameOf(url.hostname));
}

const NETWORK_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:', 'data:', 'blob:']);

/** Whether a preview may fetch `text` at all: over the network, which ends at our proxy, or what its page has made; no files. */
export const isFetchable = (text: string): boolean => NETWORK_SCHEMES.has(URL.parse(text)?.protocol ?? '');

/**
 * Whether the certificate shown at `hostname` is one that our root has signed for it, and in force at the real moment. Nothing else is
 * accepted, whatever this machine trusts: a preview shows what is served here, or nothing.
 */
export function isOwnCertificate(
  { hostname, pem, nowMs }: { hostname: string; pem: string; nowMs: number },
  { isMapped, rootPem }: Served,
): boolean {
  if (!isMapped(hostnameOf(hostname))) return false;
  try {
    const leaf = new X509Certificate(pem);
    const root = new X509Certificate(rootPem());
    const inForce = leaf.validFromDate.getTime() <= nowMs && nowMs <= leaf.validToDate.getTime();
    const signed = leaf.checkIssued(root) && leaf.verify(root.publicKey);
    return inForce && signed && !leaf.ca && leaf.checkHost(hostname, { wildcards: false }) !== undefined;
  } catch {
    // Not a certificate that can be read.
    return false;
  }
}
