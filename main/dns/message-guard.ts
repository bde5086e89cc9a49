import { LABEL_OCTETS_MAX, readWireName, type DomainName } from './name.ts';
import { QUESTION_TYPES } from './record.ts';

export const HEADER_OCTETS = 12;

/**
 * The largest query that is looked into. A question takes at most 271 octets with its header; the rest is room for EDNS
 * options and a signature. Whatever is larger has no honest use, and costs time to decode.
 */
export const QUERY_OCTETS_MAX = 4096;

/** A query's additional records: OPT, TSIG (RFC 8945), SIG(0) (RFC 2931), and one to spare. */
const ADDITIONAL_RECORDS_MAX = 4;

const OPCODE_QUERY = 0;
const POINTER_BITS = 0xc0;

/** What a message turned out to be before it was decoded. */
export type Guarded =
  /** Not answered: too short for a header, or itself a response (answering those would let two servers play ping-pong). */
  | { kind: 'drop' }
  /** Answered with a bare header. */
  | { kind: 'refuse'; rcode: 'FORMERR' | 'NOTIMP' }
  /** A query with one well-formed question, and nothing in it that is costly to decode. */
  | { kind: 'query'; name: DomainName; questionEnd: number };

const DROP: Guarded = { kind: 'drop' };
const FORMERR: Guarded = { kind: 'refuse', rcode: 'FORMERR' };
const NOTIMP: Guarded = { kind: 'refuse', rcode: 'NOTIMP' };

/**
 * Looks at a message's frame, in one pass without following a pointer: what is let through holds one question whose
 * name is spelled out (a first name has nothing to point at), at most four further records, and ends where they end.
 * dns2 decodes only that, because names that chain pointers cost it seconds.
 */
export function guard(message: Buffer): Guarded {
  if (message.length < HEADER_OCTETS) return DROP;
  const flags = message.readUInt16BE(2);
  if ((flags & 0x8000) !== 0) return DROP;
  if (((flags >>> 11) & 0xf) !== OPCODE_QUERY) return NOTIMP;
  if (message.length > QUERY_OCTETS_MAX || message.readUInt16BE(4) !== 1) return FORMERR;

  const question = readWireName(message, HEADER_OCTETS);
  if (question === null || question.end + 4 > message.length) return FORMERR;
  const questionEnd = question.end + 4;
  const transfer = message.readUInt16BE(question.end) === QUESTION_TYPES.IXFR;

  const answers = message.readUInt16BE(6);
  const authorities = message.readUInt16BE(8);
  const additionals = message.readUInt16BE(10);
  // IXFR alone brings a record along: the SOA that its sender has (RFC 1995 §3).
  if (answers !== 0 || authorities > (transfer ? 1 : 0) || additionals > ADDITIONAL_RECORDS_MAX) return FORMERR;

  let offset: number | null = questionEnd;
  for (let records = authorities + additionals; records > 0 && offset !== null; records--) {
    offset = skipRecord(message, offset);
  }
  return offset === message.length ? { kind: 'query', name: question.name, questionEnd } : FORMERR;
}

/** The offset after the record at `offset`; null when it does not fit into the message. */
function skipRecord(message: Buffer, offset: number): number | null {
  const afterName = skipName(message, offset);
  if (afterName === null || afterName + 10 > message.length) return null;
  const end = afterName + 10 + message.readUInt16BE(afterName + 8);
  return end <= message.length ? end : null;
}

function skipName(message: Buffer, start: number): number | null {
  for (let offset = start; ;) {
    const length = message[offset];
    if (length === undefined) return null;
    if (length === 0) return offset + 1;
    if ((length & POINTER_BITS) === POINTER_BITS) return offset + 2;
    if (length > LABEL_OCTETS_MAX) return null;
    offset += 1 + length;
  }
}
