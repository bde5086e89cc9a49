import type { EpochMs } from '../base/clock.ts';
import type { RecordedBody, RecordedExchange, RecordedFrames, RecordedTimes } from '../model/exchange-record.ts';

/** The recorded headers and bodies. */
export interface EntryRecord extends RecordedTimes {
  /** Name, value, name, value, … */
  requestFields: readonly string[];
  responseFields: readonly string[];
  requestBody: RecordedBody;
  responseBody: RecordedBody;
  frames: RecordedFrames | null;
}

/** A recorded exchange. */
export interface Entry extends Omit<RecordedExchange, 'record' | 'startedMs'> {
  /** Increases by one with every entry of this run. */
  number: number;
  /** When it began, on the app's clock and in real time. */
  atMs: EpochMs;
  realAtMs: EpochMs;
  record: EntryRecord;
  /** Whether it has not ended. It has no number then. */
  running: boolean;
  /** The number of the entry that this one replays. */
  replayOf: number | null;
}

/** What answered: the proxy itself, or the target of the route. */
export const answererOf = ({ byProxy, stage, route }: Entry): 'proxy' | 'api' | 'upstream' =>
  byProxy || stage !== 'target' || route === null ? 'proxy' : route.target.kind;

/** What a filter reads of an entry beside its plain fields. */
export const MATCHED = {
  answererOf,
  startedMs: ({ realAtMs }: Entry): number => realAtMs,
  environmentOf: ({ route }: Entry): string | undefined => route?.environment,
  isRefused: ({ decision }: Entry): boolean => decision !== null && decision.refusal !== null,
  isReplay: ({ replayOf }: Entry): boolean => replayOf !== null,
};

/**
 * Ids of one run's entries, such as `trf_mi8x2k1a_12`. Numbers restart with every run but ids do not, so a link from an
 * earlier run never leads to a different request.
 */
export interface EntryIds {
  idOf(number: number): string;
  /** The id of an entry that was listed while it ran, then and later: `trf_mi8x2k1a_r3`. */
  idOfBegun(begun: number): string;
  begunOf(id: string): number | null;
  /** Null if the text is not an id, or belongs to another run. */
  numberOf(id: string): number | null;
}

/** `startedAtMs`: real time, unique among the runs on one data folder. */
export function createEntryIds(startedAtMs: EpochMs): EntryIds {
  const prefix = `trf_${Math.floor(startedAtMs).toString(36)}_`;
  const read = (id: string, before: string): number | null => {
    const number = id.startsWith(before) ? id.slice(before.length) : '';
    return /^[1-9][0-9]{0,14}$/.test(number) ? Number(number) : null;
  };
  return {
    idOf: (number) => `${prefix}${number}`,
    idOfBegun: (begun) => `${prefix}r${begun}`,
    numberOf: (id) => read(id, prefix),
    begunOf: (id) => read(id, `${prefix}r`),
  };
}
