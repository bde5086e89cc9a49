import type { Session } from 'electron';
import { X509Certificate } from 'node:crypto';
import type { PreviewRequest } from '../base/preview.ts';
import { isPageUrl, PAGE_ORIGIN } from './page.ts';

/** What the page may do beyond showing itself: put text on the clipboard when somebody presses a copy button. */
const PERMITTED: ReadonlySet<string> = new Set(['clipboard-sanitized-write']);

export const isPermitted = (permission: string, asking: { url: string | undefined; isMainFrame: boolean }): boolean =>
  PERMITTED.has(permission) && asking.isMainFrame && isPageUrl(asking.url ?? '');

/** Denies every permission but the one above, when it is asked for and when it is looked up, and every device. */
export function denyPermissions(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, callback, { requestingUrl, isMainFrame }) =>
    callback(isPermitted(permission, { url: requestingUrl, isMainFrame })),
  );
  session.setPermissionCheckHandler((_contents, permission, requestingOrigin, { isMainFrame }) =>
    isPermitted(permission, { url: requestingOrigin, isMainFrame }),
  );
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, callback) => callback(null));
}

/** Where a page could fetch from that is not this process. */
const FOREIGN_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:', 'ftp:', 'file:']);

/** Whether the window may load `text` at all, whatever asks for it. */
export const isLoadable = (text: string): boolean => !FOREIGN_SCHEMES.has(URL.parse(text)?.protocol ?? 'http:');

/** What the page makes itself and lets one save, such as an exported zone: never a file from elsewhere. */
export const isDownloadable = (text: string): boolean => text.startsWith(`blob:${PAGE_ORIGIN}/`);

/** The window reaches nothing over a network or from the disk, even where the page's own policy would let it. */
export function closeNetwork(session: Session): void {
  session.webRequest.onBeforeRequest(({ url }, callback) => callback({ cancel: !isLoadable(url) }));
  session.on('will-download', (event, item) => {
    if (!isDownloadable(item.getURL())) event.preventDefault();
  });
  // Chromium would fetch its dictionaries.
  session.setSpellCheckerEnabled(false);
}

/** As much as any address of ours; a longer one is an attack on some program's buffer. */
const URL_LENGTH_MAX = 2_048;

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * The address that may be handed to the system's browser, normalized, or null. `https:` anywhere; `http:` on this
 * machine and at Vivarium's own ports; never with a user name or password; no other scheme, because the system would
 * start whatever program is registered for it.
 */
export function externalAddress(text: string, ownPorts: readonly number[]): string | null {
  const url = text.length <= URL_LENGTH_MAX ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return null;
  if (url.protocol === 'https:') return url.href;
  if (url.protocol !== 'http:') return null;
  const { hostname, port } = url;
  const isLocal = LOOPBACK_HOSTS.has(hostname) || hostname.endsWith('.localhost');
  return isLocal || ownPorts.includes(Number(port === '' ? 80 : port)) ? url.href : null;
}

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
