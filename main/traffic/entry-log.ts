import type { RateState } from '../model/rate-decision.ts';
import type { RecordedBody, RecordedExchange, RecordedFrames } from '../model/exchange-record.ts';
import type { Entry, EntryRecord } from './entry.ts';
import { createReserve, projectOf } from './reserve.ts';
import { COLUMN, type Column, Rows } from './rows.ts';
import { type Block, BLOCK_BYTES, createBlocks, readFields, readHead, SpanWriter } from './spans.ts';

/** Limit on entries; the page remains responsive with this many. */
export const ENTRIES_MAX = 10_000;

/** Limit on headers and bodies of all entries together; the oldest are dropped first. */
export const BYTES_MAX = 16 * BLOCK_BYTES;

/** Limit on ended WebSockets whose frames are kept; the oldest are dropped. */
const FRAMED_MAX = 50;

/** The entries: those of a snapshot, then those in the ring, and what the reserve keeps of both. */
export class EntryLog {
  readonly #rows = new Rows(ENTRIES_MAX);
  readonly #blocks = createBlocks(BYTES_MAX / BLOCK_BYTES);
  readonly #spans = new SpanWriter((bytes) => this.#openBlock(bytes));
  readonly #reserve = createReserve();
  /** By number; few exchanges are WebSockets, or long enough to be listed while they run. */
  readonly #frames = new Map<number, RecordedFrames>();
  readonly #begun = new Map<number, number>();
  /** Entries of a snapshot, which are older than those in the ring, and are dropped first. */
  #restored: Entry[] = [];
  #next = 1;
  #oldest = 1;
  /** Changes when restored entries take over the numbers. */
  #generation = 0;

  get next(): number {
    return this.#next;
  }

  get size(): number {
    return this.#inRing + this.#restored.length + this.#reserve.size();
  }

  /** Writes an exchange that began at `atMs` on the app's clock. */
  add(exchange: RecordedExchange, atMs: number, realAtMs: number): void {
    const { record, begun } = exchange;
    if (record === null) return;
    const number = this.#next;
    if (this.#inRing + this.#restored.length >= ENTRIES_MAX) this.#forgetOldest();
    const written = this.#spans.write(record);
    written.block.newest = number;
    this.#rows.write(number, atMs, realAtMs, exchange, written);
    if (begun !== null) remember(this.#begun, begun, number, ENTRIES_MAX);
    if (record.frames !== null) remember(this.#frames, number, record.frames, FRAMED_MAX);
    this.#next += 1;
    this.#reserve.count(projectOf(exchange));
  }

  get(number: number): Entry | null {
    if (number >= this.#oldest && number < this.#next) return this.#at(number);
    return this.#restored.find((entry) => entry.number === number) ?? this.#reserve.get(number);
  }

  *newestFirst(before = Number.POSITIVE_INFINITY): Generator<Entry, void, void> {
    const read = this.#generation;
    for (let number = Math.min(before, this.#next) - 1; number >= this.#oldest; number--) {
      yield this.#at(number);
      if (this.#generation !== read) return;
    }
    const older = [...this.#reserve.entries(), ...this.#restored].reverse();
    for (const entry of older) if (entry.number < before) yield entry;
  }

  *oldestFirst(after = 0): Generator<Entry, void, void> {
    const end = this.#next;
    const read = this.#generation;
    for (const entry of [...this.#reserve.entries(), ...this.#restored]) if (entry.number > after) yield entry;
    for (let number = Math.max(after + 1, this.#oldest); number < end && this.#generation === read; number++) {
      if (number >= this.#oldest) yield this.#at(number);
    }
  }

  /** The number of an entry that was listed while it ran. */
  numberOf(begun: number): number | null {
    return this.#begun.get(begun) ?? null;
  }

  /** The newest entry of the connection from `port`, of those numbered `since` or later. */
  from(port: number, since: number): Entry | null {
    for (let number = this.#next - 1; number >= Math.max(since, this.#oldest); number--) {
      if (this.#rows.number(number, COLUMN.port) === port) return this.#at(number);
    }
    return null;
  }

  dropped(projectId?: string): number {
    return this.#reserve.dropped(projectId);
  }

  markReplay(number: number, of: number): void {
    this.#rows.markReplay(number, of);
  }

  clear(): void {
    this.#restored = [];
    this.#reserve.clear();
    this.#frames.clear();
    this.#begun.clear();
    this.#rows.clear();
    this.#spans.forget();
    this.#oldest = this.#next;
    this.#blocks.release(this.#oldest);
  }

  restore(entries: readonly Entry[]): void {
    this.clear();
    this.#generation += 1;
    this.#restored = [...entries];
    for (const entry of entries) this.#reserve.count(projectOf(entry));
    this.#next = (entries.at(-1)?.number ?? this.#next - 1) + 1;
    this.#oldest = this.#next;
    while (this.#restored.length > ENTRIES_MAX) this.#forgetOldest();
  }

  get #inRing(): number {
    return this.#next - this.#oldest;
  }

  #at(number: number): Entry {
    return keptEntry(this.#rows, number, this.#frames.get(number) ?? null);
  }

  #forgetOldest(): void {
    const first = this.#restored.shift();
    if (first !== undefined) {
      if (this.#reserve.release(projectOf(first))) this.#reserve.keep(first);
      return;
    }
    if (this.#reserve.release(projectOf(this.#rows.subject(this.#oldest)))) this.#reserve.keep(this.#at(this.#oldest));
    this.#oldest += 1;
    this.#blocks.release(this.#oldest);
  }

  #openBlock(bytes: number): Block {
    for (;;) {
      const block = this.#blocks.open(bytes);
      if (block !== null) return block;
      this.#forgetOldest();
    }
  }
}

function remember<Value>(map: Map<number, Value>, key: number, value: Value, countMax: number): void {
  map.set(key, value);
  if (map.size <= countMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** A view of entry `number` in its row. Its bytes are read on demand, and are lost when the row is overwritten. */
function keptEntry(rows: Rows, number: number, frames: RecordedFrames | null): Entry {
  const { decided, refusal, ...subject } = rows.subject(number);
  const replayOf = rows.numberOrNull(number, COLUMN.replayOf);
  return {
    ...subject,
    number,
    atMs: rows.number(number, COLUMN.atMs),
    realAtMs: rows.number(number, COLUMN.realAtMs),
    durationMs: rows.number(number, COLUMN.durationMs),
    port: rows.number(number, COLUMN.port),
    connection: rows.number(number, COLUMN.connection),
    place: rows.number(number, COLUMN.place),
    status: rows.numberOrNull(number, COLUMN.status),
    decision: decided ? { refusal, rate: rateOf(rows, number) } : null,
    begun: rows.numberOrNull(number, COLUMN.begun),
    running: false,
    record: new KeptRecord(rows, number, frames),
    /** Set shortly after the entry is written. */
    get replayOf() {
      return rows.has(number) ? rows.numberOrNull(number, COLUMN.replayOf) : replayOf;
    },
  };
}

const rateOf = (rows: Rows, number: number): RateState => ({
  limit: rows.number(number, COLUMN.rateLimit),
  remaining: rows.number(number, COLUMN.rateRemaining),
  resetAtMs: rows.number(number, COLUMN.rateResetAtMs),
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
