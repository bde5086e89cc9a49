import { readFileSync } from 'node:fs';
import { orElse } from '../../contract/errors.ts';

/** Limits on what the proxy keeps, reads and waits for. Times are real time. */
export const DEFAULT_PROXY_LIMITS = {
  /**
   * Open connections over all listeners, plus WebSocket connections to upstreams; beyond it the longest idle one is
   * closed.
   */
  // An idle TLS connection costs some 70 kB, so the worst case is about 150 MB; 1,000 WebSockets still fit.
  connectionsMax: 2048,
  /** Bytes of a request line plus header section. */
  // Browsers, nginx and Node use the same limit within a factor of two.
  headerBytesMax: 16 * 1024,
  /** Header fields of one request. */
  headerFieldsMax: 100,
  /** Characters of a request target. */
  // RFC 9112 §3 recommends at least 8,000.
  targetLengthMax: 8 * 1024,
  /** Requests that a client may send ahead on one HTTP/1.1 connection. */
  // More than any tool sends by default; a single read of 64 kB could contain two thousand.
  pipelinedMax: 128,
  /** Open streams in one HTTP/2 session. */
  // RFC 9113 §6.5.2 recommends no fewer than 100.
  streamsMax: 100,
  /** PING and SETTINGS frames in one HTTP/2 session between two sweeps. */
  controlFramesMax: 500,
  /** Bytes of a request body that are drained after the proxy has answered. */
  // The API's limit on a body.
  drainBytesMax: 1024 * 1024,
  /** From accept to a completed TLS handshake. */
  handshakeTimeoutMs: 10_000,
  /** From the first byte of a request (or from accept) to the end of its header section. */
  headersTimeoutMs: 10_000,
  /** From the first to the last byte of a request; if forwarded, how long its body may stall. */
  requestTimeoutMs: 30_000,
  /** Idle time of a connection without a request in progress. */
  keepAliveTimeoutMs: 60_000,
  /** How long a client may take to read a complete response. For an upstream's response, `upstreamIdleMs` applies. */
  responseStallMs: 30_000,
  /**
   * How long a request may wait for its client, who sends its body or reads its response, before its connection may
   * make room for a new one.
   */
  // A body of 1 MiB takes some milliseconds on this machine; 10,000 simultaneous clients use up all places in half a
  // second.
  patienceMs: 200,
  /**
   * Bytes of complete responses that clients have not read, over all connections; beyond it those that have waited the
   * longest are cut.
   */
  // Lists of 20 pets for 10,000 clients; the memory of a burst is never returned to the system.
  unreadBytesMax: 64 * 1024 * 1024,
  /** Time for the client to close its side after ours was closed. */
  lingerMs: 2_000,
  /** Interval between checks for time-outs, which may fire this much late. */
  sweepIntervalMs: 1_000,
  /** Time for an upstream to accept a connection. */
  upstreamConnectMs: 5_000,
  /** Interim responses (1xx) per request. */
  // Slow servers send one every second or so to keep the client waiting.
  interimsMax: 100,
  /** From the last byte of a request to the end of the upstream's header section. */
  upstreamAnswerMs: 60_000,
  /**
   * How long a body to or from an upstream may stall, including the end of a response on its way to the client. Event
   * streams are often silent for minutes.
   */
  upstreamIdleMs: 600_000,
  /** How long a WebSocket may be silent in both directions. */
  tunnelIdleMs: 3_600_000,
  /** How long a WebSocket may be silent after one side has ended it, and how long pending data may take to be read. */
  // The `ws` library's time-out for the closing handshake.
  tunnelEndMs: 30_000,
};

export type ProxyLimits = typeof DEFAULT_PROXY_LIMITS;

/**
 * The limit on files and sockets open in this process; null if it cannot be read without starting a program. Node
 * raises its soft limit to the hard one at start, so the soft limit applies.
 */
export function readOpenFilesMax(file: string = '/proc/self/limits'): number | null {
  const limits = orElse(() => readFileSync(file, 'utf8'), '');
  const digits = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1];
  return digits === undefined ? null : Number(digits);
}

/**
 * The maximum number of open connections. When descriptors run out, the system silently drops new clients, so half of
 * them are reserved for databases, logs and upstreams.
 */
export const boundConnections = (wantedMax: number, openFilesMax: number | null): number =>
  openFilesMax === null ? wantedMax : Math.max(1, Math.min(wantedMax, Math.floor(openFilesMax / 2)));
