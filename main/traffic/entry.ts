import type { EpochMs } from '../base/clock.ts';
import type { Decision } from '../base/decision.ts';

/** How much of a body is kept, in bytes; `main/proxy` hands over no more. */
export const BODY_BYTES_MAX = 64 * 1024;

export interface RecordedBody {
  /** The first bytes. */
  chunks: readonly (Buffer | string)[];
  /** What all texts among the chunks are in; UTF-8 when left out. */
  encoding?: 'latin1' | 'utf8';
  /** How many there were in all. */
  bytes: number;
}

interface RecordedTimes {
  handedMs: number | null;
  firstByteMs: number | null;
}

/** What the data plane hands over of one exchange; `main/proxy` has the same shape. Times are real milliseconds. */
export interface RecordedExchange {
  authority: string | null;
  route: {
    projectId: string;
    environment: 'production' | 'staging';
    target: { kind: 'api' } | { kind: 'upstream'; url: string };
  } | null;
  keyId: string | null;
  decision: Decision | null;
  stage: 'listener' | 'authority' | 'route' | 'redirect' | 'identify' | 'limit' | 'target';
  scheme: 'http' | 'https';
  httpVersion: string;
  method: string;
  target: string;
  status: number | null;
  /** When it began; monotonic. */
  startedMs: number;
  durationMs: number;
  address: string;
  port: number;
  aborted: boolean;
  byProxy: boolean;
  record:
    | (RecordedTimes & {
        /** Name, value, name, value, … */
        requestFields: readonly string[];
        /** The response's first line and header fields, each line ended by CRLF; empty where there was none. */
        responseHead: string;
        requestBody: RecordedBody;
        responseBody: RecordedBody;
      })
    | null;
}

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
