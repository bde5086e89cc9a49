import { createHash } from 'node:crypto';
import { open, realpath } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, sep } from 'node:path';
import { VivariumError } from '../contract/errors.ts';
import { isHashed, readAssetPath } from './asset-path.ts';
import { COMMON_HEADERS, sendFailure } from './responses.ts';

/** Files are sent from memory; a built interface has none of this size. */
const ASSET_BYTES_MAX = 16 * 1024 * 1024;

const PAGE = 'index.html';

/** A name made from the content may be kept for good (a year, as RFC 9111 caches understand it). */
const CACHE_FOR_GOOD = 'public, max-age=31536000, immutable';
const CACHE_AND_ASK = 'no-cache';

/**
 * What the interface may do in a browser: run its own files, and talk to this port. Style attributes are let through,
 * because charts and popovers place themselves with them, and they run nothing.
 */
function contentSecurityPolicy(authority: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    // Named besides 'self', which in older browsers does not cover WebSockets.
    `connect-src 'self' ws://${authority}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export interface Assets {
  /** Answers a request for a file or a view of the interface. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
}

/** The built interface, from `folder`; null, or a folder without a page, is answered with how to build it. */
export function createAssets(folder: string | null): Assets {
  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new VivariumError('method_not_allowed', 'The interface is read with GET and HEAD only.');
    }
    const asset = readAssetPath(path);
    if (asset.kind === 'refused') throw new VivariumError('invalid_request', asset.reason);
    if (asset.kind === 'unknown_type') throw notFound(path);
    const segments = asset.kind === 'view' ? [PAGE] : asset.segments;
    const content = folder === null ? null : await readWithin(folder, segments);
    const isPage = segments.length === 1 && segments[0] === PAGE;
    if (content === null) {
      if (isPage) return sendUnbuiltPage(request, response);
      throw notFound(path);
    }
    send(request, response, content, {
      'Content-Type': asset.kind === 'view' ? 'text/html; charset=utf-8' : asset.mediaType,
      'Cache-Control': isHashed(segments) ? CACHE_FOR_GOOD : CACHE_AND_ASK,
    });
  }

  return {
    async handle(request, response, path) {
      try {
        await answer(request, response, path);
      } catch (error) {
        sendFailure(response, error);
      }
      request.resume();
    },
  };
}

/** A regular file inside `folder`, also after following links; null when there is none. */
async function readWithin(folder: string, segments: readonly string[]): Promise<Buffer | null> {
  try {
    const root = await realpath(folder);
    const path = await realpath(join(root, ...segments));
    if (!path.startsWith(root + sep)) return null;
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    if (size > ASSET_BYTES_MAX) return null;
    return await file.readFile();
  } catch (error) {
    if (ABSENT_CODES.includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

const ABSENT_CODES = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'ELOOP'];

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

const pageHeaders = (request: IncomingMessage): Record<string, string> => ({
  'Content-Security-Policy': contentSecurityPolicy(request.headers.host ?? ''),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
});

const notFound = (path: string): VivariumError =>
  new VivariumError('not_found', `The interface has no file ${path.slice(0, 100)}.`);

const UNBUILT_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Vivarium: the interface is not built</title>
<h1>Vivarium is running, its interface is not built</h1>
<p>Run <code>npm run build</code> in Vivarium's folder, then reload this page.</p>
<p>The command line works without it: <code>npm run vivarium -- help</code>.</p>
</html>
`;

function sendUnbuiltPage(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(503, {
    ...COMMON_HEADERS,
    ...pageHeaders(request),
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(UNBUILT_PAGE),
    'Cache-Control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : UNBUILT_PAGE);
}
