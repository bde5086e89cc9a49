import { QUERY_OCTETS_MAX } from './message-guard.ts';

const LENGTH_OCTETS = 2;

/**
 * Splits a TCP stream into messages (RFC 1035 §4.2.2: two octets of length before each), in chunks of any size. Buffers
 * at most one message of `QUERY_OCTETS_MAX` octets; of a longer one it keeps that much, enough to refuse it by id, and
 * skips the rest.
 */
export class FrameReader {
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  readonly #length = Buffer.alloc(LENGTH_OCTETS);
  #lengthHave = 0;
  #body: Buffer | null = null;
  #bodyHave = 0;
  /** Octets of an over-long message still to skip. */
  #skip = 0;

  /** Adds the next chunk. The caller must have read all earlier messages. */
  push(chunk: Buffer): void {
    this.#chunk = this.#at < this.#chunk.length ? Buffer.concat([this.#chunk.subarray(this.#at), chunk]) : chunk;
    this.#at = 0;
  }

  /** The next complete message, or null. An over-long message has one octet more than `QUERY_OCTETS_MAX`. */
  next(): Buffer | null {
    if (this.#body === null && !this.#readLength()) return null;
    const body = this.#body;
    if (body === null) return null;
    if (this.#bodyHave < body.length) {
      this.#bodyHave += this.#take(body, this.#bodyHave);
      if (this.#bodyHave < body.length) return null;
    }
    const passed = Math.min(this.#skip, this.#chunk.length - this.#at);
    this.#at += passed;
    this.#skip -= passed;
    if (this.#skip > 0) return null;
    this.#body = null;
    this.#lengthHave = 0;
    return body;
  }

  #readLength(): boolean {
    this.#lengthHave += this.#take(this.#length, this.#lengthHave);
    if (this.#lengthHave < LENGTH_OCTETS) return false;
    const length = this.#length.readUInt16BE(0);
    const kept = Math.min(length, QUERY_OCTETS_MAX + 1);
    this.#body = Buffer.allocUnsafe(kept);
    this.#bodyHave = 0;
    this.#skip = length - kept;
    return true;
  }

  #take(into: Buffer, have: number): number {
    const taken = this.#chunk.copy(into, have, this.#at);
    this.#at += taken;
    return taken;
  }
}
