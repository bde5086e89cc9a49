import { HEADER_OCTETS, OPT_OCTETS } from './message-guard.ts';
import { labelOctets, parentOf, ROOT, type DomainName } from '../../model/dns-name.ts';
import type { FieldWriter } from './field.ts';
import { fieldsOf, valueIn } from './record-fields.ts';
import { CLASS_IN, codeOfType, QUESTION_TYPES, type RecordData, type RRset } from './record.ts';

/** RFC 1035 §4.2.2: TCP's length field has two octets. */
export const MESSAGE_OCTETS_MAX = 0xffff;

/** RFC 1035 §4.1.4: a pointer has 14 bits. */
const POINTER_OFFSETS = 0x4000;

/** The size of an extended error without its text. */
const DETAIL_OCTETS = 6;
const OPTION_EXTENDED_ERROR = 15;

const UPPER_A = 0x41;
const UPPER_Z = 0x5a;

export interface MessageStart {
  /** The query; the reply copies its id and question octet by octet. */
  query: Buffer;
  questionEnd: number;
  /** The question's name, as returned by `readWireName`. */
  name: DomainName;
  /** The second 16 bits of the header. */
  flags: number;
  /** Maximum size of the message in octets. */
  limit: number;
  /** Octets reserved within the limit, for `opt`. */
  reserved: number;
}

/** The sections with records, in wire order. */
export type Section = 'answer' | 'authority' | 'additional';

/**
 * Encodes DNS messages, one at a time, into a reused buffer. dns2 encodes bit by bit into an array and copies it for
 * every record: 19 µs for two records, seconds for the largest message, while the event loop is blocked. This encoder
 * takes 2 µs and 1 ms.
 *
 * Writes past the limit or the buffer are harmless and detected after each record.
 */
export class MessageWriter implements FieldWriter {
  readonly #memory = Buffer.alloc(MESSAGE_OCTETS_MAX + 1);
  /** Offsets of written names, for compression (RFC 1035 §4.1.4). */
  readonly #names = new Map<DomainName, number>();
  /** The question's name, when the query has it in mixed case. */
  #asked: DomainName | null = null;
  #offset = 0;
  #limit = 0;
  #recordLimit = 0;
  readonly #counts: Record<Section, number> = { answer: 0, authority: 0, additional: 0 };

  begin({ query, questionEnd, name, flags, limit, reserved }: MessageStart): void {
    this.#limit = limit;
    this.#recordLimit = limit - reserved;
    this.#counts.answer = this.#counts.authority = this.#counts.additional = 0;
    let mixedCase = false;
    const memory = this.#memory;
    // A loop is faster than `copy` for so few octets.
    for (let offset = 0; offset < questionEnd; offset++) {
      const octet = query[offset] ?? 0;
      memory[offset] = octet;
      // Length octets are below the letters, so lower-casing leaves them alone; type and class follow in four octets.
      if (octet >= UPPER_A && octet <= UPPER_Z && offset >= HEADER_OCTETS && offset < questionEnd - 4) mixedCase = true;
    }
    this.#offset = 2;
    this.uint16(flags);
    this.uint16(questionEnd > HEADER_OCTETS ? 1 : 0);
    this.#offset = questionEnd;
    this.#rememberQuestion(name, mixedCase);
  }

  /**
   * Lets later names point at the question. A mixed-case question is a target for its whole name only (owners repeat
   * the query's case), because its suffixes would leak that case into record data.
   */
  #rememberQuestion(name: DomainName, mixedCase: boolean): void {
    this.#names.clear();
    this.#asked = mixedCase ? name : null;
    if (mixedCase) return;
    let offset = HEADER_OCTETS;
    for (let at = name; at !== ROOT; at = parentOf(at)) {
      this.#names.set(at, offset);
      offset += 1 + (this.#memory[offset] ?? 0);
    }
  }

