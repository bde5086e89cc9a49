import type { EpochMs } from '../base/clock.ts';
import type { RecordedBody, RecordedExchange, RecordedTimes } from '../model/exchange-record.ts';

/** What is kept of headers and bodies. */
export interface EntryRecord extends RecordedTimes {
  /** Name, value, name, value, … */
  requestFields: readonly string[];
  responseFields: readonly string[];
  requestBody: RecordedBody;
  responseBody: RecordedBody;
}

/** One exchange as it is kept. */
export interface Entry extends Omit<RecordedExchange, 'record' | 'startedMs'> {
  /** Rises by one with every entry of this run. */
  number: number;
  /** When it began, on the app's clock and in real time. */
  atMs: EpochMs;
  realAtMs: EpochMs;
  record: EntryRecord;
  /** The number of the entry that this one repeats. */
  replayOf: number | null;
}
