import { type IncomingMessage, request as open } from 'node:http';
import type { Clock, Timer } from '../base/clock.ts';
import { pairsOf } from '../base/http/fields.ts';
import { VivariumError } from '../contract/errors.ts';

/** A request to this Vivarium's own HTTP listener. */
export interface LoopbackRequest {
  method: string;
  /** In origin form, with the query. */
  target: string;
  /** All of them, in order: name, value, … Framing is the sender's matter too. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer | null;
}

export interface LoopbackResponse {
  httpVersion: string;
  status: number;
  reason: string;
  headers: [name: string, value: string][];
  body: Buffer;
  /** Whether there was more of the body than is kept, or it had not ended in time. */
  cut: boolean;
  /** The port that it came from: by it the listener's side of the connection is known. */
  fromPort: number;
  /** Real milliseconds since the request was begun. */
  firstByteMs: number;
  totalMs: number;
}

/** How much of a response is kept; a page of the API is far below. */
export const LOOPBACK_BYTES_MAX = 1024 * 1024;

/** How long a response may take, in real time; as long as a whole request may. */
export const LOOPBACK_MS_MAX = 30_000;

/** Sends requests through the listener like any client: all stages apply. It can reach nothing else. */
export interface Loopback {
  /** @throws VivariumError `unavailable` without an answer in time. */
  send(request: LoopbackRequest, signal?: AbortSignal): Promise<LoopbackResponse>;
}

export function createLoopback({
  clock,
  port,
}: {
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  /** Of the HTTP listener. */
  port: number;
}): Loopback {
  return {
    send: ({ method, target, headers, body }, signal) =>
      new Promise((resolve, reject) => {
        const startedMs = clock.monotonic();
        const sent = open({
          host: '127.0.0.1',
          port,
          method,
          path: target,
          // In this form Node sends them as they are, and adds none.
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
          reject(new VivariumError('unavailable', `The listener gave no answer: ${error.message}.`, { cause: error }));
        });
        sent.end(body);
      }),
  };
}

interface Reading {
  /** Takes what has come as all there is. */
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
  // RequestedUrl for while the response still has its socket.
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
