import type { Buffer } from 'node:buffer';
import type { Scheme } from '../base/text/hostname.ts';
import type { StageName } from '../contract/stages.ts';
import type { NamedFault } from './fault.ts';
import type { Decision } from './rate-decision.ts';
import type { ProviderDestination, Route, UpstreamDestination } from './route.ts';

/** Limit on the recorded part of a body, in bytes. */
export const RECORDED_BODY_BYTES_MAX = 64 * 1024;

export interface RecordedBody {
  /** The first `RECORDED_BODY_BYTES_MAX` bytes. */
  chunks: readonly (Buffer | string)[];
  /** The encoding of all string chunks; UTF-8 if omitted. */
  encoding?: 'latin1' | 'utf8';
  /** The length of the whole body. */
  bytes: number;
  /** Set when `chunks` hold the body as the log shows it: redacted and without the content coding. */
  asShown?: { cut: boolean; decoded?: 'gzip' | 'deflate' | 'br' | 'zstd' };
}

/** Limits on a WebSocket's recorded frames: the number of newest frames, and the first bytes of each. */
export const FRAMES_MAX = 100;
export const FRAME_BYTES_MAX = 1024;

/** A frame of a WebSocket (RFC 6455 §5.2). */
export interface RecordedFrame {
  /** Milliseconds since the start of the exchange. */
  atMs: number;
  from: 'client' | 'upstream';
  opcode: number;
  /** Whether it is the last frame of its message. */
  final: boolean;
  compressed: boolean;
  /** The first `FRAME_BYTES_MAX` bytes, unmasked. */
  payload: Buffer;
  /** The length of the whole payload. */
  bytes: number;
  /** Whether `payload` is truncated; if omitted, the lengths tell. */
  cut?: boolean;
}

export interface RecordedFrames {
  /** Oldest first. */
  newest: readonly RecordedFrame[];
  total: number;
}

/** Milliseconds from the start to the target, and to the first byte of the answer; null for stages not reached. */
export interface RecordedTimes {
  handedMs: number | null;
  firstByteMs: number | null;
}

/** Headers and bodies of a finished exchange. The buffers of bodies are freed once the log has copied them. */
export interface ExchangeRecord extends RecordedTimes {
  /** Name, value, name, value, … as received. */
  requestFields: readonly string[];
  /** The response's first line and header fields, each line ended by CRLF; empty without a response. */
  responseHead: string;
  requestBody: RecordedBody;
  responseBody: RecordedBody;
  /** Null unless a WebSocket was opened. */
  frames: RecordedFrames | null;
}

export interface RecordedRoute extends Pick<Route, 'projectId' | 'environment'> {
  target: { kind: 'api' } | ProviderDestination | Pick<UpstreamDestination, 'kind' | 'url'>;
}

/** A finished exchange, passed from the data plane to the traffic log. Times are real milliseconds. */
export interface RecordedExchange {
  /** Host and port as the client wrote them; null if the request failed before its authority was known. */
  authority: string | null;
  route: RecordedRoute | null;
  keyId: string | null;
  decision: Decision | null;
  /** The break that affected it; null for none. */
  fault: NamedFault | null;
  /** The stage that answered, or in which the exchange ended. */
  stage: StageName;
  scheme: Scheme;
  httpVersion: string;
  method: string;
  /** In origin form once the authority is known, else as sent. */
  target: string;
  /** Null if the connection ended before a status was sent. */
  status: number | null;
  /** When it began; monotonic. */
  startedMs: number;
  durationMs: number;
  /** The client's address and port. */
  address: string;
  port: number;
  /** The number of its connection in this run, from 1, and its place among the requests of that connection, from 1. */
  connection: number;
  place: number;
  /** Whether it ended before the answer was complete. */
  aborted: boolean;
  /** Whether the proxy itself wrote the answer, even in a target's format. */
  byProxy: boolean;
  /** Its number in the list of running exchanges; null if it was never listed. */
  begun: number | null;
  /** Null while recording is off. */
  record: ExchangeRecord | null;
}

/** Summary of a finished exchange, for counting and for the traffic log. */
export interface ExchangeSummary extends RecordedExchange {
  /** Null if the request failed before its authority was known. */
  hostname: string | null;
  route: Route | null;
}
