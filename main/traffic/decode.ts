import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib';

/** Content codings that are taken off for reading (RFC 9110, section 8.4.1). */
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** What one body may become. A few kilobytes can be made to unpack to gigabytes. */
export const DECODED_BYTES_MAX = 1024 * 1024;

const ALIASES: Record<string, Coding> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'br', zstd: 'zstd' };

/** A body without its content coding. */
export interface Decoded {
  coding: Coding;
  bytes: Buffer;
}

/**
 * Takes the one content coding off a body, of which the end may be missing. Null for several codings, for what is none, and for what
 * would be larger than `bytesMax`.
 */
export function decode(bytes: Buffer, contentEncoding: string | undefined, bytesMax: number): Decoded | null {
  const coding = ALIASES[(contentEncoding ?? '').trim().toLowerCase()];
  if (coding === undefined || bytesMax <= 0) return null;
  try {
    return { coding, bytes: DECODERS[coding](bytes, bytesMax) };
  } catch {
    return null;
  }
}

const DECODERS: Record<Coding, (bytes: Buffer, maxOutputLength: number) => Buffer> = {
  gzip: (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH }),
  // "deflate" is zlib's format, and some servers send it without.
  deflate(bytes, maxOutputLength) {
    const options = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH };
    const isZlib = ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0;
    return isZlib ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
  },
  br: (bytes, maxOutputLength) =>
    brotliDecompressSync(bytes, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength, finishFlush: constants.ZSTD_e_flush }),
};
