import type { Buffer } from 'node:buffer';
import type { Scheme } from '../base/hostname.ts';
import type { StageName } from '../contract/stages.ts';
import type { Decision } from './rate-decision.ts';
import type { Route, UpstreamDestination } from './route.ts';

/** How much of a body is recorded, in bytes. */
export const RECORDED_BODY_BYTES_MAX = 64 * 1024;

export interface RecordedBody {
  /** The first `RECORDED_BODY_BYTES_MAX` bytes. */
  chunks: readonly (Buffer | string)[];
  /** The encoding of all texts among the chunks; UTF-8 when left out. */
  encoding?: 'latin1' | 'utf8';
  /** The length of the whole body. */
  bytes: number;
}

/** Milliseconds from the beginning to the target, and to the first byte of the answer; null where it did not come so far. */
export interface RecordedTimes {
  handedMs: number | null;
  firstByteMs: number | null;
}

/** Headers and bodies of a finished exchange. Read-only: the buffers are shared with the socket. */
export interface ExchangeRecord extends RecordedTimes {
  /** Name, value, name, value, … as they came. */
  requestFields: readonly string[];
  /** The response's first line and header fields, each line ended by CRLF; empty where there was none. */
  responseHead: string;
  requestBody: RecordedBody;
  responseBody: RecordedBody;
}

/** The part of a route that the traffic log keeps. */
export interface RecordedRoute extends Pick<Route, 'projectId' | 'environment'> {
  target: { kind: 'api' } | Pick<UpstreamDestination, 'kind' | 'url'>;
}

/** A finished exchange, as the traffic log takes it from the data plane. Times are real milliseconds. */
export interface RecordedExchange {
  /** Host and port as the client wrote them; null where the request did not get as far as an authority. */
  authority: string | null;
  route: RecordedRoute | null;
  keyId: string | null;
  decision: Decision | null;
  /** The stage that answered it, or in which it ended. */
  stage: StageName;
  scheme: Scheme;
  httpVersion: string;
  method: string;
  /** In origin form where the request got as far as its authority, else as sent. */
  target: string;
  /** Null when the client left, or was cut off, before there was one. */
  status: number | null;
  /** When it began; monotonic. */
  startedMs: number;
  durationMs: number;
  /** The client's address and port. */
  address: string;
  port: number;
  /** Whether it ended before its answer was whole. */
  aborted: boolean;
  /** Whether the proxy itself wrote the answer, in a target's place too. */
  byProxy: boolean;
  /** Null while nothing is recorded. */
  record: ExchangeRecord | null;
}

/** Summary of a finished exchange, for counting and for the traffic log. */
export interface ExchangeSummary extends RecordedExchange {
  /** Null where the request did not get as far as an authority. */
  hostname: string | null;
  route: Route | null;
}
