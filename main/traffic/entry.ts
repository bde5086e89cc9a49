import type { EpochMs } from '../base/clock.ts';
import type { RateState, Refusal } from '../model/rate-decision.ts';
import type { RecordedBody, RecordedExchange, RecordedFrames, RecordedTimes } from '../model/exchange-record.ts';
import { readHead } from './spans.ts';

export interface EntryRecord extends RecordedTimes {
  /** Name, value, name, value, … */
  requestFields: readonly string[];
  responseFields: readonly string[];
  requestBody: RecordedBody;
  responseBody: RecordedBody;
  frames: RecordedFrames | null;
}

export interface Entry extends Omit<RecordedExchange, 'record' | 'startedMs' | 'decision'> {
  decision: { refusal: Pick<Refusal, 'code' | 'window'> | null; rate: RateState } | null;
  /** Increases by one with every entry of this run. */
  number: number;
  /** When it began, on the app's clock and in real time. */
  atMs: EpochMs;
  realAtMs: EpochMs;
  record: EntryRecord;
  /** Whether it has not ended; it has no number until then. */
  running: boolean;
  replayOf: number | null;
  /** Whether it came with a snapshot, which omitted secrets of its request. */
  withheld?: boolean;
}

/** The answerer: the proxy itself, or the target of the route. */
export const answererOf = ({ byProxy, stage, route }: Entry): 'proxy' | 'api' | 'provider' | 'upstream' =>
  byProxy || stage !== 'target' || route === null ? 'proxy' : route.target.kind;

/** Computed fields of an entry that a filter reads. */
export const MATCHED = {
  answererOf,
  startedMs: ({ realAtMs }: Entry): number => realAtMs,
  environmentOf: ({ route }: Entry): string | undefined => route?.environment,
  isRefused: ({ decision }: Entry): boolean => decision !== null && decision.refusal !== null,
  isForProvider: ({ route }: Entry): boolean => route?.target.kind === 'provider',
  isReplay: ({ replayOf }: Entry): boolean => replayOf !== null,
};

/** The id of an entry, as everything outside shows it. */
export const idOfEntry = (
  { begun, number }: Entry,
  { idOf, idOfBegun }: Pick<EntryIds, 'idOf' | 'idOfBegun'>,
): string => (begun === null ? idOf(number) : idOfBegun(begun, number));

/** Entries from this number on have ids with this prefix. */
interface Era {
  from: number;
  prefix: string;
}

/** The prefix, and the number of an entry or, after `r`, of a running one. */
const ID = /^(trf_[0-9a-z]{1,12}_)(r?)([1-9][0-9]{0,14})$/;

export const isEntryId = (text: string): boolean => ID.test(text);

/**
 * Ids of one run's entries, such as `trf_mi8x2k1a_12`. Numbers restart with every run but ids do not, so a link from an
 * earlier run never leads to a different request. Entries that came with a snapshot have the ids of their run.
 * @param startedAtMs real time, unique among the runs on one data folder
 */
export function createEntryIds(startedAtMs: EpochMs) {
  let began = Math.floor(startedAtMs);
  let current = prefixOf(began);
  let eras: Era[] = [];
  /** Restored entries that were listed while they ran. */
  let listed = new Map<string, number>();

  const prefixAt = (number: number): string => eras.findLast(({ from }) => number >= from)?.prefix ?? current;
  const read = (id: string) => {
    const [, prefix = '', running, digits] = ID.exec(id) ?? [];
    return { prefix, isRunning: running === 'r', number: Number(digits) };
  };

  return {
    idOf: (number: number): string => `${prefixAt(number)}${number}`,
    /**
     * The id of an entry that was listed while it ran, during the run and after it: `trf_mi8x2k1a_r3`. Without `number`,
     * it is still running.
     */
    idOfBegun: (begun: number, number: number = 0): string => `${number === 0 ? current : prefixAt(number)}r${begun}`,
    begunOf(id: string): number | null {
      const { prefix, isRunning, number } = read(id);
      return isRunning && prefix === current ? number : null;
    },
    /** Null if the text is not an id, or belongs to another run. */
    numberOf(id: string): number | null {
      const { prefix, isRunning, number } = read(id);
      if (isRunning) return listed.get(id) ?? null;
      return prefix !== '' && prefix === prefixAt(number) ? number : null;
    },
    /** Takes the ids of all restored entries, oldest first; later entries get a new prefix. */
    restore(entries: readonly { number: number; id: string }[], realNowMs: EpochMs): void {
      eras = [];
      listed = new Map();
      for (const { number, id } of entries) {
        const { prefix, isRunning } = read(id);
        if (isRunning) listed.set(id, number);
        // The first prefix also applies to earlier entries, which these may replay and which may be dropped already.
        if (eras.at(-1)?.prefix !== prefix) eras.push({ from: eras.length === 0 ? 0 : number, prefix });
      }
      began = Math.max(Math.floor(realNowMs), began + 1);
      current = prefixOf(began);
      if (eras.length > 0) eras.push({ from: (entries.at(-1)?.number ?? 0) + 1, prefix: current });
    },
  };
}

export type EntryIds = ReturnType<typeof createEntryIds>;

const prefixOf = (beganMs: number): string => `trf_${beganMs.toString(36)}_`;

/** A running exchange as an entry of its current state; null while recording is off. */
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
