import { constants } from 'node:http2';
import type { Timer } from '../clock.ts';
import { hasBody, isHttp2, type HttpRequest } from './message.ts';

/** How much of a body is read and thrown away after its request has been answered. */
export interface DrainBounds {
  bytesMax: number;
  /** Calls back when it has taken long enough; null where something else watches the time. */
  timer: ((onTime: () => void) => Timer) | null;
}

/** How a drain ended: the body was read to its end, or reached a bound, or the client went away. */
export type DrainEnd = 'complete' | 'bound' | 'gone';

/** Whether some of the body has not arrived yet. */
export const hasUnreadBody = (request: HttpRequest): boolean =>
  hasBody(request) && !request.complete && !request.destroyed;

/**
 * Reads what still arrives of the body into nothing, within the bounds; `onEnd` is called once. Many HTTP clients write
 * their whole body before they read the answer; cutting them off at once would make the answer a connection reset.
 */
export function drain(request: HttpRequest, { bytesMax, timer }: DrainBounds, onEnd: (end: DrainEnd) => void): void {
  let bytes = 0;
  let ended = false;

  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > bytesMax) finish('bound');
  };
  const onComplete = (): void => finish('complete');
  const onClose = (): void => finish('gone');
  const running = timer?.(() => finish('bound'));

  function finish(end: DrainEnd): void {
    if (ended) return;
    ended = true;
    running?.cancel();
    request.off('data', onData).off('end', onComplete).off('close', onClose);
    onEnd(end);
  }

  // The error listener stays: a reset after the end of the drain is no news either.
  request.on('error', () => finish('gone'));
  request.on('data', onData).once('end', onComplete).once('close', onClose);
  request.resume();
}

/** Ends what a drain could not: the connection or, in HTTP/2, the stream (RFC 9113 §8.1: RST_STREAM, NO_ERROR). */
export function cutOff(request: HttpRequest): void {
  if (isHttp2(request)) request.stream.close(constants.NGHTTP2_NO_ERROR);
  else request.socket.destroy();
}
