import { canonicalAddress } from '../model/address.ts';
import { LABEL_OCTETS_MAX, labelFromOctets, NAME_OCTETS_MAX, type DomainName } from '../model/dns-name.ts';
import { HEADER_OCTETS } from './message-guard.ts';
import { TYPE_CODES, typeName, type RecordData, type UnknownData } from './record.ts';

const POINTER_BITS = 0xc0;

/** Maximum pointers in one name: one per label, more than any encoder emits. */
const POINTERS_MAX = 128;

/** Aborts the decoding of a malformed message. */
export class MessageFault extends Error {}

/**
 * Reads a message from its header's end on: numbers, names and record data. Throws MessageFault or RangeError where the
 * message is malformed. Reads each pointer target once.
 */
export class WireReader {
  protected readonly message: Buffer;
  protected offset = HEADER_OCTETS;
  readonly #pointedAt = new Map<number, { labels: readonly string[]; octets: number }>();

  constructor(message: Buffer) {
    this.message = message;
  }

  /** The data of a record, which ends at `end`. */
  protected data(type: number, end: number): RecordData | UnknownData {
    switch (type) {
      case TYPE_CODES.A:
        return { type: 'A', address: [...this.octets(4)].join('.') };
      case TYPE_CODES.AAAA: {
        const groups = [...this.octets(16).toString('hex').matchAll(/.{4}/g)].map(([group]) => group);
        return { type: 'AAAA', address: canonicalAddress(groups.join(':')) };
      }
      case TYPE_CODES.CNAME:
        return { type: 'CNAME', target: this.name() };
      case TYPE_CODES.NS:
        return { type: 'NS', target: this.name() };
      case TYPE_CODES.PTR:
        return { type: 'PTR', target: this.name() };
      case TYPE_CODES.MX:
        return { type: 'MX', preference: this.uint16(), exchange: this.name() };
      case TYPE_CODES.SRV: {
        const [priority, weight, port] = [this.uint16(), this.uint16(), this.uint16()];
        return { type: 'SRV', priority, weight, port, target: this.name() };
      }
      case TYPE_CODES.TXT: {
        const strings: string[] = [];
        while (this.offset < end) strings.push(this.string());
        return { type: 'TXT', strings };
      }
      case TYPE_CODES.HINFO:
        return { type: 'HINFO', cpu: this.string(), os: this.string() };
      case TYPE_CODES.CAA: {
        const flags = this.octets(1).readUInt8();
        const tag = this.string();
        if (tag === '' || this.offset > end) throw new MessageFault();
        return { type: 'CAA', flags, tag, value: this.octets(end - this.offset).toString('latin1') };
      }
      case TYPE_CODES.SOA: {
        const [primary, mailbox] = [this.name(), this.name()];
        const [serial, refreshSeconds, retrySeconds] = [this.uint32(), this.uint32(), this.uint32()];
        const [expireSeconds, minimumSeconds] = [this.uint32(), this.uint32()];
        const timers = { refreshSeconds, retrySeconds, expireSeconds, minimumSeconds };
        return { type: 'SOA', primary, mailbox, serial, ...timers };
      }
      default:
        return { type: typeName(type), octets: this.octets(end - this.offset).toString('hex') };
    }
  }

  /** A name, compressed or not (RFC 1035 §4.1.4). */
  protected name(): DomainName {
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

  protected string(): string {
    return this.octets(this.octets(1).readUInt8()).toString('latin1');
  }

  protected octets(count: number): Buffer {
    const end = this.offset + count;
    if (count < 0 || end > this.message.length) throw new MessageFault();
    const octets = this.message.subarray(this.offset, end);
    this.offset = end;
    return octets;
  }

  protected uint16(): number {
    return this.octets(2).readUInt16BE();
  }

  protected uint32(): number {
    return this.octets(4).readUInt32BE();
  }
}
