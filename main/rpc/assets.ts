import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { invalidRequest, notFound, orElse, type VivariumError } from '../contract/errors.ts';
import { drainRefused } from './body.ts';
import { COMMON_HEADERS, READ, requireMethod, sendContent, sendFailure } from './responses.ts';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { codeOf } from '../base/error-code.ts';

const PAGE = 'index.html';
const HTML = 'text/html; charset=utf-8';

/** Names derived from the content may be cached for good (a year, by RFC 9111 convention). */
const CACHE_FOREVER = 'public, max-age=31536000, immutable';
const CACHE_REVALIDATE = 'no-cache';

/** Serves the built interface from `folder`; without one, a page that says how to build it. */
export function createAssets(folder: string | null) {
  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    requireMethod(request, response, READ, 'The interface is read with GET and HEAD only.');
    const asset = readAssetPath(path);
    if (asset.kind === 'refused') throw invalidRequest(asset.reason);
    if (asset.kind === 'unknown_type') throw noFile(path);
    const segments = asset.kind === 'view' ? [PAGE] : asset.segments;
    const content = folder === null ? null : await readAsset(folder, segments);
    const isPage = segments.length === 1 && segments[0] === PAGE;
    if (content === null) {
      if (!isPage) throw noFile(path);
      return sendContent(response, 503, UNBUILT_PAGE, { 'Content-Type': HTML, ...pageHeaders(request) });
    }
    send(request, response, content, {
      'Content-Type': asset.kind === 'view' ? HTML : asset.mediaType,
      'Cache-Control': isHashed(segments) ? CACHE_FOREVER : CACHE_REVALIDATE,
    });
  }

  return {
    /** Answers a request for a file or a view of the interface. Never rejects. */
    async handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
      try {
        await answer(request, response, path);
      } catch (error) {
        sendFailure(response, error);
      }
      request.resume();
    },
  };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  headers: { 'Content-Type': string; 'Cache-Control': string },
): void {
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  const isKnown = known.includes(etag) || known.includes('*');
  response.writeHead(isKnown ? 304 : 200, {
    ...COMMON_HEADERS,
    ...pageHeaders(request),
    ...headers,
    ETag: etag,
    ...(isKnown ? {} : { 'Content-Length': content.length }),
  });
  response.end(isKnown || request.method === 'HEAD' ? undefined : content);
}

/** The port is named besides 'self', which does not cover WebSockets in older browsers. */
const pageHeaders = (request: IncomingMessage) => pagePolicy(`'self' ws://${request.headers.host ?? ''}`);

const noFile = (path: string): VivariumError => notFound(`The interface has no file ${path.slice(0, 100)}.`);

const UNBUILT_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Vivarium: the interface is not built</title>
<h1>Vivarium is running, its interface is not built</h1>
<p>Run <code>npm run build</code> in Vivarium's folder, then reload this page.</p>
<p>The command line works without it: <code>npm run vivarium -- help</code>.</p>
</html>
`;

/** A public file, for programs that do not know Vivarium's token. */
export interface OpenFile {
  contentType: string;
  read(): Uint8Array;
}

export function sendOpenFile(
  file: OpenFile,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Pick<Clock, 'realTimer'>,
): void {
  try {
    requireMethod(request, response, READ);
    // The list of revoked certificates is in the database, which may have failed or be closed.
    sendContent(response, 200, file.read(), { 'Content-Type': file.contentType });
  } catch (error) {
    sendFailure(response, error);
    drainRefused(request, clock);
  }
}

/** File types of a built interface (IANA media types); anything else is not served. */
const MEDIA_TYPES: Record<string, string | undefined> = {
  html: HTML,
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  map: 'application/json; charset=utf-8',
  webmanifest: 'application/manifest+json; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  avif: 'image/avif',
  gif: 'image/gif',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  woff: 'font/woff',
  ttf: 'font/ttf',
  wasm: 'application/wasm',
};

/** The build's folder for files named after their content, such as `index-B4x_9kQz.js`: they never change. */
const HASHED_FOLDER = 'assets';

export type AssetPath =
  /** `segments` below the folder of assets; none leads out of it. */
  | { kind: 'file'; segments: string[]; mediaType: string }
  /** A view of the interface, shown by its one page. */
  | { kind: 'view' }
  | { kind: 'unknown_type' }
  | { kind: 'refused'; reason: string };

/**
 * Resolves the path of a request target. Decodes it once; any remaining escape is part of a name. Rejects hidden files,
 * parent folders, and anything that a file system could take for either.
 */
export function readAssetPath(path: string): AssetPath {
  const decoded = orElse(() => decodeURIComponent(path), null);
  if (decoded === null) return { kind: 'refused', reason: 'The path is not percent-encoded UTF-8.' };
  const segments = decoded.split('/').filter((segment) => segment !== '');
  for (const segment of segments) {
    if (segment.startsWith('.')) return { kind: 'refused', reason: 'No part of the path may begin with a dot.' };
    if (/[\\:\p{Cc}]/u.test(segment)) {
      return { kind: 'refused', reason: 'The path has a character that no file of the interface has.' };
    }
  }
  // Only views are nested deeper, and their last segment may be a hostname: `/dns/acme.test`.
  if (segments.length > 1 && segments[0] !== HASHED_FOLDER) return { kind: 'view' };
  const name = segments.at(-1) ?? '';
  const dot = name.lastIndexOf('.');
  if (dot < 0) return { kind: 'view' };
  const mediaType = MEDIA_TYPES[name.slice(dot + 1).toLowerCase()];
  return mediaType === undefined ? { kind: 'unknown_type' } : { kind: 'file', segments, mediaType };
}

export const isHashed = (segments: readonly string[]): boolean =>
  segments[0] === HASHED_FOLDER && /[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$/.test(segments.at(-1) ?? '');

/** Files are sent from memory; a built interface has none this large. */
const ASSET_BYTES_MAX = 16 * 1024 * 1024;

const ABSENT_CODES = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'ELOOP'];

/** A regular file inside `folder`, also after following links; null when there is none. */
export async function readAsset(folder: string, segments: readonly string[]): Promise<Buffer<ArrayBuffer> | null> {
  try {
    const root = await realpath(folder);
    const path = await realpath(join(root, ...segments));
    if (!path.startsWith(root + sep)) return null;
    // Uses paths, not descriptors: those also work in Electron's archives.
    const found = await stat(path);
    return found.isFile() && found.size <= ASSET_BYTES_MAX ? await readFile(path) : null;
  } catch (error) {
    if (ABSENT_CODES.includes(codeOf(error) ?? '')) return null;
    throw error;
  }
}

/**
 * CSP of the interface: it may run its own files and connect to `connect` (CSP sources such as `ws://127.0.0.1:4780`).
 * Allows style attributes because charts and popovers position themselves with them, and they run no code.
 */
function contentSecurityPolicy(connect: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src ${connect}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Headers of every file of the interface, besides the common ones. */
export const pagePolicy = (connect: string) => ({
  'Content-Security-Policy': contentSecurityPolicy(connect),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
});
