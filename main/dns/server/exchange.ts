import { Packet } from 'dns2';
import type { Log } from '../../base/log.ts';
import { DETAIL_CODES, emptyAnswer, RCODES, type DnsAnswer, type Question, type Rcode } from '../wire/record.ts';
import { createCookies, readClientCookie, guard, HEADER_OCTETS, OPT_OCTETS } from '../wire/message-guard.ts';
import { MESSAGE_OCTETS_MAX, MessageWriter } from '../wire/message-writer.ts';
import { ReplyCache } from './reply-cache.ts';
import { answer } from './responder.ts';
import { signedAnswer } from '../zones/signed-answer.ts';
import { checkTsig, readTsig, tsigOctets } from './tsig.ts';
import { createUpdateExchange, type Updatable, isUpdate } from './update-exchange.ts';
import type { ZoneSet } from '../zones/zone-set.ts';

/** RFC 1035 §4.2.1: the UDP size limit without EDNS. */
const UDP_OCTETS_WITHOUT_EDNS = 512;

/** The size that avoids fragmentation on every network (DNS Flag Day 2020); caps the client's own limit. */
export const UDP_OCTETS_MAX = 1232;

/** Maximum internal errors to log: a fault in every query would otherwise fill the log. */
const FAULTS_LOGGED_MAX = 100;

export type Transport = 'udp' | 'tcp';

/**
 * Turns a query into a reply, both as octets; null for no reply. Never throws. `change` replaces the right answer; such
 * replies are not cached.
 */
export type Exchange = (
  message: Buffer,
  transport: Transport,
  change?: (right: DnsAnswer) => DnsAnswer,
) => Buffer | null;

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
  /** The option of the reply; null without a client cookie. */
  cookie: Buffer | null;
}

/**
 * The protocol around the responder: message validation, EDNS (RFC 6891), cookies (RFC 7873), sizes and truncation.
 * Copies the question verbatim, to preserve its mixed case (draft-vixie-dnsext-dns0x20).
 */
export function createExchange(options: {
  zones: () => ZoneSet;
  log: Pick<Log, 'error'>;
  /** What programs may update; if omitted, updates get NOTIMP. */
  updatable?: Updatable;
}): Exchange {
  const writer = new MessageWriter();
  const cache = new ReplyCache();
  const cookieFor = createCookies();
  const { updatable } = options;
  const update = updatable === undefined ? null : createUpdateExchange(updatable);
  /** The zone state that the cached replies derive from. */
  let cached: { zones: ZoneSet; changes: number } | null = null;
  let faults = 0;

  /** The current zones; clears the cache when they have changed. */
  function currentZones(): ZoneSet {
    const zones = options.zones();
    if (cached?.zones === zones && cached.changes === zones.changes) return zones;
    cache.clear();
    cached = { zones, changes: zones.changes };
    return zones;
  }

  return (message, transport, change) => {
    try {
      const zones = currentZones();
      // TCP allows larger replies.
      const known = transport === 'udp' && change === undefined ? cache.find(message) : null;
      if (known !== null) return known;
      if (update !== null && isUpdate(message)) return update(message);
      const guarded = guard(message);
      if (guarded.kind === 'drop') return null;
      if (guarded.kind === 'refuse') return bareReply(message, guarded.rcode);
      const client = guarded.options === null ? null : readClientCookie(message, guarded.options);
      if (client === 'malformed') return bareReply(message, 'FORMERR');
      const cookie = client === null ? null : cookieFor(client);
      if (guarded.kind === 'cookie') {
        if (cookie === null) return bareReply(message, 'FORMERR');
        return cookieReply(writer, message, cookie, transport);
      }
      const query = decode(message, guarded.question, guarded.questionEnd, cookie);
      if (query === null) return bareReply(message, 'FORMERR');
      if (updatable !== undefined && guarded.tsigAt !== null) {
        return signedReply(writer, query, { zones, updatable, tsigAt: guarded.tsigAt, transport });
      }
      const right = respond(zones, query);
      if (change !== undefined) return encode(writer, query, change(right), transport);
      const reply = encode(writer, query, right, transport);
      // Each client has its own cookie, so these replies are not cached.
      if (transport === 'udp' && cookie === null) cache.keep(message, query.questionEnd, reply);
      return reply;
    } catch (error) {
      if (faults++ < FAULTS_LOGGED_MAX) options.log.error('A DNS query could not be answered.', { error });
      return bareReply(message, 'SERVFAIL');
    }
  };
}

/** The reply to a message without a question, which asks for a cookie (RFC 7873 §5.4). */
function cookieReply(writer: MessageWriter, message: Buffer, cookie: Buffer, transport: Transport): Buffer | null {
  const alone = decode(message, NO_QUESTION, HEADER_OCTETS, cookie);
  if (alone === null) return bareReply(message, 'FORMERR');
  return encode(writer, alone, emptyAnswer('NOERROR', false), transport);
}

