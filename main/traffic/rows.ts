import type { Block } from './blocks.ts';
import type { RecordedExchange } from '../model/exchange-record.ts';
import { Recent } from './recent.ts';
import type { Span, Written } from './spans.ts';
import { hasSubject, type Subject, subjectOf } from './subject.ts';

/** Where in its row a number of an entry stands. `NaN` stands for what there was not. */
export const COLUMN = {
  number: 0,
  atMs: 1,
  realAtMs: 2,
  durationMs: 3,
  handedMs: 4,
  firstByteMs: 5,
  port: 6,
  status: 7,
  rateLimit: 8,
  rateRemaining: 9,
  rateResetSeconds: 10,
  replayOf: 11,
  requestBytes: 12,
  responseBytes: 13,
  /** Of these, where they begin in their block; their length is in the column after. */
  requestHead: 14,
  responseHead: 16,
  requestBody: 18,
  responseBody: 20,
} as const;

export type Column = (typeof COLUMN)[keyof typeof COLUMN];

const WIDTH = 22;

const NO_BYTES = Buffer.alloc(0);

/**
 * Rows for entries, each written over when its turn comes round: thousands of requests a second leave nothing behind
 * for the garbage collector to move. Numbers stand in one array, headers and bodies as bytes in blocks, and what is left
 * is shared by all entries for which it is the same.
 */
export class Rows {
  readonly #count: number;
  readonly #numbers: Float64Array;
  #subjects: Subject[] = [];
  #blocks: Block[] = [];
  readonly #recent = new Recent<Subject>();

  constructor(count: number) {
    this.#count = count;
    this.#numbers = new Float64Array(count * WIDTH);
  }

  /** Writes entry `number` over the one that had its row; `written` is where its bytes are. */
  write(number: number, atMs: number, realAtMs: number, exchange: RecordedExchange, written: Written): void {
    const { record, decision } = exchange;
    if (record === null) return;
    const { block } = written;
    const index = number % this.#count;
    // A reference that is written is one more thing for the garbage collector to look at.
    const subject = this.#recent.find(exchange, hasSubject) ?? this.#recent.add(subjectOf(exchange));
    if (this.#subjects[index] !== subject) this.#subjects[index] = subject;
    if (this.#blocks[index] !== block) this.#blocks[index] = block;
    const numbers = this.#numbers;
    const row = index * WIDTH;
    numbers[row + COLUMN.number] = number;
    numbers[row + COLUMN.atMs] = atMs;
    numbers[row + COLUMN.realAtMs] = realAtMs;
    numbers[row + COLUMN.durationMs] = exchange.durationMs;
    numbers[row + COLUMN.handedMs] = record.handedMs ?? Number.NaN;
    numbers[row + COLUMN.firstByteMs] = record.firstByteMs ?? Number.NaN;
    numbers[row + COLUMN.port] = exchange.port;
    numbers[row + COLUMN.status] = exchange.status ?? Number.NaN;
    numbers[row + COLUMN.replayOf] = Number.NaN;
    numbers[row + COLUMN.requestBytes] = record.requestBody.bytes;
    numbers[row + COLUMN.responseBytes] = record.responseBody.bytes;
    if (decision !== null) {
      numbers[row + COLUMN.rateLimit] = decision.rate.limit;
      numbers[row + COLUMN.rateRemaining] = decision.rate.remaining;
      numbers[row + COLUMN.rateResetSeconds] = decision.rate.resetSeconds;
    }
    this.#keep(row + COLUMN.requestHead, written.requestHead);
    this.#keep(row + COLUMN.responseHead, written.responseHead);
    this.#keep(row + COLUMN.requestBody, written.requestBody);
    this.#keep(row + COLUMN.responseBody, written.responseBody);
  }

  #keep(at: number, { start, length }: Span): void {
    this.#numbers[at] = start;
    this.#numbers[at + 1] = length;
  }

  /** Whether the entry stands in its row still, and no later one. */
  has(number: number): boolean {
    return this.number(number, COLUMN.number) === number;
  }

  /** What stands in the row of entry `number`. */
  number(number: number, column: Column): number {
    return this.#numbers[this.#row(number) + column] as number;
  }

  /** The same; null where there is nothing. */
  numberOrNull(number: number, column: Column): number | null {
    const found = this.number(number, column);
    return Number.isNaN(found) ? null : found;
  }

  subject(number: number): Subject {
    return this.#subjects[number % this.#count] as Subject;
  }

  /** The bytes that are kept of entry `number`; none once it is gone. Good until the next entry is written. */
  bytes(number: number, column: Column): Buffer {
    const block = this.#blocks[number % this.#count];
    if (block === undefined || !this.has(number)) return NO_BYTES;
    const at = this.#row(number) + column;
    const start = this.#numbers[at] as number;
    return block.buffer.subarray(start, start + (this.#numbers[at + 1] as number));
  }

  markReplay(number: number, of: number): void {
    if (this.has(number)) this.#numbers[this.#row(number) + COLUMN.replayOf] = of;
  }

  /** Forgets all. */
  clear(): void {
    this.#numbers.fill(0);
    this.#subjects = [];
    this.#blocks = [];
    this.#recent.forget();
  }

  #row(number: number): number {
    return (number % this.#count) * WIDTH;
  }
}
