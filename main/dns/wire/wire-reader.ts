import { LABEL_OCTETS_MAX, labelFromOctets, NAME_OCTETS_MAX, type DomainName } from '../../model/dns-name.ts';
import { HEADER_OCTETS } from './message-guard.ts';
import type { FieldReader } from './field.ts';
import { dataOf, fieldsOf } from './record-fields.ts';
import { recordTypeOf, type RecordData } from './record.ts';

const POINTER_BITS = 0xc0;

/** Maximum pointers in one name: one per label, more than any encoder emits. */
const POINTERS_MAX = 128;

/** Aborts the decoding of a malformed message. */
export class MessageFault extends Error {}

/** The result of a reader; null where the message is malformed. */
export function unlessMalformed<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof MessageFault || error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * Reads a message after its header: numbers, names and record data. Throws MessageFault or RangeError where the
 * message is malformed. Reads each pointer target once.
 */
export class WireReader implements FieldReader {
  protected readonly message: Buffer;
  protected offset = HEADER_OCTETS;
  readonly #pointedAt = new Map<number, { labels: readonly string[]; octets: number }>();

  constructor(message: Buffer) {
    this.message = message;
  }

  protected data(type: number, end: number): RecordData {
    const name = recordTypeOf(type);
    const fields = fieldsOf(name);
    if (fields === undefined) return { type: `TYPE${type}`, octets: this.until(end).toString('latin1') };
    return dataOf(
      name,
      fields.map(([field, { read }]) => [field, read(this, end)] as const),
    );
  }

  until(end: number): Buffer {
    return this.octets(end - this.offset);
  }

  isBefore(end: number): boolean {
    return this.offset < end;
  }

  malformed(): never {
    throw new MessageFault();
  }

  uint8(): number {
    return this.octets(1).readUInt8();
  }

  /** A name, compressed or not (RFC 1035 §4.1.4). */
  name(): DomainName {
    const name = this.#labels(this.offset, 0);
    this.offset = name.end;
    return name.labels.join('.');
  }

  /** The labels from `start`, including those behind a pointer; reads each pointer target once. */
  #labels(start: number, pointers: number): { labels: readonly string[]; octets: number; end: number } {
    const labels: string[] = [];
    let octets = 1;
    for (let offset = start; ;) {
      const length = this.message.readUInt8(offset);
      if ((length & POINTER_BITS) === POINTER_BITS) {
        const target = this.message.readUInt16BE(offset) & 0x3fff;
        if (target >= offset || target < HEADER_OCTETS || pointers >= POINTERS_MAX) throw new MessageFault();
        let rest = this.#pointedAt.get(target);
        if (rest === undefined) this.#pointedAt.set(target, (rest = this.#labels(target, pointers + 1)));
        octets += rest.octets - 1;
        if (octets > NAME_OCTETS_MAX) throw new MessageFault();
        return { labels: [...labels, ...rest.labels], octets, end: offset + 2 };
      }
      if (length > LABEL_OCTETS_MAX) throw new MessageFault();
      offset += 1 + length;
      if (length === 0) return { labels, octets, end: offset };
      octets += 1 + length;
      if (octets > NAME_OCTETS_MAX || offset > this.message.length) throw new MessageFault();
      labels.push(labelFromOctets(this.message.toString('latin1', offset - length, offset)));
    }
  }

  string(): string {
    return this.octets(this.octets(1).readUInt8()).toString('latin1');
  }

  octets(count: number): Buffer {
    const end = this.offset + count;
    if (count < 0 || end > this.message.length) throw new MessageFault();
    const octets = this.message.subarray(this.offset, end);
    this.offset = end;
    return octets;
  }

  uint16(): number {
    return this.octets(2).readUInt16BE();
  }

  uint32(): number {
    return this.octets(4).readUInt32BE();
  }
}

/** Record data of a type from its octets alone; null when malformed. */
export const readData = (type: number, octets: Buffer): RecordData | null =>
  unlessMalformed(() => new DataReader(Buffer.concat([Buffer.alloc(HEADER_OCTETS), octets])).read(type));

class DataReader extends WireReader {
  read(type: number): RecordData | null {
    const data = this.data(type, this.message.length);
    return this.offset === this.message.length ? data : null;
  }
}
