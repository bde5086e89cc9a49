import { createHmac, randomBytes } from 'node:crypto';
import { type Question, QUESTION_TYPES } from './record.ts';
import { LABEL_OCTETS_MAX, readWireName } from '../../model/dns-name.ts';

export const HEADER_OCTETS = 12;

/** The size of OPT without options. */
export const OPT_OCTETS = 11;

/**
 * The largest query to decode. Header and question take at most 271 octets; the rest leaves room for EDNS options and a
 * signature. Larger queries have no legitimate use and are slow to decode.
 */
export const QUERY_OCTETS_MAX = 4096;

/** Further records of a query: OPT, TSIG (RFC 8945), SIG(0) (RFC 2931), IXFR's SOA (RFC 1995 §3). */
const FURTHER_RECORDS_MAX = 4;

/** Types of additional records allowed in a query. Others carry data, which dns2 would waste time on. */
const TYPE_SOA = 6;
const TYPE_SIG = 24;
const ADDITIONAL_TYPES: ReadonlySet<number> = new Set([QUESTION_TYPES.OPT, QUESTION_TYPES.TSIG, TYPE_SIG]);

const OPCODE_QUERY = 0;
const POINTER_BITS = 0xc0;

/** The kind of a message, determined before decoding. */
export type Guarded =
  /** Not answered: too short for a header, or a response (answering one could loop between two servers). */
  | { kind: 'drop' }
  /** Answered with a bare header. */
  | { kind: 'refuse'; rcode: 'FORMERR' | 'NOTIMP' }
  /** A query with one well-formed question, cheap to decode; `options`: in its OPT; `tsigAt`: its TSIG's offset. */
  | { kind: 'query'; question: Question; questionEnd: number; options: OptionsAt | null; tsigAt: number | null }
  /** A query for a server cookie alone (RFC 7873 §5.4), if its OPT has a client cookie. */
  | { kind: 'cookie'; options: OptionsAt };

const DROP: Guarded = { kind: 'drop' };
const FORMERR: Guarded = { kind: 'refuse', rcode: 'FORMERR' };
const NOTIMP: Guarded = { kind: 'refuse', rcode: 'NOTIMP' };

/**
 * Checks a message's structure in one pass without following pointers. It accepts one question with an uncompressed
 * name (none beside an OPT alone), at most four further records of types that belong in a query, names that point at
 * most into the question, and no trailing octets. Only such messages reach dns2, which takes seconds on chained
 * pointers.
 */
export function guard(message: Buffer): Guarded {
  if (message.length < HEADER_OCTETS) return DROP;
  const flags = message.readUInt16BE(2);
  if ((flags & 0x8000) !== 0) return DROP;
  if (((flags >>> 11) & 0xf) !== OPCODE_QUERY) return NOTIMP;
  const questions = message.readUInt16BE(4);
  if (message.length > QUERY_OCTETS_MAX || questions > 1) return FORMERR;
  if (questions === 0) return withoutQuestion(message);

  const asked = readWireName(message, HEADER_OCTETS);
  if (asked === null || asked.end + 4 > message.length) return FORMERR;
  const question = {
    name: asked.name,
    type: message.readUInt16BE(asked.end),
    class: message.readUInt16BE(asked.end + 2),
  };
  const questionEnd = asked.end + 4;

  const answers = message.readUInt16BE(6);
  const authorities = message.readUInt16BE(8);
  const additionals = message.readUInt16BE(10);
  if (
    answers !== 0 ||
    authorities > (question.type === QUESTION_TYPES.IXFR ? 1 : 0) ||
    authorities + additionals > FURTHER_RECORDS_MAX
  ) {
    return FORMERR;
  }
  let offset: number | null = questionEnd;
  let options: OptionsAt | null = null;
  let last = questionEnd;
  for (let record = 0; record < authorities + additionals && offset !== null; record++) {
    last = offset;
    options ??= optionsAt(message, offset);
    offset = skipRecord(message, offset, asked.end, record < authorities);
  }
  if (offset !== message.length) return FORMERR;
  const tsigAt = additionals > 0 && typeAt(message, last, asked.end) === QUESTION_TYPES.TSIG ? last : null;
  return { kind: 'query', question, questionEnd, options, tsigAt };
}

function withoutQuestion(message: Buffer): Guarded {
  const alone = [6, 8, 10].map((at) => message.readUInt16BE(at)).join() === '0,0,1';
  const options = alone ? optionsAt(message, HEADER_OCTETS) : null;
  return options?.end === message.length ? { kind: 'cookie', options } : FORMERR;
}

