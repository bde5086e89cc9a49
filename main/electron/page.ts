import type { WebFrameMain } from 'electron';
import { readAsset, readAssetPath, pagePolicy } from '../rpc/page-files.ts';
import { COMMON_HEADERS } from '../rpc/responses.ts';

/** Scheme and host of the window's page; this process serves them from files. */
export const PAGE_SCHEME = 'app';
const PAGE_HOST = 'vivarium';
export const PAGE_ORIGIN = `${PAGE_SCHEME}://${PAGE_HOST}`;
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
