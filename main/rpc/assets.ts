import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import { drainRefused } from './body.ts';
import { readAsset, isHashed, readAssetPath, pagePolicy } from './page-files.ts';
import { COMMON_HEADERS, sendFailure } from './responses.ts';

const PAGE = 'index.html';

/** Names derived from the content may be cached for good (a year, by RFC 9111 convention). */
const CACHE_FOREVER = 'public, max-age=31536000, immutable';
const CACHE_REVALIDATE = 'no-cache';

/** Serves the built interface from `folder`; without one, a page that says how to build it. */
export function createAssets(folder: string | null) {
  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw new VivariumError('method_not_allowed', 'The interface is read with GET and HEAD only.');
    }
    const asset = readAssetPath(path);
    if (asset.kind === 'refused') throw new VivariumError('invalid_request', asset.reason);
    if (asset.kind === 'unknown_type') throw notFound(path);
    const segments = asset.kind === 'view' ? [PAGE] : asset.segments;
    const content = folder === null ? null : await readAsset(folder, segments);
    const isPage = segments.length === 1 && segments[0] === PAGE;
    if (content === null) {
      if (isPage) return sendUnbuiltPage(request, response);
      throw notFound(path);
    }
    send(request, response, content, {
      'Content-Type': asset.kind === 'view' ? 'text/html; charset=utf-8' : asset.mediaType,
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
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    sendFailure(response, new VivariumError('method_not_allowed', 'This path accepts GET and HEAD only.'), {
      Allow: 'GET, HEAD',
    });
    drainRefused(request, clock);
    return;
  }
  let octets: Uint8Array;
  try {
    octets = file.read();
  } catch (error) {
    // The list of revoked certificates is in the database, which may have failed or be closed.
    sendFailure(response, error);
    return;
  }
  response.writeHead(200, {
    ...COMMON_HEADERS,
    'Cache-Control': 'no-store',
    'Content-Type': file.contentType,
    'Content-Length': octets.length,
  });
  response.end(request.method === 'HEAD' ? undefined : octets);
}
