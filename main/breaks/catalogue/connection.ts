import type { BreakEntry } from '../../contract/breaks.ts';
import { endedAfter, entryOf, everywhere, OF_REQUEST } from './entry.ts';

const entry = entryOf('connection', OF_REQUEST);

/** Faults of the connection below HTTP. */
export const CONNECTION_ENTRIES: readonly BreakEntry[] = [
  entry('refused', {
    title: 'Connection refused',
    cause: 'Nothing listens at the port: the service is down, or a firewall answers in its place.',
    remedy: 'Retry with increasing delays; report the service as unreachable rather than as failing.',
    selectors: ['hostname'],
    impossible:
      'one port serves all hostnames, so the system would also refuse connections for hostnames that should work. ' +
      'Stop Vivarium to see it, or use connection.reset-on-accept.',
  }),
  entry('reset-on-accept', {
    title: 'Connection reset before any answer',
    cause:
      'A load balancer without a healthy server, or a dying process, resets connections that it has accepted. ' +
      'Vivarium resets as soon as it knows the hostname: in the TLS handshake, or at the first request over plain HTTP.',
    symptoms: {
      curl: 'curl: (56) Recv failure: Connection reset by peer',
      node: 'fetch: fetch failed: ECONNRESET read ECONNRESET; http: ECONNRESET read ECONNRESET',
      python: 'ConnectionResetError: [Errno 104] Connection reset by peer',
      go: 'Get "URL": read tcp ADDRESS->ADDRESS: read: connection reset by peer',
    },
    remedy: 'Retry: nothing was processed. Over plain HTTP, retry only requests that may be repeated.',
    selectors: ['hostname'],
    at: 'connection',
  }),
  entry('reset-mid-body', {
    title: 'Connection reset in the middle of an answer',
    cause: 'A proxy or server restarts while it sends: half of the body arrives, then a TCP reset.',
    symptoms: {
      curl: 'curl: (56) Recv failure: Connection reset by peer',
      node: 'fetch: terminated: ECONNRESET read ECONNRESET; http: ECONNRESET read ECONNRESET',
      python: 'ConnectionResetError: [Errno 104] Connection reset by peer',
      go: 'read tcp ADDRESS->ADDRESS: read: connection reset by peer',
    },
    remedy: 'Discard the partial answer, and retry if the request may be repeated.',
  }),
  entry('black-hole', {
    title: 'No answer at all',
    cause: 'The server accepts the request and never answers: a deadlock, or a firewall that dropped the connection.',
    symptoms: {
      curl: 'curl: (28) Operation timed out after 500 milliseconds with 0 bytes received',
      node: 'fetch: The operation was aborted due to timeout; http: The operation was aborted: 23 The operation was aborted due to timeout',
      python: 'TimeoutError: timed out',
      go: 'Get "URL": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    },
    remedy: 'Set a timeout for the whole request: most clients have none by default.',
    parameters: [
      { name: 'seconds', description: 'seconds until the connection is closed', default: 60, min: 1, max: 600 },
    ],
  }),
  entry('slow-close', {
    title: 'The answer ends late',
    cause: 'The body arrives at once, without Content-Length, but the end of the message is delayed.',
    symptoms: everywhere('200'),
    remedy: 'Process the stream as it arrives, or set a timeout; on the server, send Content-Length.',
    parameters: [{ name: 'delayMs', description: 'milliseconds until the end', default: 5_000, min: 1, max: 300_000 }],
  }),
  entry('half-close', {
    title: 'Half-closed in the middle of an answer',
    cause: 'The server closes its side (FIN) after half of the body and keeps reading.',
    symptoms: endedAfter(66, 65),
    remedy: 'Compare the received length with Content-Length, and treat a shorter body as a failure.',
    http: 'HTTP/1.1',
  }),
  entry('bandwidth', {
    title: 'Slow line',
    cause: 'A mobile network or a saturated link: the body arrives at a limited rate.',
    symptoms: everywhere('200'),
    remedy: 'Limit the time without progress rather than the total time, and request smaller pages.',
    parameters: [
      { name: 'bytesPerSecond', description: 'bytes per second', default: 1_024, min: 64, max: 100_000_000 },
    ],
  }),
  entry('slicer', {
    title: 'Answer in tiny pieces',
    cause: 'Some proxies flush every few bytes. The body is split into at most 1,000 pieces.',
    symptoms: everywhere('200'),
    remedy: 'Never treat one read as a whole message, and decode UTF-8 across reads.',
    parameters: [
      { name: 'bytes', description: 'bytes per piece', default: 16, min: 1, max: 65_536 },
      { name: 'delayMs', description: 'milliseconds between pieces', default: 20, min: 0, max: 10_000 },
    ],
  }),
  entry('cut-after', {
    title: 'Cut off after some bytes',
    cause: 'A size limit or a crash ends the answer after some bytes of its body.',
    symptoms: endedAfter(20, 111),
    remedy: 'Compare the received length with Content-Length, and treat a shorter body as a failure.',
    parameters: [{ name: 'bytes', description: 'bytes of the body that arrive', default: 20, min: 1, max: 8_388_608 }],
  }),
];
