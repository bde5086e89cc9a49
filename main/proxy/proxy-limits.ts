/** Where the proxy stops: how much it keeps, reads and waits for. Times are real time. */
export interface ProxyLimits {
  /** Open connections over all listeners, and those of WebSockets to upstreams; beyond it the longest idle one makes room. */
  connectionsMax: number;
  /** Bytes of a request line and its header section together. */
  headerBytesMax: number;
  /** Header fields of one request. */
  headerFieldsMax: number;
  /** Characters of a request target. */
  targetLengthMax: number;
  /** Requests that a client may have sent ahead on one HTTP/1.1 connection. */
  pipelinedMax: number;
  /** Streams that a client may have open in one HTTP/2 session. */
  streamsMax: number;
  /** PING and SETTINGS frames of one HTTP/2 session between two sweeps. */
  controlFramesMax: number;
  /** Bytes of a request body that are read away after the proxy itself has answered. */
  drainBytesMax: number;
  /** From accept to a finished TLS handshake. */
  handshakeTimeoutMs: number;
  /** From the first byte of a request (or accept) to the end of its header section. */
  headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body; of one to an upstream, how long its body may stand still. */
  requestTimeoutMs: number;
  /** A connection without a request in progress. */
  keepAliveTimeoutMs: number;
  /** How long a finished response may stand still that the client has not taken. An upstream's has `upstreamIdleMs`. */
  responseStallMs: number;
  /** What a client has, after a connection was given up, to close its side. */
  lingerMs: number;
  /** How often time-outs are looked for; they fire up to this much late. */
  sweepIntervalMs: number;
  /** How long an upstream may take to accept a connection. */
  upstreamConnectMs: number;
  /** Interim responses (1xx) to one request. */
  interimsMax: number;
  /** How long an upstream may take from the last byte of a request to the end of its answer's header section. */
  upstreamAnswerMs: number;
  /**
   * How long a body may stand still between us and an upstream, and the end of an upstream's answer on its way to the
   * client. Streams of events are often silent for minutes.
   */
  upstreamIdleMs: number;
  /** How long a WebSocket may be silent both ways. */
  tunnelIdleMs: number;
  /** How long a WebSocket may be silent once one side has ended it, and how long what was sent may take to be taken. */
  tunnelEndMs: number;
}

export const DEFAULT_PROXY_LIMITS: ProxyLimits = {
  // An idle TLS connection costs some 70 kB, so these are about 150 MB at worst; 1,000 WebSockets still fit.
  connectionsMax: 2048,
  // What browsers, nginx and Node agree on within a factor of two.
  headerBytesMax: 16 * 1024,
  headerFieldsMax: 100,
  // RFC 9112 §3 recommends at least 8,000.
  targetLengthMax: 8 * 1024,
  // More than any tool sends by default; a 64 kB read could hold two thousand.
  pipelinedMax: 128,
  // RFC 9113 §6.5.2 recommends no fewer than 100.
  streamsMax: 100,
  controlFramesMax: 500,
  // As much as the API reads of a body.
  drainBytesMax: 1024 * 1024,
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 60_000,
  responseStallMs: 30_000,
  lingerMs: 2_000,
  sweepIntervalMs: 1_000,
  upstreamConnectMs: 5_000,
  // What a slow server says to keep its client waiting, every second or so.
  interimsMax: 100,
  upstreamAnswerMs: 60_000,
  upstreamIdleMs: 600_000,
  tunnelIdleMs: 3_600_000,
  // As long as the `ws` library waits for the other side to close.
  tunnelEndMs: 30_000,
};
