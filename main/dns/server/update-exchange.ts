import type { EpochMs } from '../../base/clock.ts';
import type { DomainName } from '../../model/dns-name.ts';
import { DETAIL_CODES, RCODES, TYPE_CODES, CLASS_ANY, CLASS_NONE, QUESTION_TYPES } from '../wire/record.ts';
import type { Rcode, Question, RecordData } from '../wire/record.ts';
import { HEADER_OCTETS } from '../wire/message-guard.ts';
import { MESSAGE_OCTETS_MAX, MessageWriter } from '../wire/message-writer.ts';
import { checkTsig, SignedReader, type Tsig } from './tsig.ts';
import { MessageFault, unlessMalformed } from '../wire/wire-reader.ts';

const OPCODE_UPDATE = 5;

/** Records of one update, prerequisites included: some milliseconds of work. */
export const UPDATE_RECORDS_MAX = 1000;

/** A record of the prerequisite or update section (RFC 2136 §2.4, §2.5). */
export interface UpdateRecord {
  name: DomainName;
  type: number;
  class: number;
  ttlSeconds: number;
  /** Null without data, which the classes ANY and NONE allow. */
  data: RecordData | null;
}

export interface UpdateMessage {
  zone: Question;
  /** The offset after the zone section. */
  zoneEnd: number;
  prerequisites: readonly UpdateRecord[];
  updates: readonly UpdateRecord[];
  tsig: Tsig | null;
  /** Whether it has an OPT record. */
  edns: boolean;
}

export const isUpdate = (message: Buffer): boolean =>
  message.length >= HEADER_OCTETS && message.readUInt16BE(2) >>> 11 === OPCODE_UPDATE;

/** Decodes an UPDATE (RFC 2136 §2); null when malformed, `too many` with more than 1,000 records. */
const readUpdate = (message: Buffer): UpdateMessage | 'too many' | null =>
  unlessMalformed(() => new UpdateReader(message).read());

class UpdateReader extends SignedReader {
  read(): UpdateMessage | 'too many' {
    const [zones = 0, prerequisites = 0, updates = 0, additional = 0] = [4, 6, 8, 10].map((offset) =>
      this.message.readUInt16BE(offset),
    );
    if (zones !== 1) throw new MessageFault();
    if (prerequisites + updates > UPDATE_RECORDS_MAX) return 'too many';
    const zone = { name: this.name(), type: this.uint16(), class: this.uint16() };
    const read: UpdateMessage = {
      zone,
      zoneEnd: this.offset,
      prerequisites: Array.from({ length: prerequisites }, () => this.#record()),
      updates: Array.from({ length: updates }, () => this.#record()),
      tsig: null,
      edns: false,
    };
    for (let index = 0; index < additional; index++) this.#additional(read, index === additional - 1);
    if (this.offset !== this.message.length) throw new MessageFault();
    return read;
  }

  #record(): UpdateRecord {
    const [name, type, recordClass, ttlSeconds] = [this.name(), this.uint16(), this.uint16(), this.uint32()];
    const length = this.uint16();
    const end = this.offset + length;
    if (end > this.message.length) throw new MessageFault();
    const empty = length === 0 && (recordClass === CLASS_ANY || recordClass === CLASS_NONE);
    const data = empty ? null : this.data(type, end);
    if (this.offset !== end) throw new MessageFault();
    return { name, type, class: recordClass, ttlSeconds, data };
  }

  /** Ignores glue in an update, as RFC 2136 §2.6 allows. TSIG must be last (RFC 8945 §5.1). */
  #additional(read: UpdateMessage, last: boolean): void {
    const { type, tsig } = this.additional();
    if (type === QUESTION_TYPES.OPT) read.edns = true;
    if (tsig !== null && !last) throw new MessageFault();
    read.tsig = tsig;
  }
}

/** Signed requests whose replies are kept, to detect replays. */
const REPLIES_MAX = 10_000;

