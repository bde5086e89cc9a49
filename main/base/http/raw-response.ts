import { STATUS_CODES } from 'node:http';
import { pairsOf } from './fields.ts';

/**
 * A complete HTTP/1.1 response with `fields` (name, value, …) and a JSON body, which closes the connection. For
 * sockets without a response object, for example after a malformed request.
 */
export function rawResponse(status: number, fields: readonly string[], json: string): string {
  const length = String(Buffer.byteLength(json));
  const all = ['Content-Type', 'application/json; charset=utf-8', 'Content-Length', length, ...fields];
  const lines = [...pairsOf(all), ['Connection', 'close']].map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${json}`;
}
