import type { EpochMs } from '../base/clock.ts';
import type { RecordedBody, RecordedExchange, RecordedTimes } from '../model/exchange-record.ts';

/** The recorded headers and bodies. */
export interface EntryRecord extends RecordedTimes {
  /** Name, value, name, value, … */
  requestFields: readonly string[];
  responseFields: readonly string[];
  requestBody: RecordedBody;
  responseBody: RecordedBody;
}

/** A recorded exchange. */
export interface Entry extends Omit<RecordedExchange, 'record' | 'startedMs'> {
  /** Increases by one with every entry of this run. */
  number: number;
  /** When it began, on the app's clock and in real time. */
  atMs: EpochMs;
  realAtMs: EpochMs;
  record: EntryRecord;
  /** The number of the entry that this one replays. */
  replayOf: number | null;
}

/** What answered: the proxy itself, or the target of the route. */
export const answererOf = ({ byProxy, stage, route }: Entry): 'proxy' | 'api' | 'upstream' =>
  byProxy || stage !== 'target' || route === null ? 'proxy' : route.target.kind;

/**
 * Ids of one run's entries, such as `trf_mi8x2k1a_12`. Numbers restart with every run but ids do not, so a link from an
 * earlier run never leads to a different request.
 */
export interface EntryIds {
  idOf(number: number): string;
  /** Null if the text is not an id, or belongs to another run. */
  numberOf(id: string): number | null;
}

/** `startedAtMs`: real time, unique among the runs on one data folder. */
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
