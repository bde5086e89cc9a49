import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../base/clock.ts';
import { nextTurn } from '../base/turns.ts';
import { toFailure, COMMON_HEADERS } from './responses.ts';

/** Heartbeat interval; below the half minute after which proxies and clients drop silent connections. */
export const KEEP_ALIVE_MS = 15_000;

/**
 * Sends the values of `stream` as server-sent events (WHATWG HTML §9.2): `event: message` with JSON data for each,
 * `event: done` at the end, `event: error` with `{code, message, …}` on failure. Applies the client's backpressure to
 * the stream. Resolves at the end of the stream or connection; `signal` ends it.
 */
export async function sendEventStream(
  response: ServerResponse,
  stream: AsyncIterator<unknown>,
  { clock, signal }: { clock: Pick<Clock, 'realTimer'>; signal: AbortSignal },
): Promise<void> {
  response.writeHead(200, { ...COMMON_HEADERS, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  // A comment flushes the headers; the first event may take a long time.
  response.write(': watching\n\n');
  const alive = keepAlive(response, clock);
  try {
    await pump(response, stream, signal);
  } finally {
    alive.cancel();
    response.end();
    // Not awaited, because a stream in the middle of a step may take long to end.
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
    // Yields to the event loop, which a stream of ready values would otherwise block.
    await nextTurn();
  } else {
    await untilAborted(new Promise((resolve) => response.once('drain', resolve)), signal);
  }
}

function keepAlive(response: ServerResponse, clock: Pick<Clock, 'realTimer'>): Timer {
  const scheduleHeartbeat = (): Timer =>
    clock.realTimer(KEEP_ALIVE_MS, () => {
      response.write(': still watching\n\n');
      timer = scheduleHeartbeat();
    });
  let timer = scheduleHeartbeat();
  return { cancel: () => timer.cancel() };
}

/**
 * Resolves with the result of `work`, or null if `signal` aborts first. `Promise.race` against one abort promise would
 * leak memory for every value, and a stream may last for days.
 */
function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const end = () => resolve(null);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
