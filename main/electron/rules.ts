import type { Session, WebFrameMain } from 'electron';
import { X509Certificate } from 'node:crypto';
import { posix } from 'node:path';
import type { PreviewRequest } from '../base/system/desktop.ts';
import { readAssetPath, readAsset, pagePolicy } from '../rpc/assets.ts';
import { COMMON_HEADERS } from '../rpc/responses.ts';

/** The page's only permission: writing to the clipboard when the user presses a copy button. */
const PERMITTED: ReadonlySet<string> = new Set(['clipboard-sanitized-write']);

export const isPermitted = (permission: string, asking: { url: string | undefined; isMainFrame: boolean }): boolean =>
  PERMITTED.has(permission) && asking.isMainFrame && isPageUrl(asking.url ?? '');

/** Denies every other permission, both on request and on query, and every device. */
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

/** Schemes from which a page could fetch outside this process. */
const FOREIGN_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:', 'ftp:', 'file:']);

/** Whether the window may load `text` at all, whatever the initiator. */
export const isLoadable = (text: string): boolean => !FOREIGN_SCHEMES.has(URL.parse(text)?.protocol ?? 'http:');

/** Content that the page creates for saving, such as an exported zone; never a file from elsewhere. */
export const isDownloadable = (text: string): boolean => text.startsWith(`blob:${PAGE_ORIGIN}/`);

/** Cuts the window off from network and disk, even where the page's own policy would allow access. */
export function closeNetwork(session: Session): void {
  session.webRequest.onBeforeRequest(({ url }, callback) => callback({ cancel: !isLoadable(url) }));
  session.on('will-download', (event, item) => {
    if (!isDownloadable(item.getURL())) event.preventDefault();
  });
  // Chromium would download its dictionaries.
  session.setSpellCheckerEnabled(false);
}

/** Covers every address of Vivarium; longer ones could target buffer overflows in other programs. */
const URL_LENGTH_MAX = 2_048;

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * The normalized address that may go to the system's browser, or null. Allows `https:` anywhere and `http:` on loopback
 * and Vivarium's own ports, without user name or password. Other schemes would start arbitrary registered programs.
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

type Served = Pick<PreviewRequest, 'isMapped' | 'issuerPems'>;

const hostnameOf = (text: string): string => text.toLowerCase().replace(/\.$/, '');

/** Whether a preview's page may navigate to `text`: an address of a served hostname, without a user name. */
export function isPreviewable(text: string, { isMapped }: Pick<Served, 'isMapped'>): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && isMapped(hostnameOf(url.hostname));
}

const FETCHABLE_SCHEMES: ReadonlySet<string> = new Set([
  ...['http:', 'https:', 'ws:', 'wss:', 'data:', 'blob:'],
  // The developer tools' own files, which no page may load.
  'devtools:',
]);

/**
 * Whether a preview may fetch `text`: over the network, which ends at Vivarium's proxy, or content that its page has
 * created; no files.
 */
export const isFetchable = (text: string): boolean => FETCHABLE_SCHEMES.has(URL.parse(text)?.protocol ?? '');

/**
 * Whether Vivarium's root or intermediate signed the certificate for `hostname` and it is valid now, in real time.
 * Ignores the machine's trust stores: a preview shows served hostnames only.
 */
export function isOwnCertificate(
  { hostname, pem, nowMs }: { hostname: string; pem: string; nowMs: number },
  { isMapped, issuerPems }: Served,
): boolean {
  if (!isMapped(hostnameOf(hostname))) return false;
  try {
    const leaf = new X509Certificate(pem);
    const inForce = leaf.validFromDate.getTime() <= nowMs && nowMs <= leaf.validToDate.getTime();
    const signed = issuerPems()
      .map((issuerPem) => new X509Certificate(issuerPem))
      .some((issuer) => leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey));
    return inForce && signed && !leaf.ca && leaf.checkHost(hostname, { wildcards: false }) !== undefined;
  } catch {
    // Not a readable certificate.
    return false;
  }
}

/**
 * Chromium reads switches from the same command line but ignores everything after this separator. Vivarium's options
 * follow it, so Chromium does not act on `--log-level` or `--proxy-server`.
 */
const SEPARATOR = '--';

/** Before the separator: run a command without a window, as the launcher `vivarium` requests. */
const COMMAND_LINE_SWITCH = '--command-line';

/** Before the separator: do not open a window yet, as at login. */
export const HIDDEN_SWITCH = '--hidden';

export interface OwnArguments {
  mode: 'window' | 'hidden' | 'command-line';
  /** The address of the page requested by a link of the system, or null. */
  page: string | null;
  /** The words after the separator. */
  words: string[];
}

/** As `protocols` of `electron-builder.yml` and the Windows installer register it. */
const LINK = /^vivarium:\/\/([\w%~.:/-]{0,500})$/i;

