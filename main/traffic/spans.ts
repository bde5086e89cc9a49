import { release } from '../base/http/message.ts';
import { RECORDED_BODY_BYTES_MAX, type RecordedBody, type RecordedExchange } from '../model/exchange-record.ts';

/** Large enough for many entries, small enough to waste little in the last one. */
export const BLOCK_BYTES = 1024 * 1024;

/** Memory outside V8's heap for the bytes of entries, freed together with its last entry. */
export interface Block {
  readonly buffer: Buffer;
  used: number;
  /** The number of the newest entry with data in this block. */
  newest: number;
}

/**
 * A queue of blocks: appended at its end, freed at its beginning. The garbage collector would move the data of ten
 * thousand requests again and again; bytes in blocks are written once and overwritten in place.
 */
export function createBlocks(countMax: number) {
  let inUse: Block[] = [];
  const free: Buffer[] = [];

  return {
    /** A block with room for `bytes`, at most a block's size; null if the limit on blocks is reached. */
    open(bytes: number): Block | null {
      const last = inUse.at(-1);
      if (last !== undefined && last.used + bytes <= BLOCK_BYTES) return last;
      if (inUse.length >= countMax) return null;
      const block = { buffer: free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES), used: 0, newest: 0 };
      inUse.push(block);
      return block;
    },
    /** Frees the blocks whose entries are all older than entry `oldest`. */
    release(oldest: number): void {
      while (inUse[0] !== undefined && inUse[0].newest < oldest) {
        const { buffer } = inUse[0];
        inUse = inUse.slice(1);
        // One spare block suffices; more would waste memory after large bodies are gone.
        if (free.length === 0) free.push(buffer);
      }
    },
    /** Bytes in use, in whole blocks. */
    size: (): number => inUse.length * BLOCK_BYTES,
  };
}

export interface Span {
  readonly start: number;
  readonly length: number;
}

const NOTHING: Span = { start: 0, length: 0 };

/** Separates header fields in a block; no field can contain it (RFC 9110, section 5.5). */
const SEPARATOR = '\n';

/** Heads are Latin-1, as Node reads and writes them. The listeners limit their size; any excess is truncated. */
const HEAD_BYTES_MAX = BLOCK_BYTES / 4;

/** A UTF-16 unit takes up to three bytes of UTF-8. */
const UTF8_BYTES_MAX = 3;

/** Parses the header fields written by `SpanWriter`: name, value, name, value, … */
export const readFields = (bytes: Buffer): string[] =>
  bytes.length === 0 ? [] : bytes.toString('latin1').split(SEPARATOR);

/** Parses the header fields of a head as sent: name, value, name, value, … */
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

/** Clients repeat a handful of requests; comparing with more would not pay off. */
const RECENT_MAX = 8;

/** A small cache of recent values, searched linearly. */
export class Recent<Kept> {
  readonly #kept: Kept[] = [];
  /** The index of the value found or added last, which is the most likely match. */
  #latest = 0;
  #oldest = 0;

  find<Key>(key: Key, isSame: (kept: Kept, key: Key) => boolean): Kept | null {
    const kept = this.#kept;
    const likely = kept[this.#latest];
    if (likely === undefined) return null;
    if (isSame(likely, key)) return likely;
    for (let index = 0; index < kept.length; index++) {
      const other = kept[index] as Kept;
      if (!isSame(other, key)) continue;
      this.#latest = index;
      return other;
    }
    return null;
  }

  add(made: Kept): Kept {
    this.#latest = this.#oldest;
    this.#kept[this.#oldest] = made;
    this.#oldest = (this.#oldest + 1) % RECENT_MAX;
    return made;
  }

  forget(): void {
    this.#kept.length = 0;
    this.#latest = 0;
    this.#oldest = 0;
  }
}

interface WrittenFields extends Span {
  readonly fields: readonly string[];
}

interface WrittenText extends Span {
  readonly text: string;
  readonly encoding: RecordedBody['encoding'];
}

/** The parts of an exchange that are stored as bytes. */
type Kept = Pick<
  NonNullable<RecordedExchange['record']>,
  'requestFields' | 'responseHead' | 'requestBody' | 'responseBody'
>;

/** Where these parts were written, all in one block. */
export interface Written {
  block: Block;
  requestHead: Span;
  responseHead: Span;
  requestBody: Span;
  responseBody: Span;
}

/**
 * Writes the bytes of exchanges into blocks. Clients repeat the same head, and the API the same page, so data that is
 * already in the block is not written again. `open` returns a block with room for the given bytes.
 */
export class SpanWriter {
  readonly #open: (bytes: number) => Block;
  /** The block of all cached spans; spans of another block could be freed earlier. */
  #block: Block | null = null;
  readonly #heads = new Recent<WrittenFields>();
  readonly #bodies = new Recent<WrittenText>();