/** The options of the record at `offset`; null unless it is an OPT of the root. */
function optionsAt(message: Buffer, offset: number): OptionsAt | null {
  const start = offset + OPT_OCTETS;
  if (start > message.length || message[offset] !== 0) return null;
  if (message.readUInt16BE(offset + 1) !== QUESTION_TYPES.OPT) return null;
  return { start, end: start + message.readUInt16BE(start - 2) };
}

function typeAt(message: Buffer, offset: number, nameEnd: number): number | null {
  const afterName = skipName(message, offset, nameEnd);
  return afterName === null ? null : message.readUInt16BE(afterName);
}

/** The offset after the record at `offset`; null when it is truncated or not allowed. */
function skipRecord(message: Buffer, offset: number, nameEnd: number, authority: boolean): number | null {
  const afterName = skipName(message, offset, nameEnd);
  if (afterName === null || afterName + 10 > message.length) return null;
  const type = message.readUInt16BE(afterName);
  const data = afterName + 10;
  const end = data + message.readUInt16BE(afterName + 8);
  if (end > message.length) return null;
  if (!authority) return ADDITIONAL_TYPES.has(type) ? end : null;
  // IXFR's SOA, the only accepted type with names in its data.
  const afterPrimary = type === TYPE_SOA ? skipName(message, data, nameEnd) : null;
  const afterMailbox = afterPrimary === null ? null : skipName(message, afterPrimary, nameEnd);
  return afterMailbox === null || afterMailbox > end ? null : end;
}

/** The offset after the name at `start`; null when it does not end, or points outside the question's name. */
function skipName(message: Buffer, start: number, nameEnd: number): number | null {
  for (let offset = start; ;) {
    const length = message[offset];
    if (length === undefined) return null;
    if (length === 0) return offset + 1;
    if ((length & POINTER_BITS) === POINTER_BITS) {
      const target = ((length & ~POINTER_BITS) << 8) | (message[offset + 1] ?? 0);
      return target >= HEADER_OCTETS && target < nameEnd ? offset + 2 : null;
    }
    if (length > LABEL_OCTETS_MAX) return null;
    offset += 1 + length;
  }
}

const OPTION_COOKIE = 10;

/** RFC 7873 §4: a client cookie has 8 octets, a server cookie 8 to 32; ours has 16. */
const CLIENT_OCTETS = 8;
const SERVER_OCTETS = 16;
const SERVER_OCTETS_MIN = 8;
const SERVER_OCTETS_MAX = 32;

/** The size of the option in a reply, with its code and length. */
export const COOKIE_OPTION_OCTETS = 4 + CLIENT_OCTETS + SERVER_OCTETS;

/** Where the options of an OPT record are in a message. */
interface OptionsAt {
  start: number;
  end: number;
}

/** A query's client cookie; null without one, or `malformed` (RFC 7873 §5.2.2). */
export function readClientCookie(message: Buffer, { start, end }: OptionsAt): Buffer | 'malformed' | null {
  for (let at = start; at + 4 <= end;) {
    const code = message.readUInt16BE(at);
    const length = message.readUInt16BE(at + 2);
    const data = at + 4;
    at = data + length;
    if (code !== OPTION_COOKIE) continue;
    const server = length - CLIENT_OCTETS;
    const fits = server === 0 || (server >= SERVER_OCTETS_MIN && server <= SERVER_OCTETS_MAX);
    return fits && at <= end ? message.subarray(data, data + CLIENT_OCTETS) : 'malformed';
  }
  return null;
}

/**
 * The option for the reply to a client cookie. All clients are on this machine, so the server cookie depends on neither
 * address nor time, and queries with a wrong one are answered like those without (RFC 7873 §5.2.4).
 */
export function createCookies(): (clientCookie: Buffer) => Buffer {
  const secret = randomBytes(32);
  return (clientCookie) => {
    const option = Buffer.alloc(COOKIE_OPTION_OCTETS);
    option.writeUInt16BE(OPTION_COOKIE);
    option.writeUInt16BE(CLIENT_OCTETS + SERVER_OCTETS, 2);
    clientCookie.copy(option, 4);
    createHmac('sha256', secret)
      .update(clientCookie)
      .digest()
      .copy(option, 4 + CLIENT_OCTETS, 0, SERVER_OCTETS);
    return option;
  };
}
