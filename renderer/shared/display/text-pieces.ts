/** Large enough for one call, small enough to block neither the page nor the engine for long. */
export const PIECE_BYTES = 256 * 1024;

/** A piece of a text, with the number of bytes read so far. */
export interface TextPiece {
  text: string;
  readTo: number;
}

/** A file that can't be read as text, or as what it should be; the message names the fix. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** The encodings that a byte order mark identifies. */
const MARKS: readonly { bytes: readonly number[]; encoding: Encoding }[] = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: 'utf-8' },
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
];

export const markedEncoding = (head: Uint8Array): Encoding | undefined =>
  MARKS.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte))?.encoding;

/**
 * Reads a file as text piece by piece, so its size does not affect memory use; without an `encoding`, in the one that
 * its byte order mark names, else in UTF-8.
 * @throws UnreadableFileError when it is not text, or was changed or deleted meanwhile.
 */
export async function* textPieces(
  file: Blob,
  pieceBytes = PIECE_BYTES,
  encoding?: Encoding,
): AsyncGenerator<TextPiece, void, void> {
  const marked = encoding ?? markedEncoding(new Uint8Array(await bytesOf(file, 0, 3)));
  const decoder = new TextDecoder(marked ?? 'utf-8', { fatal: true });
  for (let start = 0; start < file.size; start += pieceBytes) {
    const readTo = Math.min(file.size, start + pieceBytes);
    const bytes = await bytesOf(file, start, readTo);
    yield { text: decode(decoder, bytes, readTo < file.size, start), readTo };
  }
}

export async function bytesOf(file: Blob, start: number, end: number): Promise<ArrayBuffer> {
  try {
    return await file.slice(start, end).arrayBuffer();
  } catch (cause) {
    throw new UnreadableFileError(
      'The file cannot be read: it was changed or removed after you chose it. Choose it again.',
      { cause },
    );
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: ArrayBuffer, stream: boolean, from: number): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch (cause) {
    throw new UnreadableFileError(
      `The file is not ${decoder.encoding.toUpperCase()} text, somewhere after its byte ${from}. Choose its encoding, or save it as UTF-8 and choose it again.`,
      { cause },
    );
  }
}