/** The result of an update; `reason` is a sentence of ASCII. */
export interface UpdateResult {
  rcode: Rcode;
  reason?: string;
}

/** The zones that programs may change. */
export interface Updatable {
  /** The secret of a zone's key, which has the zone's name; null without such a zone or key. */
  secretOf(key: DomainName): Buffer | null;
  hasZone(name: DomainName): boolean;
  /** Applies all of an update or nothing. */
  apply(update: UpdateMessage): UpdateResult;
  /** Real time, because signatures use it regardless of the app's clock. */
  realNow(): EpochMs;
}

/**
 * Dynamic updates (RFC 2136), each signed with its zone's key (RFC 8945). A repeated request gets the same reply and
 * changes nothing, for as long as its signature's time is accepted.
 */
export function createUpdateExchange(zones: Updatable): (message: Buffer) => Buffer {
  const writer = new MessageWriter();
  const answered = new Map<string, { reply: Buffer; untilMs: EpochMs }>();

  function write(message: Buffer, update: UpdateMessage | null, { rcode, reason }: UpdateResult): Buffer {
    const questionEnd = update?.zoneEnd ?? HEADER_OCTETS;
    const flags = 0x8000 | (message.readUInt16BE(2) & 0x7800) | RCODES[rcode];
    const name = update?.zone.name ?? '';
    writer.begin({ query: message, questionEnd, name, flags, limit: MESSAGE_OCTETS_MAX, reserved: 0 });
    if (update?.edns === true) {
      const detail = reason === undefined ? undefined : { code: DETAIL_CODES.other, text: asciiText(reason) };
      const opt = { udpOctetsMax: MESSAGE_OCTETS_MAX, extendedRcode: 0, dnssecOk: false, cookie: null };
      writer.opt({ ...opt, ...(detail !== undefined && { detail }) });
    }
    return writer.finish();
  }

  function remember(mac: string, reply: Buffer, untilMs: EpochMs): void {
    const nowMs = zones.realNow();
    for (const [oldest, { untilMs }] of answered) {
      if (answered.size < REPLIES_MAX && untilMs > nowMs) break;
      answered.delete(oldest);
    }
    answered.set(mac, { reply, untilMs });
  }

  return (message) => {
    const update = readUpdate(message);
    if (update === null) return write(message, null, { rcode: 'FORMERR' });
    if (update === 'too many') return write(message, null, { rcode: 'REFUSED' });
    const { zone, tsig } = update;
    if (tsig === null) return write(message, update, { rcode: 'REFUSED', reason: UNSIGNED });
    const signature = checkTsig(message, tsig, zones.secretOf(tsig.key), zones.realNow());
    if (signature.kind === 'malformed') return write(message, null, { rcode: 'FORMERR' });
    if (signature.kind === 'refused') return signature.sign(write(message, update, { rcode: 'NOTAUTH' }));
    const mac = tsig.mac.toString('latin1');
    const before = answered.get(mac);
    if (before !== undefined) return before.reply;
    const reply = signature.sign(write(message, update, resultOf(update)));
    remember(mac, reply, (tsig.timeSeconds + tsig.fudgeSeconds) * 1000);
    return reply;

    function resultOf(asked: UpdateMessage): UpdateResult {
      if (zone.type !== TYPE_CODES.SOA) return { rcode: 'FORMERR' };
      if (!zones.hasZone(zone.name)) return { rcode: 'NOTAUTH' };
      // A key is valid only for the zone of the same name.
      if (tsig?.key !== zone.name) return { rcode: 'REFUSED', reason: UNSIGNED };
      return zones.apply(asked);
    }
  };
}

const UNSIGNED = 'An update must be signed with the key of its zone: vivarium zone update-key';

/** The limit of an extended error's text. */
const asciiText = (text: string): string => text.replace(/[^ -~]/g, "'").slice(0, 200);
