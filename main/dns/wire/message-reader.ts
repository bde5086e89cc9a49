import type { DomainName } from '../../model/dns-name.ts';
import { HEADER_OCTETS } from './message-guard.ts';
import { QUESTION_TYPES, TYPE_CODES, type RecordData } from './record.ts';
import { MessageFault, unlessMalformed, WireReader } from './wire-reader.ts';

/** A record of a response. Data of unknown types stays in octets (RFC 3597). */
export interface ResponseRecord {
  readonly name: DomainName;
  readonly ttlSeconds: number;
  readonly data: RecordData;
}

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
  /** The UDP payload size in the server's OPT record; absent without EDNS. */
  readonly ednsOctets?: number | undefined;
  /** The server's extended error (RFC 8914). */
  readonly detail?: string | undefined;
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

const OPTION_EXTENDED_ERROR = 15;

/** Types that verification and CAA depend on. A malformed record of these must not count as absent. */
const DECIDING: ReadonlySet<number> = new Set(
  (['A', 'AAAA', 'CNAME', 'DNAME', 'NS', 'SOA', 'MX', 'TXT', 'CAA'] as const).map((type) => TYPE_CODES[type]),
);

/**
 * Decodes a response (RFC 1035 §4.1); null when malformed or not a response. Replaces dns2, which follows pointer
 * chains for seconds and cannot distinguish a dot within a label from one between labels. Reads each pointer target
 * once.
 */
export function readResponse(message: Buffer): Response | null {
  if (message.length < HEADER_OCTETS || (message.readUInt16BE(2) & 0x8000) === 0) return null;
  return unlessMalformed(() => new ResponseReader(message).read());
}

class ResponseReader extends WireReader {
  #opt: { octets: number; extendedRcode: number; detail: string | undefined } | null = null;

  read(): Response {
    const message = this.message;
    const flags = message.readUInt16BE(2);
    const questions = message.readUInt16BE(4);
    if (questions > 1) throw new MessageFault();
    const question = questions === 0 ? null : { name: this.name(), type: this.uint16(), class: this.uint16() };
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
    const name = this.name();
    const type = this.uint16();
    const classOrOctets = this.uint16();
    const ttl = this.uint32();
    const end = this.uint16() + this.offset;
    if (end > this.message.length) throw new MessageFault();
    if (type === QUESTION_TYPES.OPT) {
      this.#opt = { octets: classOrOctets, extendedRcode: ttl >>> 24, detail: this.#detail(end) };
      this.offset = end;
      return null;
    }
    const data = this.#readable(type, end);
    // RFC 2181 §8: a TTL with its highest bit set counts as zero.
    return { name, ttlSeconds: ttl > 0x7fff_ffff ? 0 : ttl, data };
  }

  /** Malformed data of a type that no decision here depends on stays in octets, like that of an unknown type. */
  #readable(type: number, end: number): RecordData {
    const start = this.offset;
    const data = unlessMalformed(() => this.data(type, end));
    if (data !== null && this.offset === end) return data;
    if (DECIDING.has(type)) throw new MessageFault();
    this.offset = start;
    return { type: `TYPE${type}`, octets: this.until(end).toString('latin1') };
  }

  /** The first extended error of an OPT, in the notation of `dig`: its number and text. */
  #detail(end: number): string | undefined {
    while (this.offset + 4 <= end) {
      const code = this.uint16();
      const length = this.uint16();
      if (this.offset + length > end) return undefined;
      if (code === OPTION_EXTENDED_ERROR && length >= 2) {
        const number = this.uint16();
        const text = this.message.toString('utf8', this.offset, this.offset + length - 2).replace(/\p{Cc}/gu, ' ');
        return text === '' ? `EDE ${number}` : text;
      }
      this.offset += length;
    }
    return undefined;
  }
}