  constructor(open: (bytes: number) => Block) {
    this.#open = open;
  }

  write({ requestFields, responseHead, requestBody, responseBody }: Kept): Written {
    const head = requestFields.length === 0 ? NOTHING : this.#heads.find(requestFields, hasFields);
    const asked = requestBody.chunks.length === 0 ? NOTHING : this.#bodies.find(requestBody, hasText);
    const answered = responseBody.chunks.length === 0 ? NOTHING : this.#bodies.find(responseBody, hasText);
    const block = this.#open(
      Math.min(HEAD_BYTES_MAX, responseHead.length) +
        (head?.length ?? Math.min(HEAD_BYTES_MAX, lengthOfFields(requestFields))) +
        (asked?.length ?? Math.min(RECORDED_BODY_BYTES_MAX, lengthOfBody(requestBody))) +
        (answered?.length ?? Math.min(RECORDED_BODY_BYTES_MAX, lengthOfBody(responseBody))),
    );
    const isSame = block === this.#block;
    if (!isSame) this.forget();
    this.#block = block;
    return {
      block,
      requestHead: isSame && head !== null ? head : this.#writeFields(block, requestFields),
      responseHead: { start: block.used, length: writeText(block, responseHead, 'latin1', HEAD_BYTES_MAX) },
      requestBody: isSame && asked !== null ? asked : this.#writeBody(block, requestBody),
      responseBody: isSame && answered !== null ? answered : this.#writeBody(block, responseBody),
    };
  }

  /** Discards the cached spans, which are no longer valid. */
  forget(): void {
    this.#block = null;
    this.#heads.forget();
    this.#bodies.forget();
  }

  #writeFields(block: Block, fields: readonly string[]): Span {
    const start = block.used;
    const length = writeText(block, fields.join(SEPARATOR), 'latin1', HEAD_BYTES_MAX);
    return this.#heads.add({ start, length, fields });
  }

  #writeBody(block: Block, body: RecordedBody): Span {
    const start = block.used;
    const length = writeChunks(block, body);
    const [text] = body.chunks;
    return body.chunks.length === 1 && typeof text === 'string' && text.length <= RECORDED_BODY_BYTES_MAX
      ? this.#bodies.add({ start, length, text, encoding: body.encoding })
      : { start, length };
  }
}

function lengthOfFields(fields: readonly string[]): number {
  let length = 0;
  for (const text of fields) length += text.length + SEPARATOR.length;
  return length;
}

function lengthOfBody({ chunks, encoding }: RecordedBody): number {
  let length = 0;
  for (const chunk of chunks) {
    length += chunk.length * (typeof chunk === 'string' && encoding !== 'latin1' ? UTF8_BYTES_MAX : 1);
  }
  return length;
}

function hasFields({ fields }: WrittenFields, key: readonly string[]): boolean {
  if (fields.length !== key.length) return false;
  for (let index = 0; index < fields.length; index++) if (fields[index] !== key[index]) return false;
  return true;
}

const hasText = ({ text, encoding }: WrittenText, key: RecordedBody): boolean =>
  text === key.chunks[0] && key.chunks.length === 1 && encoding === key.encoding;

function writeText(block: Block, text: string, encoding: 'latin1' | 'utf8', bytesMax: number): number {
  const written = text === '' ? 0 : block.buffer.write(text, block.used, bytesMax, encoding);
  block.used += written;
  return written;
}

function writeChunks(block: Block, { chunks, encoding = 'utf8' }: RecordedBody): number {
  let length = 0;
  for (const chunk of chunks) {
    const room = RECORDED_BODY_BYTES_MAX - length;
    if (typeof chunk === 'string') length += writeText(block, chunk, encoding, room);
    else {
      const copied = chunk.copy(block.buffer, block.used, 0, room);
      block.used += copied;
      length += copied;
      release(chunk);
    }
  }
  return length;
}
