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

/**
 * What the entries of one run are called: `trf_mi8x2k1a_12`. Numbers begin anew with every run, ids do not: what a link of an
 * earlier one leads to is gone, and no other request stands in its place.
 */
export interface EntryIds {
  idOf(number: number): string;
  /** Null for what is no id, and for those of other runs. */
  numberOf(id: string): number | null;
}

/** `startedAtMs`: real time, which no two runs over one data folder share. */
export function createEntryIds(startedAtMs: EpochMs): EntryIds {
  const prefix = `trf_${Math.floor(startedAtMs).toString(36)}_`;
  return {
    idOf: (number) => `${prefix}${number}`,
    numberOf(id) {
      const number = id.startsWith(prefix) ? id.slice(prefix.length) : '';
      return /^[1-9][0-9]{0,14}$/.test(number) ? Number(number) : null;
    },
  };
}
