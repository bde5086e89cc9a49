import type { Decision } from '../model/rate-decision.ts';
import type { RecordedBody, RecordedFrames } from '../model/exchange-record.ts';
import type { Entry, EntryRecord } from './entry.ts';
import { COLUMN, type Column, type Rows } from './rows.ts';
import { readFields, readHead } from './spans.ts';

/** A view of entry `number` in its row. Its bytes are read on demand, and are lost when the row is overwritten. */
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
  readonly fault: Entry['fault'];
  readonly decision: Decision | null;
  readonly begun: number | null;
  readonly running = false;
  readonly record: EntryRecord;
  readonly #rows: Rows;
  readonly #replayOf: number | null;

  constructor(rows: Rows, number: number, frames: RecordedFrames | null) {
    const subject = rows.subject(number);
    this.number = number;
    this.atMs = rows.number(number, COLUMN.atMs);
    this.realAtMs = rows.number(number, COLUMN.realAtMs);
    this.durationMs = rows.number(number, COLUMN.durationMs);
    this.authority = subject.authority;
    this.route = subject.route;
    this.keyId = subject.keyId;
    this.stage = subject.stage;
    this.scheme = subject.scheme;
    this.httpVersion = subject.httpVersion;
    this.method = subject.method;
    this.target = subject.target;
    this.address = subject.address;
    this.port = rows.number(number, COLUMN.port);
    this.status = rows.numberOrNull(number, COLUMN.status);
    this.aborted = subject.aborted;
    this.byProxy = subject.byProxy;
    this.fault = subject.fault;
    this.decision = subject.decided ? decisionOf(rows, number) : null;
    this.begun = rows.numberOrNull(number, COLUMN.begun);
    this.record = new KeptRecord(rows, number, frames);
    this.#rows = rows;
    this.#replayOf = rows.numberOrNull(number, COLUMN.replayOf);
  }

  /** Set shortly after the entry is written. */
  get replayOf(): number | null {
    const { number } = this;
    return this.#rows.has(number) ? this.#rows.numberOrNull(number, COLUMN.replayOf) : this.#replayOf;
  }
}

const decisionOf = (rows: Rows, number: number): Decision => ({
  refusal: rows.subject(number).refusal,
  rate: {
    limit: rows.number(number, COLUMN.rateLimit),
    remaining: rows.number(number, COLUMN.rateRemaining),
    resetAtMs: rows.number(number, COLUMN.rateResetAtMs),
  },
});

class KeptRecord implements EntryRecord {
  readonly handedMs: number | null;
  readonly firstByteMs: number | null;
  readonly frames: RecordedFrames | null;
  readonly #rows: Rows;
  readonly #number: number;
  readonly #requestBytes: number;
  readonly #responseBytes: number;

  constructor(rows: Rows, number: number, frames: RecordedFrames | null) {
    this.frames = frames;
    this.handedMs = rows.numberOrNull(number, COLUMN.handedMs);
    this.firstByteMs = rows.numberOrNull(number, COLUMN.firstByteMs);
    this.#rows = rows;
    this.#number = number;
    this.#requestBytes = rows.number(number, COLUMN.requestBytes);
    this.#responseBytes = rows.number(number, COLUMN.responseBytes);
  }

  get requestFields(): readonly string[] {
    return readFields(this.#bytes(COLUMN.requestHead));
  }

  get responseFields(): readonly string[] {
    return readHead(this.#bytes(COLUMN.responseHead));
  }

  get requestBody(): RecordedBody {
    return bodyOf(this.#bytes(COLUMN.requestBody), this.#requestBytes);
  }

  get responseBody(): RecordedBody {
    return bodyOf(this.#bytes(COLUMN.responseBody), this.#responseBytes);
  }

  #bytes(column: Column): Buffer {
    return this.#rows.bytes(this.#number, column);
  }
}

const bodyOf = (bytes: Buffer, all: number): RecordedBody => ({
  chunks: bytes.length === 0 ? [] : [bytes],
  bytes: all,
});
