import { expect, test } from 'vitest';
import { explainParserError, looksLikeTls, type ParserError } from '../../../../main/proxy/front/http1.ts';
import { DEFAULT_PROXY_LIMITS } from '../../../../main/proxy/front/proxy-limits.ts';

const error = (code: string, more: Partial<ParserError> = {}): ParserError =>
  Object.assign(new Error(code), { code, ...more });
const tooLong = (text: string) => error('HPE_HEADER_OVERFLOW', { rawPacket: Buffer.from(text) });
const unlike = (code: string, reason: string) => error(code, { reason });
const LONG = 'a'.repeat(20_000);

test.each([
  ['a slow client', error('ERR_HTTP_REQUEST_TIMEOUT'), 408, /10 s for its header section and 30 s in total/],
  ['long fields', tooLong(`GET / HTTP/1.1\r\nX: ${LONG}`), 431, /16384 bytes/],
  ['a long target', tooLong(`GET /${LONG}`), 414, /8192 characters/],
  ['long fields in pieces', tooLong('aaa'), 431, /Send fewer or shorter/],
  ['long chunk extensions', error('HPE_CHUNK_EXTENSIONS_OVERFLOW'), 413, /chunk extensions/],
  ['a folded field', unlike('HPE_INVALID_HEADER_TOKEN', 'Unexpected whitespace after header value'), 400, /obs-fold/],
  [
    'a field name with a space',
    unlike('HPE_INVALID_HEADER_TOKEN', 'Invalid header token'),
    400,
    /no colon directly after/,
  ],
  [
    'two lengths',
    unlike('HPE_UNEXPECTED_CONTENT_LENGTH', 'Duplicate Content-Length'),
    400,
    /more than one Content-Length/,
  ],
  ['an unknown method', error('HPE_INVALID_METHOD'), 400, /method/],
  ['something new', error('HPE_FROM_THE_FUTURE'), 400, /not an HTTP\/1.1 request/],
])('%s is answered with an explanation', (_, fault, status, message) => {
  const explained = explainParserError(fault, DEFAULT_PROXY_LIMITS);
  expect(explained.status).toBe(status);
  expect(explained.message).toMatch(message);
});

test.each([
  ['a ClientHello', [0x16, 0x03, 0x01], true],
  ['an alert', [0x15, 0x03, 0x03], true],
  ['a request', [0x47, 0x45, 0x54], false],
  ['one byte', [0x16], false],
])('%s is TLS: %s', (_, bytes, expected) => {
  expect(looksLikeTls(Buffer.from(bytes))).toBe(expected);
});
