import { constants } from 'node:http2';
import type { Clock } from '../base/clock.ts';
import { isHttp2, type ApiRequest } from './exchange.ts';

/**
 * How much of a body nobody wants is read and thrown away. Many HTTP clients write their whole body before they read
 * the answer; cutting them off at once would make the answer a connection reset.
 */
export const DRAIN_BYTES_MAX = 64 * 1024 * 1024;

/** How long, in real time. */
export const DRAIN_MS_MAX = 10_000;

/** How a drain ended: the body was read to its end, or reached a bound, or the client went away. */
export type DrainEnd = 'complete' | 'bound' | 'gone';

/** Whether the request came with a body, as its header section tells (RFC 9112 §6.3, RFC 9113 §8.1). */
export function hasBody(request: ApiRequest): boolean {
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Whether some of the body has not been read yet. */
export function hasUnreadBody(request: ApiRequest): boolean {
  return hasBody(request) && !request.readableEnded && !request.destroyed;
}

/** Reads what still arrives of the body into nothing, within both bounds; `onEnd` is called once. */
export function drain(request: ApiRequest, clock: Clock, onEnd: (end: DrainEnd) => void): void {
  let bytes = 0;
  let ended = false;

  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES_MAX) finish('bound');
  };
  const onComplete = (): void => finish('complete');
  const onClose = (): void => finish('gone');
  const timer = clock.realTimer(DRAIN_MS_MAX, () => finish('bound'));

  function finish(end: DrainEnd): void {
    if (ended) return;
    ended = true;
    timer.cancel();
    request.off('data', onData).off('end', onComplete).off('close', onClose);
    onEnd(end);
  }

  // The error listener stays: a reset after the end of the drain is no news either.
  request.on('error', () => finish('gone'));
  request.on('data', onData).once('end', onComplete).once('close', onClose);
  request.resume();
}

/** Ends what a drain could not: the connection or, in HTTP/2, the one stream (RFC 9113 §8.1: RST_STREAM with NO_ERROR). */
export function cutOff(request: ApiRequest): void {
  if (isHttp2(request)) request.stream.close(constants.NGHTTP2_NO_ERROR);
  else request.socket.destroy();
}
