import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { rawResponse } from '../base/http/answer.ts';
import { VivariumError } from '../contract/errors.ts';
import { INTERNAL_ERROR_MESSAGE, toFailure } from './failure.ts';

/** Headers of every answer of the control port. It never sends CORS headers. */
export const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers with the JSON in `text`. Does nothing when the client has gone. */
export function sendJson(
  response: ServerResponse,
  status: number,
  text: string | Buffer,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const isHead = response.req.method === 'HEAD';
  response.writeHead(status, {
    ...COMMON_HEADERS,
    'Cache-Control': 'no-store',
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(isHead ? undefined : text);
}

/** Answers with the error's status and its body `{code, message, …}`. */
export function sendFailure(response: ServerResponse, error: unknown, headers: Record<string, string> = {}): void {
  const { status, text } = failureText(error);
  const challenge: Record<string, string> = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  sendJson(response, status, text, { ...challenge, ...headers });
}

/** Status and JSON of an answer. Never throws: an error that can't be serialized becomes an `internal_error`. */
function failureText(error: unknown): { status: number; text: string } {
  try {
    const { status, body } = toFailure(error);
    return { status, text: JSON.stringify(body) };
  } catch (cause) {
    const { status, body } = toFailure(new VivariumError('internal_error', INTERNAL_ERROR_MESSAGE, { cause }));
    return { status, text: JSON.stringify(body) };
  }
}

/** The same for a bare connection without a response object: before an upgrade, and for malformed requests. */
export function refuseConnection(socket: Duplex, error: unknown, statusInstead?: number): void {
  socket.on('error', () => undefined);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const failure = failureText(error);
  const status = statusInstead ?? failure.status;
  socket.end(rawResponse(status, Object.entries(COMMON_HEADERS).flat(), failure.text), () => socket.destroy());
}
