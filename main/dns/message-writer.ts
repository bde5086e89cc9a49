import { isIPv4 } from 'node:net';
import { HEADER_OCTETS } from './message-guard.ts';
import { labelOctets, parentOf, ROOT, wireLength, type DomainName } from './name.ts';
import { CLASS_IN, TYPE_CODES, type RecordData, type RRset, type WireType } from './record.ts';
import { STRING_OCTETS_MAX } from './record-text.ts';

/** RFC 1035 §4.2.2: what the two length octets of TCP can say. */
export const MESSAGE_OCTETS_MAX = 0xffff;

/** RFC 1035 §4.1.4: a pointer has 14 bits. */
const POINTER_OFFSETS = 0x4000;

const OPT_FIXED_OCTETS = 11;
const DETAIL_FIXED_OCTETS = 6;
const OPTION_EXTENDED_ERROR = 15;

/**
 * Writes DNS messages, one after another, into one piece of memory. dns2 encodes bit by bit into an array, and copies
 * the whole of it for every record: 19 µs for two records, seconds for the largest message, while everything waits.
 * This takes 1 µs and 2 ms for the same.
 *
 * Writing past the limit does no harm: it is noticed after each record, and the record is taken back.
 */
export class MessageWriter {
  readonly #memory = Buffer.alloc(MESSAGE_OCTETS_MAX + 1);
  /** Where a name was written, for pointing at it (RFC 1035 §4.1.4). */
  readonly #names = new Map<DomainName, number>();
  /** The question's name, when it was asked for in mixed case. */
  #asked: DomainName | null = null;
  #offset = 0;
  #limit = 0;

