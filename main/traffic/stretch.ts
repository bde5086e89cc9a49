import { BLOCK_BYTES, type Block } from './blocks.ts';
import { BODY_BYTES_MAX, type RecordedBody, type RecordedExchange } from './entry.ts';
import { Recent } from './recent.ts';

/** Where something stands in a block, in bytes. */
export interface Stretch {
  readonly start: number;
  readonly length: number;
}

const NOTHING: Stretch = { start: 0, length: 0 };

/** What separates header fields in a block; no field has it (RFC 9110, section 5.5). */
const SEPARATOR = '\n';

/** Heads are Latin-1, as Node reads and writes them. They are bounded by the listeners; what would not fit is cut. */
const HEAD_BYTES_MAX = BLOCK_BYTES / 4;

/** A character of a JavaScript string takes three bytes of UTF-8 at most. */
const UTF8_BYTES_MAX = 3;

/** The room that what an exchange keeps may take, in bytes. */
export function roomFor(record: NonNullable<RecordedExchange['record']>): number {
  const { requestFields, responseHead, requestBody, responseBody } = record;
  let fields = 0;
  for (const text of requestFields) fields += text.length + 1;
  return (
    Math.min(HEAD_BYTES_MAX, fields) +
    Math.min(HEAD_BYTES_MAX, responseHead.length) +
    Math.min(BODY_BYTES_MAX, lengthOf(requestBody)) +
    Math.min(BODY_BYTES_MAX, lengthOf(responseBody))
  );
}

function lengthOf({ chunks, encoding }: RecordedBody): number {
  let length = 0;
  for (const chunk of chunks) {
    length += chunk.length * (typeof chunk === 'string' && encoding !== 'latin1' ? UTF8_BYTES_MAX : 1);
  }
  return length;
}

/** The header fields that `Stretches.writeFields` wrote: name, value, name, value, … */
export const readFields = (bytes: Buffer): string[] =>
  bytes.length === 0 ? [] : bytes.toString('latin1').split(SEPARATOR);

/** The header fields of a head as it was sent: name, value, name, value, … */
export const readHead = (bytes: Buffer): string[] =>
  bytes
    .toString('latin1')
    .split('\r\n')
    .slice(1)
    .filter((line) => line !== '')
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });

interface WrittenFields extends Stretch {
  readonly fields: readonly string[];
}

interface WrittenText extends Stretch {
  readonly text: string;
  readonly encoding: RecordedBody['encoding'];
}

/**
 * Writes what exchanges keep into blocks that have room for it. A client sends the same head again and again, and the API
 * answers with the same page: what stands in the block already is not written again.
 */
export class Stretches {
  /** The block that all recent ones are in: another is given back at another time. */
  #block: Block | null = null;
  readonly #heads = new Recent<WrittenFields>();
  readonly #bodies = new Recent<WrittenText>();

  writeFields(block: Block, fields: readonly string[]): Stretch {
    if (fields.length === 0) return NOTHING;
    this.#turnTo(block);
    const known = this.#heads.find(fields, hasFields);
    if (known !== null) return known;
    const start = block.used;
    const length = writeText(block, fields.join(SEPARATOR), 'latin1', HEAD_BYTES_MAX);
    return this.#heads.add({ start, length, fields });
  }

  writeHead(block: Block, head: string): Stretch {
    const start = block.used;
    return { start, length: writeText(block, head, 'latin1', HEAD_BYTES_MAX) };
  }

  writeBody(block: Block, body: RecordedBody): Stretch {
    const { chunks, encoding } = body;
    const [text] = chunks;
    if (text === undefined) return NOTHING;
    const start = block.used;
    if (chunks.length > 1 || typeof text !== 'string' || text.length > BODY_BYTES_MAX) {
      return { start, length: writeChunks(block, body) };
    }
    this.#turnTo(block);
    const known = this.#bodies.find(body, hasText);
    return known ?? this.#bodies.add({ start, length: writeChunks(block, body), text, encoding });
  }

  /** What was written stands there no longer. */
  forget(): void {
    this.#block = null;
    this.#heads.forget();
    this.#bodies.forget();
  }

  #turnTo(block: Block): void {
    if (this.#block === block) return;
    this.forget();
    this.#block = block;
  }
}

function hasFields({ fields }: WrittenFields, sought: readonly string[]): boolean {
  if (fields.length !== sought.length) return false;
  for (let place = 0; place < fields.length; place++) if (fields[place] !== sought[place]) return false;
  return true;
}

const hasText = ({ text, encoding }: WrittenText, sought: RecordedBody): boolean =>
  text === sought.chunks[0] && encoding === sought.encoding;

function writeText(block: Block, text: string, encoding: 'latin1' | 'utf8', bytesMax: number): number {
  const written = text === '' ? 0 : block.buffer.write(text, block.used, bytesMax, encoding);
  block.used += written;
  return written;
}

function writeChunks(block: Block, { chunks, encoding = 'utf8' }: RecordedBody): number {
  let length = 0;
  for (const chunk of chunks) {
    const room = BODY_BYTES_MAX - length;
    if (typeof chunk === 'string') length += writeText(block, chunk, encoding, room);
    else {
      const copied = chunk.copy(block.buffer, block.used, 0, room);
      block.used += copied;
      length += copied;
    }
  }
  return length;
}
