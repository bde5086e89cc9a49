import type { EpochMs } from '../base/clock.ts';
import type { RecordedExchange } from '../model/exchange-record.ts';
import type { Entry } from './entry.ts';
import { readHead } from './spans.ts';

/** An exchange that has not ended, as an entry of what it is so far; null while recording is off. */
export function runningEntry(exchange: RecordedExchange, now: { now: EpochMs; realNow: EpochMs }): Entry | null {
  const { record, durationMs } = exchange;
  if (record === null) return null;
  const { responseHead, ...kept } = record;
  return {
    ...exchange,
    number: 0,
    running: true,
    atMs: now.now - durationMs,
    realAtMs: now.realNow - durationMs,
    replayOf: null,
    record: { ...kept, responseFields: readHead(Buffer.from(responseHead, 'latin1')) },
  };
}
