const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Kept uncounted; a row that is longer gets the number of a later line. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** Numbers the lines of UTF-8 text that arrives in pieces, as an editor does: `\n`, `\r\n` and `\r` end a line. */
export class TextLines {
  /** The bytes from `#start` on. */
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  /** The counted position, and its line. */
  #position = 0;
  #line = 1;

  /** Adds a piece, and forgets what was counted. */
  add(piece: Buffer): void {
    this.at(this.#start + this.#bytes.length - WAITING_BYTES_MAX);
    // One more byte: it may be the first half of a line break.
    const from = Math.max(0, this.#position - this.#start - 1);
    this.#bytes = Buffer.concat([this.#bytes.subarray(from), piece]);
    this.#start += from;
  }

  /** The line of a byte position; of a position before the last one, the line of that. */
  at(position: number): number {
    this.#count(position - this.#start, Infinity);
    return this.#line;
  }

  /** Whether a line break is right before a position that was just counted. */
  endsAt(position: number): boolean {
    const byte = this.#bytes[position - this.#start - 1];
    return byte === LINE_FEED || byte === CARRIAGE_RETURN;
  }

  /** How a line begins that is not before the counted position; counts up to it. */
  textOf(line: number, bytesMax: number): string {
    this.#count(this.#bytes.length, line);
    const from = this.#position - this.#start;
    const isSecond = this.#bytes[from] === LINE_FEED && this.#bytes[from - 1] === CARRIAGE_RETURN;
    const rest = this.#bytes.subarray(isSecond ? from + 1 : from, from + bytesMax).toString();
    return rest.split(/[\r\n]/, 1)[0] ?? '';
  }

  /** Counts up to an index, or to the beginning of a line. */
  #count(end: number, line: number): void {
    let index = this.#position - this.#start;
    for (; index < Math.min(end, this.#bytes.length) && this.#line < line; index++) {
      const byte = this.#bytes[index];
      const isSecond = byte === LINE_FEED && this.#bytes[index - 1] === CARRIAGE_RETURN;
      if (byte === CARRIAGE_RETURN || (byte === LINE_FEED && !isSecond)) this.#line++;
    }
    this.#position = this.#start + index;
  }
}
