import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { codeOf } from '../base/error-code.ts';

/** File types of a built interface (IANA media types); anything else is not served. */
const MEDIA_TYPES: Record<string, string | undefined> = {
  html: 'text/html; charset=utf-8',
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
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return { kind: 'refused', reason: 'The path is not percent-encoded UTF-8.' };
  }
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
