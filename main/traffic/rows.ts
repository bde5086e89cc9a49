import { type Block, Recent, type Span, type Written } from './spans.ts';
import type { RecordedExchange } from '../model/exchange-record.ts';
import type { Refusal } from '../model/rate-decision.ts';

/** Compares the most variable fields first. */
const hasSubject = (subject: Subject, exchange: RecordedExchange): boolean =>
  subject.target === exchange.target &&
  subject.method === exchange.method &&
  subject.authority === exchange.authority &&
  subject.keyId === exchange.keyId &&
  subject.route === exchange.route &&
  subject.decided === (exchange.decision !== null) &&
  subject.refusal === refusalOf(exchange) &&
  subject.address === exchange.address &&
  subject.aborted === exchange.aborted &&
  subject.byProxy === exchange.byProxy &&
  subject.fault?.breakId === exchange.fault?.breakId &&
  subject.stage === exchange.stage &&
  subject.scheme === exchange.scheme &&
  subject.httpVersion === exchange.httpVersion;

/** The non-numeric facts of an exchange. Immutable, because equal entries share one. */
type Subject = Readonly<ReturnType<typeof subjectOf>>;

const subjectOf = (exchange: RecordedExchange) => ({
  authority: exchange.authority,
  route: exchange.route,
  keyId: exchange.keyId,
  stage: exchange.stage,
  scheme: exchange.scheme,
  httpVersion: exchange.httpVersion,
  method: exchange.method,
  target: exchange.target,
  address: exchange.address,
  aborted: exchange.aborted,
  byProxy: exchange.byProxy,
  fault: exchange.fault,
  decided: exchange.decision !== null,
  refusal: refusalOf(exchange),
});

const refusalOf = ({ decision }: RecordedExchange): Refusal | null => (decision === null ? null : decision.refusal);

/** The columns of a row's numbers. `NaN` means absent. */
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
  rateResetAtMs: 10,
  replayOf: 11,
  requestBytes: 12,
  responseBytes: 13,
  /** Offsets in the block; the next column holds the length. */
  requestHead: 14,
  responseHead: 16,
  requestBody: 18,
  responseBody: 20,
  begun: 22,
  connection: 23,
  place: 24,
} as const;

export type Column = (typeof COLUMN)[keyof typeof COLUMN];

const WIDTH = 25;

const NO_BYTES = Buffer.alloc(0);

/**
 * A ring of rows for entries, overwritten in turn, which leaves the garbage collector nothing to move at thousands of
 * requests per second. Numbers are in one typed array, headers and bodies in blocks, and the remaining fields in
 * objects shared between entries.
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

  /** Writes entry `number` over the previous one in its row; `written` locates its bytes. */
  write(number: number, atMs: number, realAtMs: number, exchange: RecordedExchange, written: Written): void {
    const { record, decision } = exchange;
    if (record === null) return;
    const { block } = written;
    const index = number % this.#count;
    // Shares subjects, because every new reference adds work for the garbage collector.
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
    numbers[row + COLUMN.connection] = exchange.connection;
    numbers[row + COLUMN.place] = exchange.place;
    numbers[row + COLUMN.status] = exchange.status ?? Number.NaN;
    numbers[row + COLUMN.replayOf] = Number.NaN;
    numbers[row + COLUMN.begun] = exchange.begun ?? Number.NaN;
    numbers[row + COLUMN.requestBytes] = record.requestBody.bytes;
    numbers[row + COLUMN.responseBytes] = record.responseBody.bytes;
    if (decision !== null) {
      numbers[row + COLUMN.rateLimit] = decision.rate.limit;
      numbers[row + COLUMN.rateRemaining] = decision.rate.remaining;
      numbers[row + COLUMN.rateResetAtMs] = decision.rate.resetAtMs;
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

  /** Whether the row still holds this entry. */
  has(number: number): boolean {
    return this.number(number, COLUMN.number) === number;
  }

  /** The value of a column of entry `number`. */
  number(number: number, column: Column): number {
    return this.#numbers[this.#row(number) + column] as number;
  }

  /** The same; null if absent. */
  numberOrNull(number: number, column: Column): number | null {
    const found = this.number(number, column);
    return Number.isNaN(found) ? null : found;
  }

  subject(number: number): Subject {
    return this.#subjects[number % this.#count] as Subject;
  }

  /** The recorded bytes of entry `number`; empty once it is dropped. Valid until the next entry is written. */
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