/** The reply to a signed query: programs also sign the queries that precede an update (RFC 8945 §5.3). */
function signedReply(
  writer: MessageWriter,
  query: Query,
  options: { zones: ZoneSet; updatable: Updatable; tsigAt: number; transport: Transport },
): Buffer | null {
  const { zones, updatable, tsigAt, transport } = options;
  const tsig = readTsig(query.message, tsigAt);
  if (tsig === null) return bareReply(query.message, 'FORMERR');
  const signature = checkTsig(query.message, tsig, updatable.secretOf(tsig.key), updatable.realNow());
  if (signature.kind === 'malformed') return bareReply(query.message, 'FORMERR');
  const result = signature.kind === 'valid' ? respond(zones, query) : emptyAnswer('NOTAUTH', false);
  return signature.sign(encode(writer, query, result, transport, tsigOctets(tsig)));
}

const NO_QUESTION: Question = { name: '', type: 0, class: 0 };

/** An error reply to any message with a header: its id and opcode, and the rcode. */
function bareReply(message: Buffer, rcode: Rcode): Buffer | null {
  if (message.length < HEADER_OCTETS) return null;
  const reply = Buffer.alloc(HEADER_OCTETS);
  message.copy(reply, 0, 0, 2);
  reply.writeUInt16BE(flagsOf(message, rcode, false, false), 2);
  return reply;
}

/** Copies opcode and RD from the query, sets QR, and clears RA, Z, AD and CD. */
function flagsOf(query: Buffer, rcode: Rcode, authoritative: boolean, truncated: boolean): number {
  const asked = query.readUInt16BE(2) & 0x7900;
  return 0x8000 | asked | (authoritative ? 0x0400 : 0) | (truncated ? 0x0200 : 0) | (RCODES[rcode] & 0xf);
}

/**
 * Null when a record after the question is malformed, or its EDNS is. The guard parses the question, because dns2
 * cannot distinguish a dot within a label from one between labels.
 */
function decode(message: Buffer, question: Question, questionEnd: number, cookie: Buffer | null): Query | null {
  if (questionEnd === message.length) return { message, questionEnd, question, edns: null };
  const packet = Packet.parse(message);
  if (packet.errors.length > 0) return null;
  const opts = packet.additionals.filter((record) => record.type === Packet.TYPE.EDNS);
  const [opt] = opts;
  // RFC 6891 §6.1.1: more than one OPT, or one outside the root, is a format error.
  if (opts.length > 1 || (opt !== undefined && opt.name !== '')) return null;
  return {
    message,
    questionEnd,
    question,
    edns:
      opt === undefined
        ? null
        : { version: opt.version ?? 0, udpOctets: opt.class, dnssecOk: opt.doFlag ?? false, cookie },
  };
}

function respond(zones: ZoneSet, { edns, question }: Query): DnsAnswer {
  if (edns !== null && edns.version !== 0) return emptyAnswer('BADVERS', false);
  const plain = answer(zones, question);
  return zones.signs ? signedAnswer(zones, question, plain, edns?.dnssecOk === true) : plain;
}

/** `spared`: octets to reserve for later records. */
function encode(writer: MessageWriter, query: Query, result: DnsAnswer, transport: Transport, spared = 0): Buffer {
  const limit = (transport === 'tcp' ? MESSAGE_OCTETS_MAX : udpLimit(query.edns)) - spared;
  const whole = write(writer, query, result, limit);
  if (whole !== null) return whole;
  if (!result.additionalRequired && result.additional.length > 0) {
    // Omitting optional addresses does not set TC (RFC 2181 §9).
    const shorter = write(writer, query, { ...result, additional: [] }, limit);
    if (shorter !== null) return shorter;
  }
  if (transport === 'udp') return writeEmpty(writer, query, { ...result, detail: undefined }, limit, true);
  const detail = { code: DETAIL_CODES.other, text: `The answer has more than ${MESSAGE_OCTETS_MAX} octets` };
  return writeEmpty(writer, query, emptyAnswer('SERVFAIL', false, detail), limit, false);
}

const udpLimit = (edns: Edns | null): number =>
  edns === null ? UDP_OCTETS_WITHOUT_EDNS : Math.min(Math.max(edns.udpOctets, UDP_OCTETS_WITHOUT_EDNS), UDP_OCTETS_MAX);

/** Null when the sections do not fit. */
function write(writer: MessageWriter, query: Query, result: DnsAnswer, limit: number): Buffer | null {
  begin(writer, query, result, limit, false);
  const fits =
    writer.section('answer', result.answer) &&
    writer.section('authority', result.authority) &&
    writer.section('additional', result.additional);
  return fits ? finish(writer, query, result) : null;
}

function writeEmpty(writer: MessageWriter, query: Query, result: DnsAnswer, limit: number, truncated: boolean): Buffer {
  begin(writer, query, result, limit, truncated);
  return finish(writer, query, result);
}

function begin(writer: MessageWriter, query: Query, result: DnsAnswer, limit: number, truncated: boolean): void {
  writer.begin({
    query: query.message,
    questionEnd: query.questionEnd,
    name: query.question.name,
    flags: flagsOf(query.message, result.rcode, result.authoritative, truncated),
    limit,
    reserved: query.edns === null ? 0 : OPT_OCTETS + (query.edns.cookie?.length ?? 0),
  });
}

function finish(writer: MessageWriter, { edns }: Query, { rcode, detail }: DnsAnswer): Buffer {
  if (edns !== null) {
    const extendedRcode = RCODES[rcode] >>> 4;
    writer.opt({ udpOctetsMax: UDP_OCTETS_MAX, extendedRcode, dnssecOk: edns.dnssecOk, cookie: edns.cookie, detail });
  }
  return writer.finish();
}
