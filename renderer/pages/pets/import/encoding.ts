import { bytesOf, type Encoding, markedEncoding } from '../../../shared/display/text-pieces.ts';

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const satisfies Encoding[];

/** The part of a file that is read to detect its encoding. */
const SNIFFED_BYTES = 64 * 1024;
/** A larger share of zeros at every other byte means UTF-16 without a byte order mark. */
const ZEROS_MIN = 0.3;

/**
 * The encoding of a file by its beginning: by a byte order mark, by zeros, as UTF-8 if it is valid, else Windows-1252.
 * @throws UnreadableFileError when the file can't be read.
 */
export async function encodingOf(file: Blob): Promise<Encoding> {
  const head = new Uint8Array(await bytesOf(file, 0, Math.min(file.size, SNIFFED_BYTES)));
  const marked = markedEncoding(head);
  if (marked !== undefined) return marked;
  const zeros = [0, 0];
  head.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  });
  const share = zeros.map((count) => (2 * count) / Math.max(1, head.length));
  if ((share[1] ?? 0) > ZEROS_MIN) return 'utf-16le';
  if ((share[0] ?? 0) > ZEROS_MIN) return 'utf-16be';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: head.length < file.size });
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}
