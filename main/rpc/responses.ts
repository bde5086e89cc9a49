import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { toFailure } from './failure.ts';

/** On every answer of the control port, whatever it is. No header of CORS is ever sent. */
export const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers with `text`, which is JSON. Does nothing when the client has gone. */
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

/** Answers with what `error` is to a caller: `{code, message, …}` and its status. */
export function sendFailure(response: ServerResponse, error: unknown, headers: Record<string, string> = {}): void {
  const { status, body } = toFailure(error);
  const challenge: Record<string, string> = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  sendJson(response, status, JSON.stringify(body), { ...challenge, ...headers });
}

/** The same on a bare connection, where there is no response object: before an upgrade, and for malformed requests. */
export function refuseConnection(socket: Duplex, error: unknown, statusInstead?: number): void {
  socket.on('error', () => undefined);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const failure = toFailure(error);
  const status = statusInstead ?? failure.status;
  const text = JSON.stringify(failure.body);
  const headers = Object.entries({
    ...COMMON_HEADERS,
    'Content-Type': JSON_TYPE,
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
  });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}