  /**
   * Writes RRsets into a section, in wire order. False when they do not fit; the caller must begin the message again.
   */
  section(section: Section, rrsets: readonly RRset[]): boolean {
    for (const rrset of rrsets) {
      const code = codeOfType(rrset.type);
      for (const data of rrset.data) if (!this.#record(rrset, code, data)) return false;
      this.#counts[section] += rrset.data.length;
    }
    return true;
  }

  #record(rrset: RRset, code: number, data: RecordData): boolean {
    if (rrset.name === this.#asked) this.uint16(0xc000 | HEADER_OCTETS);
    else this.name(rrset.name, true);
    this.uint16(code);
    this.uint16(CLASS_IN);
    this.uint32(rrset.ttlSeconds);
    const lengthAt = this.#offset;
    this.#offset += 2;
    this.#data(data);
    const end = this.#offset;
    if (end > this.#recordLimit) return false;
    this.#offset = lengthAt;
    this.uint16(end - lengthAt - 2);
    this.#offset = end;
    return true;
  }

  /** OPT (RFC 6891 §6.1.2), with the cookie, and with the extended error (RFC 8914 §2) if there is one and it fits. */
  opt({ udpOctetsMax, extendedRcode, dnssecOk, cookie, detail }: OptFields): void {
    const text = detail?.text ?? '';
    const cookieOctets = cookie?.length ?? 0;
    const fits = this.#offset + OPT_OCTETS + cookieOctets + DETAIL_OCTETS + text.length <= this.#limit;
    this.octet(0);
    this.uint16(QUESTION_TYPES.OPT);
    this.uint16(udpOctetsMax);
    this.octet(extendedRcode);
    this.octet(0);
    this.uint16(dnssecOk ? 0x8000 : 0);
    this.uint16(cookieOctets + (detail !== undefined && fits ? DETAIL_OCTETS + text.length : 0));
    this.#counts.additional++;
    for (const octet of cookie ?? []) this.octet(octet);
    if (detail === undefined || !fits) return;
    this.uint16(OPTION_EXTENDED_ERROR);
    this.uint16(2 + text.length);
    this.uint16(detail.code);
    this.text(text);
  }

  /** The message in its own buffer. */
  finish(): Buffer {
    const end = this.#offset;
    this.#offset = 6;
    this.uint16(this.#counts.answer);
    this.uint16(this.#counts.authority);
    this.uint16(this.#counts.additional);
    const message = Buffer.allocUnsafe(end);
    this.#memory.copy(message, 0, 0, end);
    return message;
  }

  #data(data: RecordData): void {
    if ('octets' in data) return this.text(data.octets);
    const fields = fieldsOf(data.type);
    // Answers never contain an ALIAS: the responder substitutes addresses.
    if (fields === undefined || data.type === 'ALIAS' || data.type === 'ANAME') {
      throw new TypeError(`${data.type} has no form on the wire.`);
    }
    for (const [name, field] of fields) field.write(this, valueIn(data, name));
  }

  name(name: DomainName, compress: boolean): void {
    for (let at = name; at !== ROOT; at = parentOf(at)) {
      const known = compress ? this.#names.get(at) : undefined;
      if (known !== undefined) return this.uint16(0xc000 | known);
      // Uncompressed names are not pointer targets either.
      if (compress && this.#offset < POINTER_OFFSETS && this.#offset < this.#limit) this.#names.set(at, this.#offset);
      const dot = at.indexOf('.');
      const label = labelOctets(dot < 0 ? at : at.slice(0, dot));
      this.octet(label.length);
      this.text(label);
    }
    this.octet(0);
  }

  text(octets: string): void {
    for (let index = 0; index < octets.length; index++) this.octet(octets.charCodeAt(index));
  }

  octet(value: number): void {
    this.#memory[this.#offset++] = value;
  }

  uint16(value: number): void {
    this.#memory[this.#offset++] = value >>> 8;
    this.#memory[this.#offset++] = value;
  }

  uint32(value: number): void {
    this.uint16(value >>> 16);
    this.uint16(value & 0xffff);
  }
}

export interface OptFields {
  udpOctetsMax: number;
  /** The high eight bits of a 12-bit rcode. */
  extendedRcode: number;
  dnssecOk: boolean;
  /** The whole option; null without one. */
  cookie: Buffer | null;
  detail?: { code: number; text: string };
}
