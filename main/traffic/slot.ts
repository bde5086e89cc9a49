import type { Decision, RateState, Refusal } from '../base/decision.ts';
import { BLOCK_BYTES, type Block } from './blocks.ts';
import { BODY_BYTES_MAX, type Entry, type EntryRecord, type RecordedBody, type RecordedExchange } from './entry.ts';

/**
 * A place for one entry, written over when its turn comes round: thousands of requests a second leave nothing behind for
 * the garbage collector to move. Headers and bodies are bytes in a block. `NaN` stands for a time that there was not.
 */
export class Slot {
  number = 0;
  atMs = 0.5;
  realAtMs = 0.5;
  durationMs = 0.5;
  handedMs = Number.NaN;
  firstByteMs = Number.NaN;
  authority: string | null = null;
  route: Entry['route'] = null;
  keyId: string | null = null;
  stage: Entry['stage'] = 'listener';
  scheme: Entry['scheme'] = 'http';
  httpVersion = '';
  method = '';
  target = '';
  address = '';
  port = 0;
  status: number | null = null;
  aborted = false;
  byProxy = false;
  isDecided = false;
  refusal: Refusal | null = null;
  rateLimit = 0;
  rateRemaining = 0;
  rateResetSeconds = 0;
  replayOf: number | null = null;
  block: Block | null = null;
  /** Where in the block its bytes begin: the two heads, then the two bodies, one after the other. */
  start = 0;
  requestHeadLength = 0;
  responseHeadLength = 0;
  requestBodyLength = 0;
  responseBodyLength = 0;
  requestBytes = 0;
  responseBytes = 0;
}

type Handed = NonNullable<RecordedExchange['record']>;

/** What separates header fields in a block; no field has it (RFC 9110, section 5.5). */
const SEPARATOR = '\n';

/** Heads are Latin-1, as Node reads and writes them. They are bounded by the listeners; what would not fit is cut. */
const HEAD_BYTES_MAX = BLOCK_BYTES / 4;

/** A character of a JavaScript string takes three bytes of UTF-8 at most. */
const UTF8_BYTES_MAX = 3;

/** The room that what an exchange keeps may take, in bytes. */
export function roomFor({ requestFields, responseHead, requestBody, responseBody }: Handed): number {
  let fields = 0;
  for (const text of requestFields) fields += text.length + 1;
  return (
    Math.min(HEAD_BYTES_MAX, fields) +
    Math.min(HEAD_BYTES_MAX, responseHead.length) +
    Math.min(BODY_BYTES_MAX, lengthOf(requestBody)) +
    Math.min(BODY_BYTES_MAX, lengthOf(responseBody))
  );
}

function lengthOf({ chunks, encoding }: RecordedBody): number {
  let length = 0;
  for (const chunk of chunks) {
    length += chunk.length * (typeof chunk === 'string' && encoding !== 'latin1' ? UTF8_BYTES_MAX : 1);
  }
  return length;
}

/** Writes an exchange into its place; `block` has room for it. */
export function fillSlot(slot: Slot, exchange: RecordedExchange, record: Handed, block: Block): void {
  // Most requests are for whom the one before in this place was for: the text that is kept stays the same.
  if (slot.authority !== exchange.authority) slot.authority = exchange.authority;
  slot.route = exchange.route;
  slot.keyId = exchange.keyId;
  slot.stage = exchange.stage;
  slot.scheme = exchange.scheme;
  if (slot.httpVersion !== exchange.httpVersion) slot.httpVersion = exchange.httpVersion;
  slot.method = exchange.method;
  if (slot.target !== exchange.target) slot.target = exchange.target;
  slot.address = exchange.address;
  slot.port = exchange.port;
  slot.status = exchange.status;
  slot.aborted = exchange.aborted;
  slot.byProxy = exchange.byProxy;
  slot.durationMs = exchange.durationMs;
  slot.handedMs = record.handedMs ?? Number.NaN;
  slot.firstByteMs = record.firstByteMs ?? Number.NaN;
  slot.replayOf = null;
  fillDecision(slot, exchange.decision);
  slot.block = block;
  slot.start = block.used;
  slot.requestHeadLength = writeText(block, record.requestFields.join(SEPARATOR), 'latin1', HEAD_BYTES_MAX);
  slot.responseHeadLength = writeText(block, record.responseHead, 'latin1', HEAD_BYTES_MAX);
  slot.requestBodyLength = writeBody(block, record.requestBody);
  slot.responseBodyLength = writeBody(block, record.responseBody);
  slot.requestBytes = record.requestBody.bytes;
  slot.responseBytes = record.responseBody.bytes;
}

function fillDecision(slot: Slot, decision: Decision | null): void {
  slot.isDecided = decision !== null;
  slot.refusal = decision === null ? null : decision.refusal;
  if (decision === null) return;
  slot.rateLimit = decision.rate.limit;
  slot.rateRemaining = decision.rate.remaining;
  slot.rateResetSeconds = decision.rate.resetSeconds;
}

