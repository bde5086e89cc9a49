import { constants } from 'node:http2';
import type { Timer } from '../clock.ts';
import { type BodiedRequest, hasBody, isHttp2, type HttpRequest } from './message.ts';

/** Limits on draining a body after its request was answered. */
export interface DrainBounds {
  bytesMax: number;
  /** Calls `onTime` at the time limit; null if the caller enforces one itself. */
  timer: ((onTime: () => void) => Timer) | null;
}

/** How a drain ended: at the end of the body, at a limit, or because the client disconnected. */
export type DrainEnd = 'complete' | 'bound' | 'gone';

/** Whether part of the body has not arrived yet. */
export const hasUnreadBody = (request: HttpRequest): request is BodiedRequest =>
  hasBody(request) && !request.complete && !request.destroyed;

/**
 * Discards the rest of the body, within the limits; calls `onEnd` once. Many HTTP clients write their whole body before
 * reading the answer; closing at once would replace the answer with a connection reset.
 */
export function drain(request: BodiedRequest, { bytesMax, timer }: DrainBounds, onEnd: (end: DrainEnd) => void): void {
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

  // Kept after the drain, when a reset is expected and must not be an uncaught error.
  request.on('error', () => finish('gone'));
  request.on('data', onData).once('end', onComplete).once('close', onClose);
  request.resume();
}

/** Ends an exchange after an incomplete drain: the connection or, in HTTP/2, the stream (RFC 9113 §8.1: NO_ERROR). */
export function cutOff(request: HttpRequest): void {
  if (isHttp2(request)) request.stream.close(constants.NGHTTP2_NO_ERROR);
  else request.socket.destroy();
}