  /** Starts a message of at most `limit` octets with a header and, as it came, the question. */
  begin(limit: number, header: Buffer, question: Buffer, name: DomainName): void {
    this.#limit = limit;
    this.#names.clear();
    header.copy(this.#memory, 0);
    question.copy(this.#memory, header.length);
    this.#offset = header.length + question.length;
    this.#rememberQuestion(name, header.length);
  }

  /**
   * Lets what follows point at the question. One in mixed case stands for its own name alone (an owner comes back as it
   * was asked for); its parts are not pointed at, or the client's case would show up inside our data.
   */
  #rememberQuestion(name: DomainName, start: number): void {
    const end = start + wireLength(name);
    for (let offset = start; offset < end; offset++) {
      const octet = this.#memory[offset] ?? 0;
      if (octet >= 0x41 && octet <= 0x5a) {
        this.#asked = name;
        return;
      }
    }
    this.#asked = null;
    let offset = start;
    for (let at = name; at !== ROOT; at = parentOf(at)) {
      this.#names.set(at, offset);
      offset += 1 + (this.#memory[offset] ?? 0);
    }
  }

  /** Octets that may still be written. */
  get room(): number {
    return this.#limit - this.#offset;
  }

  /** Keeps `octets` at the end free for what comes last. */
  reserve(octets: number): void {
    this.#limit -= octets;
  }

  /** Gives back what was reserved. */
  release(octets: number): void {
    this.#limit += octets;
  }

  /** Writes the records of an RRset. False when they don't fit; what was written of them stays, so give the message up. */
  rrset(rrset: RRset): boolean {
    const code = TYPE_CODES[rrset.type as WireType];
    for (const data of rrset.data) {
      if (rrset.name === this.#asked) this.#uint16(0xc000 | HEADER_OCTETS);
      else this.#name(rrset.name, true);
      this.#uint16(code);
      this.#uint16(CLASS_IN);
      this.#uint32(rrset.ttlSeconds);
      const lengthAt = this.#offset;
      this.#offset += 2;
      this.#data(data);
      if (this.#offset > this.#limit) return false;
      this.#memory.writeUInt16BE(this.#offset - lengthAt - 2, lengthAt);
    }
    return true;
  }

  /** OPT (RFC 6891 §6.1.2), with the reason for people (RFC 8914 §2) where there is one and it fits. */
  opt(opt: OptFields): void {
    const text = opt.detail === undefined ? '' : opt.detail.text;
    const detailed = opt.detail !== undefined && OPT_FIXED_OCTETS + DETAIL_FIXED_OCTETS + text.length <= this.room;
    this.#octet(0);
    this.#uint16(41);
    this.#uint16(opt.udpOctetsMax);
    this.#octet(opt.extendedRcode);
    this.#octet(0);
    this.#uint16(opt.dnssecOk ? 0x8000 : 0);
    this.#uint16(detailed ? DETAIL_FIXED_OCTETS + text.length : 0);
    if (!detailed || opt.detail === undefined) return;
    this.#uint16(OPTION_EXTENDED_ERROR);
    this.#uint16(2 + text.length);
    this.#uint16(opt.detail.code);
    this.#text(text);
  }

  /** The message as its own piece of memory, with the counts of its sections filled in. */
  finish(answers: number, authorities: number, additionals: number): Buffer {
    this.#memory.writeUInt16BE(answers, 6);
    this.#memory.writeUInt16BE(authorities, 8);
    this.#memory.writeUInt16BE(additionals, 10);
    return Buffer.from(this.#memory.subarray(0, this.#offset));
  }

  #data(data: RecordData): void {
    switch (data.type) {
      case 'A':
        return this.#ipv4(data.address);
      case 'AAAA':
        return this.#ipv6(data.address);
      case 'CNAME':
      case 'NS':
      case 'PTR':
        return this.#name(data.target, true);
      case 'ALIAS':
      case 'ANAME':
        // Never in an answer: the responder gives addresses instead.
        throw new TypeError(`${data.type} has no form on the wire.`);
      case 'MX':
        this.#uint16(data.preference);
        return this.#name(data.exchange, true);
      case 'SRV':
        this.#uint16(data.priority);
        this.#uint16(data.weight);
        this.#uint16(data.port);
        // RFC 2782: "name compression is not to be used for this field".
        return this.#name(data.target, false);
      case 'TXT':
        for (const text of data.strings) this.#strings(text);
        return;
      case 'HINFO':
        this.#strings(data.cpu);
        return this.#strings(data.os);
      case 'CAA':
        this.#octet(data.flags);
        this.#octet(data.tag.length);
        this.#text(data.tag);
        return this.#text(data.value);
      case 'SOA':
        this.#name(data.primary, true);
        this.#name(data.mailbox, true);
        this.#uint32(data.serial);
        this.#uint32(data.refreshSeconds);
        this.#uint32(data.retrySeconds);
        this.#uint32(data.expireSeconds);
        return this.#uint32(data.minimumSeconds);
    }
  }

  #name(name: DomainName, compress: boolean): void {
    for (let at = name; at !== ROOT; at = parentOf(at)) {
      const known = compress ? this.#names.get(at) : undefined;
      if (known !== undefined) return this.#uint16(0xc000 | known);
      if (this.#offset < POINTER_OFFSETS && this.#offset < this.#limit) this.#names.set(at, this.#offset);
      const dot = at.indexOf('.');
      const label = labelOctets(dot < 0 ? at : at.slice(0, dot));
      this.#octet(label.length);
      this.#text(label);
    }
    this.#octet(0);
  }

  /** Character-strings (RFC 1035 §3.3): as many as the text needs. */
  #strings(text: string): void {
    for (let at = 0; at === 0 || at < text.length; at += STRING_OCTETS_MAX) {
      const part = text.slice(at, at + STRING_OCTETS_MAX);
      this.#octet(part.length);
      this.#text(part);
    }
  }

  #ipv4(address: string): void {
    let part = 0;
    for (let index = 0; index < address.length; index++) {
      const code = address.charCodeAt(index);
      if (code === 0x2e) {
        this.#octet(part);
        part = 0;
      } else part = part * 10 + code - 0x30;
    }
    this.#octet(part);
  }

  #ipv6(address: string): void {
    const [head = '', tail] = address.split('::');
    const before = ipv6Groups(head);
    const after = tail === undefined ? [] : ipv6Groups(tail);
    for (const group of before) this.#uint16(group);
    for (let missing = 8 - before.length - after.length; missing > 0; missing--) this.#uint16(0);
    for (const group of after) this.#uint16(group);
  }

  #text(octets: string): void {
    for (let index = 0; index < octets.length; index++) this.#octet(octets.charCodeAt(index));
  }

  #octet(value: number): void {
    this.#memory[this.#offset++] = value;
  }

  #uint16(value: number): void {
    this.#memory[this.#offset++] = value >>> 8;
    this.#memory[this.#offset++] = value;
  }

  #uint32(value: number): void {
    this.#uint16(value >>> 16);
    this.#uint16(value & 0xffff);
  }
}

export interface OptFields {
  udpOctetsMax: number;
  /** The high eight bits of a twelve-bit response code. */
  extendedRcode: number;
  dnssecOk: boolean;
  detail?: { code: number; text: string };
}

/** Octets that OPT takes without a reason. */
export const OPT_OCTETS = OPT_FIXED_OCTETS;

/** The 16-bit groups of one side of `::`; the last two may be written as an IPv4 address (RFC 4291 §2.2). */
function ipv6Groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!isIPv4(group)) return [parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