function writeText(block: Block, text: string, encoding: 'latin1' | 'utf8', bytesMax: number): number {
  const written = text === '' ? 0 : block.buffer.write(text, block.used, bytesMax, encoding);
  block.used += written;
  return written;
}

function writeBody(block: Block, { chunks, encoding = 'utf8' }: RecordedBody): number {
  let length = 0;
  for (const chunk of chunks) {
    const room = BODY_BYTES_MAX - length;
    if (typeof chunk === 'string') length += writeText(block, chunk, encoding, room);
    else {
      const copied = chunk.copy(block.buffer, block.used, 0, room);
      block.used += copied;
      length += copied;
    }
  }
  return length;
}

/** An entry as it stands in a place. What it keeps as bytes is read when it is asked for, and is gone with the place. */
export class KeptEntry implements Entry {
  readonly number: number;
  readonly atMs: number;
  readonly realAtMs: number;
  readonly durationMs: number;
  readonly authority: string | null;
  readonly route: Entry['route'];
  readonly keyId: string | null;
  readonly stage: Entry['stage'];
  readonly scheme: Entry['scheme'];
  readonly httpVersion: string;
  readonly method: string;
  readonly target: string;
  readonly address: string;
  readonly port: number;
  readonly status: number | null;
  readonly aborted: boolean;
  readonly byProxy: boolean;
  readonly decision: Decision | null;
  readonly record: EntryRecord;
  readonly #slot: Slot;
  #replayOf: number | null;

  constructor(slot: Slot) {
    this.#slot = slot;
    this.number = slot.number;
    this.atMs = slot.atMs;
    this.realAtMs = slot.realAtMs;
    this.durationMs = slot.durationMs;
    this.authority = slot.authority;
    this.route = slot.route;
    this.keyId = slot.keyId;
    this.stage = slot.stage;
    this.scheme = slot.scheme;
    this.httpVersion = slot.httpVersion;
    this.method = slot.method;
    this.target = slot.target;
    this.address = slot.address;
    this.port = slot.port;
    this.status = slot.status;
    this.aborted = slot.aborted;
    this.byProxy = slot.byProxy;
    this.decision = slot.isDecided ? { refusal: slot.refusal, rate: rateOf(slot) } : null;
    this.record = new KeptRecord(slot);
    this.#replayOf = slot.replayOf;
  }

  /** Known a moment after the entry is there. */
  get replayOf(): number | null {
    return this.#slot.number === this.number ? this.#slot.replayOf : this.#replayOf;
  }
}

const rateOf = ({ rateLimit, rateRemaining, rateResetSeconds }: Slot): RateState => ({
  limit: rateLimit,
  remaining: rateRemaining,
  resetSeconds: rateResetSeconds,
});

class KeptRecord implements EntryRecord {
  readonly handedMs: number | null;
  readonly firstByteMs: number | null;
  readonly #slot: Slot;
  readonly #number: number;
  readonly #requestBytes: number;
  readonly #responseBytes: number;

  constructor(slot: Slot) {
    this.#slot = slot;
    this.#number = slot.number;
    this.#requestBytes = slot.requestBytes;
    this.#responseBytes = slot.responseBytes;
    this.handedMs = Number.isNaN(slot.handedMs) ? null : slot.handedMs;
    this.firstByteMs = Number.isNaN(slot.firstByteMs) ? null : slot.firstByteMs;
  }

  get requestFields(): readonly string[] {
    const text = this.#bytes(0, this.#slot.requestHeadLength).toString('latin1');
    return text === '' ? [] : text.split(SEPARATOR);
  }

  get responseFields(): readonly string[] {
    const { requestHeadLength, responseHeadLength } = this.#slot;
    return fieldsOf(this.#bytes(requestHeadLength, responseHeadLength).toString('latin1'));
  }

  get requestBody(): RecordedBody {
    const { requestHeadLength, responseHeadLength, requestBodyLength } = this.#slot;
    return bodyOf(this.#bytes(requestHeadLength + responseHeadLength, requestBodyLength), this.#requestBytes);
  }

  get responseBody(): RecordedBody {
    const { requestHeadLength, responseHeadLength, requestBodyLength, responseBodyLength } = this.#slot;
    const before = requestHeadLength + responseHeadLength + requestBodyLength;
    return bodyOf(this.#bytes(before, responseBodyLength), this.#responseBytes);
  }

  #bytes(from: number, length: number): Buffer {
    const { block, start, number } = this.#slot;
    // Another entry has this place by now.
    if (block === null || number !== this.#number) return Buffer.alloc(0);
    return block.buffer.subarray(start + from, start + from + length);
  }
}

const bodyOf = (bytes: Buffer, all: number): RecordedBody => ({
  chunks: bytes.length === 0 ? [] : [bytes],
  bytes: all,
});

/** The header fields of a head: name, value, name, value, … */
function fieldsOf(head: string): string[] {
  return head
    .split('\r\n')
    .slice(1)
    .filter((line) => line !== '')
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
}
