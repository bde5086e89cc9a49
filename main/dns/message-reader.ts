import { canonicalAddress } from '../model/address.ts';
import { HEADER_OCTETS } from './message-guard.ts';
import { LABEL_OCTETS_MAX, labelFromOctets, NAME_OCTETS_MAX, type DomainName } from '../model/dns-name.ts';
import { QUESTION_TYPES, TYPE_CODES, typeName, type RecordData } from './record.ts';

/** A record of a response. Data of unknown types stays in octets (RFC 3597). */
export interface ResponseRecord {
  readonly name: DomainName;
  readonly ttlSeconds: number;
  readonly data: RecordData | UnknownData;
}

export interface UnknownData {
  /** A mnemonic or `TYPE65`, also for types that zones here cannot hold. */
  readonly type: string;
  /** The data in hexadecimal. */
  readonly octets: string;
}

/** A decoded response. */
export interface Response {
  readonly id: number;
  readonly rcode: number;
  /** The set flags, in the notation of `dig`. */
  readonly flags: readonly string[];
  readonly truncated: boolean;
  /** Null when absent: some servers omit it with FORMERR. */
  readonly question: { name: DomainName; type: number; class: number } | null;
  readonly answer: readonly ResponseRecord[];
  readonly authority: readonly ResponseRecord[];
  readonly additional: readonly ResponseRecord[];
  /** Whether it has an OPT record, which shows that the server supports EDNS. */
  readonly edns: boolean;
  /** The UDP payload size in the server's OPT record. */
  readonly ednsOctets: number | undefined;
  /** The server's extended error (RFC 8914). */
  readonly detail: string | undefined;
  /** Size of the whole message. */
  readonly octets: number;
}

/** RFC 1035 §4.1.1, RFC 4035 §3.1.6 and §3.2.2. */
const FLAGS = [
  ['qr', 0x8000],
  ['aa', 0x0400],
  ['tc', 0x0200],
  ['rd', 0x0100],
  ['ra', 0x0080],
  ['ad', 0x0020],
  ['cd', 0x0010],
] as const;

const POINTER_BITS = 0xc0;
const OPTION_EXTENDED_ERROR = 15;

/** Maximum pointers in one name: one per label, more than any encoder emits. */
const POINTERS_MAX = 128;

/** Aborts the decoding of a malformed message. */
class MessageFault extends Error {}

/**
 * Decodes a response (RFC 1035 §4.1); null when malformed or not a response. Replaces dns2, which follows pointer
 * chains for seconds and cannot distinguish a dot within a label from one between labels. Reads each pointer target
 * once.
 */
export function readResponse(message: Buffer): Response | null {
  if (message.length < HEADER_OCTETS || (message.readUInt16BE(2) & 0x8000) === 0) return null;
  try {
    return new ResponseReader(message).read();
  } catch (error) {
    if (error instanceof MessageFault || error instanceof RangeError) return null;
    throw error;
  }
}

interface Opt {
  octets: number;
  extendedRcode: number;
  detail: string | undefined;
}

class ResponseReader {
  readonly #message: Buffer;
  #offset = HEADER_OCTETS;
  #opt: Opt | null = null;
  readonly #pointedAt = new Map<number, { labels: readonly string[]; octets: number }>();

  constructor(message: Buffer) {
    this.#message = message;
  }

