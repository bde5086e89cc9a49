import { type IncomingMessage, request as openHttp } from 'node:http';
import { request as openHttps } from 'node:https';
import { isIP } from 'node:net';
import type { Clock, Timer } from '../../base/clock.ts';
import { pairsOf } from '../../base/http/message.ts';
import type { Scheme } from '../../base/text/hostname.ts';
import { VivariumError } from '../../contract/errors.ts';

/** A request to this Vivarium's own listener of a scheme. */
export interface LoopbackRequest {
  scheme: Scheme;
  method: string;
  /** In origin form, with the query. */
  target: string;
  /** All header fields in order; the sender sets the framing fields, too. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer | null;
}

export interface LoopbackResponse {
  httpVersion: string;
  status: number;
  reason: string;
  headers: [name: string, value: string][];
  body: Buffer;
  /** Whether the body was truncated at the size or time limit. */
  cut: boolean;
  /** The client's port, which identifies the connection at the listener. */
  fromPort: number;
  /** Real milliseconds since the request began. */
  firstByteMs: number;
  totalMs: number;
}

/** Limit on the recorded response; a page of the API is far smaller. */
export const LOOPBACK_BYTES_MAX = 1024 * 1024;

/** Time limit for a response, in real time; the same as for a whole request. */
export const LOOPBACK_MS_MAX = 30_000;

/** Sends requests through Vivarium's own listeners, so all stages apply; no other destination is reachable. */
export function createLoopback({
  clock,
  ports,
}: {
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  ports: Readonly<Record<Scheme, number>>;
}) {
  return {
    /** @throws VivariumError `unavailable` if no answer arrives in time. */
    send: (
      { scheme, method, target, headers, body }: LoopbackRequest,
      signal?: AbortSignal,
    ): Promise<LoopbackResponse> =>
      new Promise((resolve, reject) => {
        const startedMs = clock.monotonic();
        const sent = (scheme === 'https' ? openHttps : openHttp)({
          host: '127.0.0.1',
          port: ports[scheme],
          servername: serverNameOf(headers),
          // The other side is this process, and its certificates are valid by the app's clock, not in real time.
          rejectUnauthorized: false,
          method,
          path: target,
          // Node sends a flat array unchanged and adds no fields.
          headers: headers.flat(),
          setHost: false,
          agent: false,
          signal,
        });
        let reading: Reading | null = null;
        const timer = clock.realTimer(LOOPBACK_MS_MAX, () => {
          if (reading === null) sent.destroy(new Error(`no answer within ${LOOPBACK_MS_MAX / 1_000} seconds`));
          else reading.finish(true);
        });
        sent.on('response', (response) => {
          reading = read(response, { startedMs, clock, timer, done: resolve });
        });
        sent.on('error', (error) => {
          timer.cancel();
          if (reading !== null) return reading.finish(true);
          reject(new VivariumError('unavailable', `The listener gave no answer: ${faultOf(error)}.`, { cause: error }));
        });
        sent.end(body);
      }),
  };
}

export type Loopback = ReturnType<typeof createLoopback>;

/** OpenSSL's message contains addresses and source locations; one of its parts says what happened. */
const faultOf = ({ message }: Error): string => /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;

/** The host in `Host`, without its port. RFC 6066 §3: addresses are not allowed as server names. */
function serverNameOf(headers: LoopbackRequest['headers']): string {
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? '';
  const hostname = host.replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
  return isIP(hostname) === 0 ? hostname : '';
}

interface Reading {
  /** Resolves with the bytes received so far. */
  finish(cut: boolean): void;
}

function read(
  response: IncomingMessage,
  {
    startedMs,
    clock,
    timer,
    done,
  }: {
    startedMs: number;
    clock: Pick<Clock, 'monotonic'>;
    timer: Timer;
    done: (response: LoopbackResponse) => void;
  },
): Reading {
  const firstByteMs = clock.monotonic() - startedMs;
  // Read now, while the response still has its socket.
  const fromPort = response.socket.localPort ?? 0;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let finished = false;

  function finish(cut: boolean): void {
    if (finished) return;
    finished = true;
    timer.cancel();
    if (cut) response.destroy();
    done({
      httpVersion: response.httpVersion,
      status: response.statusCode ?? 0,
      reason: response.statusMessage ?? '',
      headers: pairsOf(response.rawHeaders),
      body: Buffer.concat(chunks).subarray(0, LOOPBACK_BYTES_MAX),
      cut,
      fromPort,
      firstByteMs,
      totalMs: clock.monotonic() - startedMs,
    });
  }

  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > LOOPBACK_BYTES_MAX) finish(true);
  });
  response.on('end', () => finish(false));
  response.on('error', () => finish(true));
  return { finish };
}