/**
 * The address of the page of a link such as `vivarium://doctor`, or null. Any website can offer such a link, so it may
 * only open a view of the interface, not one of its files, and has neither a query nor a fragment.
 */
export function pageOfLink(text: string): string | null {
  const path = LINK.exec(text)?.[1];
  const url = path === undefined ? null : URL.parse(`${PAGE_URL}${path}`);
  return url !== null && isPageUrl(url.href) && readAssetPath(url.pathname).kind === 'view' ? url.href : null;
}

/** Opens the app on macOS as another process, whatever else runs: `…/Vivarium.app/Contents/MacOS/Vivarium` is its program. */
export const openingOf = (program: string, link: string | null): string[] => [
  ...['-n', '-a', posix.dirname(posix.dirname(posix.dirname(program)))],
  ...(link === null ? [] : ['--args', link]),
];

/**
 * Vivarium's part of `process.argv`: `vivarium-desktop [switches] [link] [-- words]`, or `-- link` as Windows passes it,
 * where a quote in the link could add words: they are dropped.
 */
export function readOwnArguments(argv: readonly string[]): OwnArguments {
  const at = argv.indexOf(SEPARATOR);
  const before = (at < 0 ? argv : argv.slice(0, at)).slice(1);
  const words = at < 0 ? [] : argv.slice(at + 1);
  const [link = ''] = words;
  const isLink = /^vivarium:/i.test(link);
  const visible = before.includes(HIDDEN_SWITCH) ? 'hidden' : 'window';
  return {
    mode: before.includes(COMMAND_LINE_SWITCH) ? 'command-line' : visible,
    page: isLink ? pageOfLink(link) : (before.map(pageOfLink).find((page) => page !== null) ?? null),
    words: isLink ? [] : words,
  };
}

/**
 * A desktop entry that starts `program` without a window, for an autostart folder. Quoted by the Desktop Entry
 * Specification 1.5, whose values escape backslashes once more.
 */
export function autostartEntry(program: string): string {
  const quoted = `"${program.replaceAll(/["`$\\]/g, '\\$&').replaceAll('%', '%%')}"`.replaceAll('\\', '\\\\');
  return `[Desktop Entry]\nType=Application\nName=Vivarium\nExec=${quoted} ${HIDDEN_SWITCH}\n`;
}

/** Scheme and host of the window's page; this process serves them from files. */
export const PAGE_SCHEME = 'app';
const PAGE_HOST = 'vivarium';
const PAGE_ORIGIN = `${PAGE_SCHEME}://${PAGE_HOST}`;
export const PAGE_URL = `${PAGE_ORIGIN}/`;

/** Whether `text` is an address of the window's own page. */
export function isPageUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.protocol === `${PAGE_SCHEME}:` && url.host === PAGE_HOST && url.username === '';
}

/** The only sender check: accepts the window's own page in its main frame. A destroyed frame (`null`) is refused. */
export const isOwnPage = (frame: Pick<WebFrameMain, 'origin' | 'parent' | 'url'> | null): boolean =>
  frame !== null && frame.parent === null && frame.origin === PAGE_ORIGIN && isPageUrl(frame.url);

const PAGE = 'index.html';

/** The page makes its calls through its message port; it loads its own files and connects to nothing else. */
const HEADERS = { ...COMMON_HEADERS, ...pagePolicy("'self'"), 'Cache-Control': 'no-cache' };

/**
 * Answers requests for `app://vivarium/…` from `folder`, by the rules of the control port: files and views of the
 * interface, no hidden files, nothing outside the folder. Never rejects.
 */
export function createPageFiles(folder: string): (request: Request) => Promise<Response> {
  async function answer(request: Request): Promise<Response> {
    if (!isPageUrl(request.url)) return refuse(404, 'There is no such page.');
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'The page’s files are read-only.');
    const asset = readAssetPath(new URL(request.url).pathname);
    if (asset.kind === 'refused') return refuse(400, asset.reason);
    if (asset.kind === 'unknown_type') return refuse(404, 'The page has no such file.');
    const content = await readAsset(folder, asset.kind === 'view' ? [PAGE] : asset.segments);
    if (content === null) return refuse(404, 'The page has no such file.');
    const type = asset.kind === 'view' ? 'text/html; charset=utf-8' : asset.mediaType;
    return new Response(request.method === 'HEAD' ? null : content, { headers: { ...HEADERS, 'Content-Type': type } });
  }

  return async (request) => {
    try {
      return await answer(request);
    } catch (error) {
      return refuse(500, `The page’s file cannot be read: ${String(error)}`);
    }
  };
}

const refuse = (status: number, reason: string): Response =>
  new Response(reason, { status, headers: { ...HEADERS, 'Content-Type': 'text/plain; charset=utf-8' } });