  read(): Response {
    const message = this.#message;
    const flags = message.readUInt16BE(2);
    const questions = message.readUInt16BE(4);
    if (questions > 1) throw new MessageFault();
    const question = questions === 0 ? null : { name: this.#name(), type: this.#uint16(), class: this.#uint16() };
    const truncated = (flags & 0x0200) !== 0;
    // A truncated message is queried again over TCP, so partial records do not matter.
    const counts = truncated ? [0, 0, 0] : [6, 8, 10].map((offset) => message.readUInt16BE(offset));
    const [answer = [], authority = [], additional = []] = counts.map((count) => this.#section(count));
    return {
      id: message.readUInt16BE(0),
      rcode: (flags & 0xf) | ((this.#opt?.extendedRcode ?? 0) << 4),
      flags: FLAGS.filter(([, bit]) => (flags & bit) !== 0).map(([name]) => name),
      truncated,
      question,
      answer,
      authority,
      additional,
      edns: this.#opt !== null,
      ednsOctets: this.#opt?.octets,
      detail: this.#opt?.detail,
      octets: message.length,
    };
  }

  #section(count: number): ResponseRecord[] {
    const records: ResponseRecord[] = [];
    for (let index = 0; index < count; index++) {
      const record = this.#record();
      if (record !== null) records.push(record);
    }
    return records;
  }

  #record(): ResponseRecord | null {
    const name = this.#name();
    const type = this.#uint16();
    const classOrOctets = this.#uint16();
    const ttl = this.#uint32();
    const end = this.#uint16() + this.#offset;
    if (end > this.#message.length) throw new MessageFault();
    if (type === QUESTION_TYPES.OPT) {
      this.#opt = { octets: classOrOctets, extendedRcode: ttl >>> 24, detail: this.#detail(end) };
      this.#offset = end;
      return null;
    }
    const data = this.#data(type, end);
    if (this.#offset !== end) throw new MessageFault();
    // RFC 2181 §8: a TTL with its highest bit set counts as zero.
    return { name, ttlSeconds: ttl > 0x7fff_ffff ? 0 : ttl, data };
  }

  /** The first extended error of an OPT, in the notation of `dig`: its number and text. */
  #detail(end: number): string | undefined {
    while (this.#offset + 4 <= end) {
      const code = this.#uint16();
      const length = this.#uint16();
      if (this.#offset + length > end) return undefined;
      if (code === OPTION_EXTENDED_ERROR && length >= 2) {
        const number = this.#uint16();
        const text = this.#message.toString('utf8', this.#offset, this.#offset + length - 2).replace(/\p{Cc}/gu, ' ');
        return text === '' ? `EDE ${number}` : text;
      }
      this.#offset += length;
    }
    return undefined;
  }

  #data(type: number, end: number): RecordData | UnknownData {
    switch (type) {
      case TYPE_CODES.A:
        return { type: 'A', address: [...this.#octets(4)].join('.') };
      case TYPE_CODES.AAAA: {
        const groups = [...this.#octets(16).toString('hex').matchAll(/.{4}/g)].map(([group]) => group);
        return { type: 'AAAA', address: canonicalAddress(groups.join(':')) };
      }
      case TYPE_CODES.CNAME:
        return { type: 'CNAME', target: this.#name() };
      case TYPE_CODES.NS:
        return { type: 'NS', target: this.#name() };
      case TYPE_CODES.PTR:
        return { type: 'PTR', target: this.#name() };
      case TYPE_CODES.MX:
        return { type: 'MX', preference: this.#uint16(), exchange: this.#name() };
      case TYPE_CODES.SRV: {
        const [priority, weight, port] = [this.#uint16(), this.#uint16(), this.#uint16()];
        return { type: 'SRV', priority, weight, port, target: this.#name() };
      }
      case TYPE_CODES.TXT: {
        const strings: string[] = [];
        while (this.#offset < end) strings.push(this.#string());
        return { type: 'TXT', strings };
      }
      case TYPE_CODES.HINFO:
        return { type: 'HINFO', cpu: this.#string(), os: this.#string() };
      case TYPE_CODES.CAA: {
        const flags = this.#octets(1).readUInt8();
        const tag = this.#string();
        if (tag === '' || this.#offset > end) throw new MessageFault();
        return { type: 'CAA', flags, tag, value: this.#octets(end - this.#offset).toString('latin1') };
      }
      case TYPE_CODES.SOA: {
        const [primary, mailbox] = [this.#name(), this.#name()];
        const [serial, refreshSeconds, retrySeconds] = [this.#uint32(), this.#uint32(), this.#uint32()];
        const [expireSeconds, minimumSeconds] = [this.#uint32(), this.#uint32()];
        const timers = { refreshSeconds, retrySeconds, expireSeconds, minimumSeconds };
        return { type: 'SOA', primary, mailbox, serial, ...timers };
      }
      default:
        return { type: typeName(type), octets: this.#octets(end - this.#offset).toString('hex') };
    }
  }

  /** A name, compressed or not (RFC 1035 §4.1.4). */
  #name(): DomainName {
    const name = this.#labels(this.#offset, 0);
    this.#offset = name.end;
    return name.labels.join('.');
  }

  /** The labels from `start`, including those behind a pointer; reads each pointer target once. */
  #labels(start: number, pointers: number): { labels: readonly string[]; octets: number; end: number } {
    const labels: string[] = [];
    let octets = 1;
    for (let offset = start; ;) {
      const length = this.#message.readUInt8(offset);
      if ((length & POINTER_BITS) === POINTER_BITS) {
        const target = this.#message.readUInt16BE(offset) & 0x3fff;
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
      if (octets > NAME_OCTETS_MAX || offset > this.#message.length) throw new MessageFault();
      labels.push(labelFromOctets(this.#message.toString('latin1', offset - length, offset)));
    }
  }

  #string(): string {
    return this.#octets(this.#octets(1).readUInt8()).toString('latin1');
  }

  #octets(count: number): Buffer {
    const end = this.#offset + count;
    if (count < 0 || end > this.#message.length) throw new MessageFault();
    const octets = this.#message.subarray(this.#offset, end);
    this.#offset = end;
    return octets;
  }

  #uint16(): number {
    return this.#octets(2).readUInt16BE();
  }

  #uint32(): number {
    return this.#octets(4).readUInt32BE();
  }
}
