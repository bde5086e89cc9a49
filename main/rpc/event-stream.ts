import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../base/clock.ts';
import { nextTurn } from '../base/next-turn.ts';
import { toFailure } from './failure.ts';
import { COMMON_HEADERS } from './responses.ts';

/** Between two signs of life; below the half minute after which proxies and clients give up on a silent connection. */
export const KEEP_ALIVE_MS = 15_000;

/**
 * Sends what `stream` yields as server-sent events (WHATWG HTML §9.2): `event: message` with JSON data for each,
 * `event: done` at the end, `event: error` with `{code, message, …}` when it fails. A client that reads slowly slows the
 * stream down. Resolves when the stream, or the connection, is at its end; `signal` ends it from this side.
 */
export async function sendEventStream(
  response: ServerResponse,
  stream: AsyncIterator<unknown>,
  { clock, signal }: { clock: Pick<Clock, 'realTimer'>; signal: AbortSignal },
): Promise<void> {
  response.writeHead(200, { ...COMMON_HEADERS, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  // A comment brings the headers to the client at once, although nothing may happen for long.
  response.write(': watching\n\n');
  const alive = keepAlive(response, clock);
  try {
    await pump(response, stream, signal);
  } finally {
    alive.cancel();
    response.end();
    // Not waited for: a stream that is in the middle of something may take its time to end.
    void Promise.resolve(stream.return?.()).catch(() => undefined);
  }
}

async function pump(response: ServerResponse, stream: AsyncIterator<unknown>, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      const result = await untilAborted(stream.next(), signal);
      if (result === null || result.done === true) break;
      await write(response, frame('message', result.value), signal);
    }
    await write(response, 'event: done\n\n', signal);
  } catch (error) {
    await write(response, frame('error', toFailure(error).body), signal);
  }
}

const frame = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (response.destroyed) return;
  if (response.write(text)) {
    // A stream whose values are ready would otherwise let nothing else run.
    await nextTurn();
  } else {
    await untilAborted(new Promise((resolve) => response.once('drain', resolve)), signal);
  }
}

function keepAlive(response: ServerResponse, clock: Pick<Clock, 'realTimer'>): Timer {
  const beat = (): Timer =>
    clock.realTimer(KEEP_ALIVE_MS, () => {
      response.write(': still watching\n\n');
      timer = beat();
    });
  let timer = beat();
  return { cancel: () => timer.cancel() };
}

/**
 * What `work` comes to, or null when `signal` aborts first. `Promise.race` with one promise for the abort would keep
 * something of every value until the stream ends, and a stream may last for days.
 */
function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const end = () => resolve(null);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
