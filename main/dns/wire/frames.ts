const LENGTH_OCTETS = 2;

/**
 * Splits a TCP stream into messages (RFC 1035 §4.2.2: two octets of length before each), in chunks of any size. Buffers
 * at most one message, of up to 65,535 octets.
 */
export class FrameReader {
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  readonly #length = Buffer.alloc(LENGTH_OCTETS);
  #lengthHave = 0;
  #body: Buffer | null = null;
  #bodyHave = 0;

  /** Adds the next chunk. The caller must have read all earlier messages. */
  push(chunk: Buffer): void {
    this.#chunk = this.#at < this.#chunk.length ? Buffer.concat([this.#chunk.subarray(this.#at), chunk]) : chunk;
    this.#at = 0;
  }

  /** The next complete message, or null. */
  next(): Buffer | null {
    if (this.#body === null && !this.#readLength()) return null;
    const body = this.#body;
    if (body === null) return null;
    if (this.#bodyHave < body.length) {
      this.#bodyHave += this.#take(body, this.#bodyHave);
      if (this.#bodyHave < body.length) return null;
    }
    this.#body = null;
    this.#lengthHave = 0;
    return body;
  }

  #readLength(): boolean {
    this.#lengthHave += this.#take(this.#length, this.#lengthHave);
    if (this.#lengthHave < LENGTH_OCTETS) return false;
    this.#body = Buffer.allocUnsafe(this.#length.readUInt16BE(0));
    this.#bodyHave = 0;
    return true;
  }

  #take(into: Buffer, have: number): number {
    const taken = this.#chunk.copy(into, have, this.#at);
    this.#at += taken;
    return taken;
  }
}
