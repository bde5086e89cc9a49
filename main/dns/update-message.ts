import type { DomainName } from '../model/dns-name.ts';
import type { Question } from './answer.ts';
import { HEADER_OCTETS } from './message-guard.ts';
import { CLASS_ANY, CLASS_NONE, QUESTION_TYPES, type RecordData } from './record.ts';
import { SignedReader, type Tsig } from './tsig.ts';
import { MessageFault } from './wire-reader.ts';

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

/** Whether a message is a request of the opcode UPDATE. */
export const isUpdate = (message: Buffer): boolean =>
  message.length >= HEADER_OCTETS && message.readUInt16BE(2) >>> 11 === OPCODE_UPDATE;

/** Decodes an UPDATE (RFC 2136 §2); null when malformed, `too many` with more than 1,000 records. */
export function readUpdate(message: Buffer): UpdateMessage | 'too many' | null {
  try {
    return new UpdateReader(message).read();
  } catch (error) {
    if (error instanceof MessageFault || error instanceof RangeError) return null;
    throw error;
  }
}

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

  /** Glue is no part of an update here (RFC 2136 §2.6 lets servers ignore it). TSIG must be last (RFC 8945 §5.1). */
  #additional(read: UpdateMessage, last: boolean): void {
    const { type, tsig } = this.additional();
    if (type === QUESTION_TYPES.OPT) read.edns = true;
    if (tsig !== null && !last) throw new MessageFault();
    read.tsig = tsig;
  }
}
