/** Large enough for one call, small enough to block neither the page nor the engine for long. */
export const PIECE_BYTES = 256 * 1024;

/** A piece of a text, with the number of bytes read so far. */
export interface TextPiece {
  text: string;
  readTo: number;
}

/** A file that can't be read as text; the message names the fix. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

/** The encodings that a byte order mark identifies; UTF-8 without one. */
const MARKS: readonly { bytes: readonly number[]; encoding: string }[] = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
];

/**
 * Reads a file as text piece by piece, so its size does not affect memory use.
 * @throws UnreadableFileError when it is not text, or was changed or deleted meanwhile.
 */
export async function* textPieces(file: Blob, pieceBytes = PIECE_BYTES): AsyncGenerator<TextPiece, void, void> {
  const head = new Uint8Array(await bytesOf(file, 0, 2));
  const encoding = MARKS.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte))?.encoding ?? 'utf-8';
  const decoder = new TextDecoder(encoding, { fatal: true });
  for (let start = 0; start < file.size; start += pieceBytes) {
    const readTo = Math.min(file.size, start + pieceBytes);
    const bytes = await bytesOf(file, start, readTo);
    yield { text: decode(decoder, bytes, readTo < file.size, start), readTo };
  }
}

async function bytesOf(file: Blob, start: number, end: number): Promise<ArrayBuffer> {
  try {
    return await file.slice(start, end).arrayBuffer();
  } catch (cause) {
    throw new UnreadableFileError(
      'The file cannot be read: it was changed or removed after you chose it. Choose it again.',
      {
        cause,
      },
    );
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: ArrayBuffer, stream: boolean, from: number): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch (cause) {
    throw new UnreadableFileError(
      `The file is not ${decoder.encoding.toUpperCase()} text, somewhere after its byte ${from}. Save it as UTF-8 and import it again.`,
      { cause },
    );
  }
}
