import { Packet } from 'dns2';
import type { Log } from '../base/log.ts';
import { DETAIL_CODES, emptyAnswer, RCODES, type DnsAnswer, type Question, type Rcode } from './answer.ts';
import { guard, HEADER_OCTETS } from './message-guard.ts';
import { MESSAGE_OCTETS_MAX, MessageWriter, OPT_OCTETS } from './message-writer.ts';
import type { DomainName } from './name.ts';
import type { RRset } from './record.ts';
import { answer } from './responder.ts';
import type { ZoneSet } from './zone-set.ts';

/** RFC 1035 §4.2.1: what a client without EDNS takes over UDP. */
const UDP_OCTETS_WITHOUT_EDNS = 512;

/** The size that passes every network without fragments (DNS Flag Day 2020); never more, whatever the client claims. */
export const UDP_OCTETS_MAX = 1232;

/** Errors of our own that are logged; a fault that every query meets must not fill the log. */
const FAULTS_LOGGED_MAX = 100;

export type Transport = 'udp' | 'tcp';

/** Turns a query's octets into a reply's. Null: the message gets none. Never throws, whatever the octets are. */
export type Exchange = (message: Buffer, transport: Transport) => Buffer | null;

/** A query that has been understood. */
interface Query {
  message: Buffer;
  questionEnd: number;
  question: Question;
  edns: Edns | null;
}

interface Edns {
  version: number;
  udpOctets: number;
  dnssecOk: boolean;
}

/**
 * The protocol around the responder: which messages are queries at all, EDNS (RFC 6891), sizes and truncation. The
 * question goes back octet by octet, so that its mixed case (draft-vixie-dnsext-dns0x20) comes back as sent.
 */
export function createExchange(options: { zones: () => ZoneSet; log: Pick<Log, 'error'> }): Exchange {
  const writer = new MessageWriter();
  let faults = 0;

  return (message, transport) => {
    try {
      const guarded = guard(message);
      if (guarded.kind === 'drop') return null;
      if (guarded.kind === 'refuse') return bareReply(message, guarded.rcode);
      const query = decode(message, guarded.name, guarded.questionEnd);
      if (query === null) return bareReply(message, 'FORMERR');
      return encode(writer, query, respond(options.zones(), query), transport);
    } catch (error) {
      if (faults++ < FAULTS_LOGGED_MAX) options.log.error('A DNS query could not be answered.', { error });
      return bareReply(message, 'SERVFAIL');
    }
  };
}

/** A reply that can be made of any message with a header: its id and opcode, and what is wrong. */
function bareReply(message: Buffer, rcode: Rcode): Buffer | null {
  if (message.length < HEADER_OCTETS) return null;
  return header(message, { rcode, authoritative: false, truncated: false, questions: 0 });
}

function header(
  query: Buffer,
  fields: { rcode: Rcode; authoritative: boolean; truncated: boolean; questions: 0 | 1 },
): Buffer {
  const octets = Buffer.alloc(HEADER_OCTETS);
  query.copy(octets, 0, 0, 2);
  const asked = query.readUInt16BE(2);
  // Opcode and RD are the query's; QR is set; RA, Z, AD and CD stay clear.
  const flags = 0x8000 | (asked & 0x7900) | (fields.authoritative ? 0x0400 : 0) | (fields.truncated ? 0x0200 : 0);
  octets.writeUInt16BE(flags | (RCODES[fields.rcode] & 0xf), 2);
  octets.writeUInt16BE(fields.questions, 4);
  return octets;
}

/** Null when a record in it can't be decoded, or EDNS is not as it must be. */
function decode(message: Buffer, name: DomainName, questionEnd: number): Query | null {
  const packet = Packet.parse(message);
  const [asked] = packet.questions;
  if (packet.errors.length > 0 || asked === undefined) return null;
  const opts = packet.additionals.filter((record) => record.type === Packet.TYPE.EDNS);
  const [opt] = opts;
  // RFC 6891 §6.1.1: more than one OPT, or one that is not at the root, is a format error.
  if (opts.length > 1 || (opt !== undefined && opt.name !== '')) return null;
  return {
    message,
    questionEnd,
    // The name is the guard's: dns2 can't tell a dot inside a label from one between labels.
    question: { name, type: asked.type, class: asked.class },
    edns: opt === undefined ? null : { version: opt.version ?? 0, udpOctets: opt.class, dnssecOk: opt.doFlag ?? false },
  };
}

function respond(zones: ZoneSet, { edns, question }: Query): DnsAnswer {
  if (edns !== null && edns.version !== 0) return emptyAnswer('BADVERS', false);
  return answer(zones, question);
}

function encode(writer: MessageWriter, query: Query, result: DnsAnswer, transport: Transport): Buffer {
  const limit = transport === 'tcp' ? MESSAGE_OCTETS_MAX : udpLimit(query.edns);
  const whole = write(writer, query, result, limit);
  if (whole !== null) return whole;
  if (!result.additionalRequired && result.additional.length > 0) {
    // Addresses that were added unasked are no reason to come again over TCP (RFC 2181 §9).
    const shorter = write(writer, query, { ...result, additional: [] }, limit);
    if (shorter !== null) return shorter;
  }
  if (transport === 'udp') return writeEmpty(writer, query, { ...result, detail: undefined }, limit, true);
  const detail = { code: DETAIL_CODES.other, text: `The answer has more than ${MESSAGE_OCTETS_MAX} octets` };
  return writeEmpty(writer, query, emptyAnswer('SERVFAIL', false, detail), limit, false);
}

const udpLimit = (edns: Edns | null): number =>
  edns === null ? UDP_OCTETS_WITHOUT_EDNS : Math.min(Math.max(edns.udpOctets, UDP_OCTETS_WITHOUT_EDNS), UDP_OCTETS_MAX);

/** Null when the sections don't fit. */
function write(writer: MessageWriter, query: Query, result: DnsAnswer, limit: number): Buffer | null {
  begin(writer, query, result, limit, false);
  const reserved = query.edns === null ? 0 : OPT_OCTETS;
  writer.reserve(reserved);
  const sections = [result.answer, result.authority, result.additional];
  for (const section of sections) for (const rrset of section) if (!writer.rrset(rrset)) return null;
  writer.release(reserved);
  return finish(writer, query, result, sections.map(countRecords));
}

function writeEmpty(writer: MessageWriter, query: Query, result: DnsAnswer, limit: number, truncated: boolean): Buffer {
  begin(writer, query, result, limit, truncated);
  return finish(writer, query, result, [0, 0, 0]);
}

function begin(writer: MessageWriter, query: Query, result: DnsAnswer, limit: number, truncated: boolean): void {
  const { rcode, authoritative } = result;
  const start = header(query.message, { rcode, authoritative, truncated, questions: 1 });
  writer.begin(limit, start, query.message.subarray(HEADER_OCTETS, query.questionEnd), query.question.name);
}

function finish(writer: MessageWriter, query: Query, result: DnsAnswer, counts: number[]): Buffer {
  const [answers = 0, authorities = 0, additionals = 0] = counts;
  if (query.edns === null) return writer.finish(answers, authorities, additionals);
  writer.opt({
    udpOctetsMax: UDP_OCTETS_MAX,
    extendedRcode: RCODES[result.rcode] >>> 4,
    dnssecOk: query.edns.dnssecOk,
    detail: result.detail,
  });
  return writer.finish(answers, authorities, additionals + 1);
}

const countRecords = (section: readonly RRset[]): number =>
  section.reduce((count, rrset) => count + rrset.data.length, 0);
