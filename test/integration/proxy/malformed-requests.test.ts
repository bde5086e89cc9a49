import { describe, expect, test } from 'vitest';
import { bodyOf, sendAnswer } from '../../../main/base/http/answer.ts';
import { DEMO, startProxy, shareProxy } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd, sendRaw } from '../../support/proxy/proxy-raw.ts';

const running = await shareProxy();

const HOST = `Host: ${DEMO}\r\n`;
const request = (line: string, fields = HOST): string => `${line}\r\n${fields}\r\n`;
const post = (fields: string, body = ''): string => request('POST / HTTP/1.1', HOST + fields) + body;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const chunks = (body: string): string => post(CHUNKED, body);

/** Each is refused with one status and one line that names the fault, and the connection is closed. */
describe.each<[what: string, bytes: string | Buffer, message: RegExp, status?: number]>([
  ['no request at all', 'hello\r\n\r\n', /method/],
  ['a method in lower case', request('get / HTTP/1.1'), /upper case/],
  ['a request line with a space too many', request('GET /a b HTTP/1.1'), /METHOD target HTTP\/1.1/],
  ['HTTP/0.9', 'GET /\r\n\r\n', /HTTP\/0.9/],
  ['HTTP/1.3', request('GET / HTTP/1.3'), /HTTP version/],
  ['HTTP/2.0 in a request line', request('GET / HTTP/2.0'), /does not support HTTP\/2.0/],
  ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /ALPN/],

  ['bare LF after the request line', `GET / HTTP/1.1\nHost: ${DEMO}\n\n`, /CR LF/],
  ['bare LF after a field', `GET / HTTP/1.1\r\nHost: ${DEMO}\nX: y\r\n\r\n`, /bare LF/],
  ['bare CR in a field', request('GET / HTTP/1.1', `${HOST}X: a\rY: b\r\n`), /CR without an LF/],
  ['obs-fold', request('GET / HTTP/1.1', `${HOST}X: a\r\n b\r\n`), /folded/],
  ['obs-fold in Host', `GET / HTTP/1.1\r\nHost: ${DEMO}\r\n .evil.test\r\n\r\n`, /folded/],
  ['a space before the first field', `GET / HTTP/1.1\r\n ${HOST}\r\n`, /begins with a space/],
  ['a space before the colon', `GET / HTTP/1.1\r\nHost : ${DEMO}\r\n\r\n`, /directly after its name/],
  ['a NUL in a field', request('GET / HTTP/1.1', `${HOST}X: a\0b\r\n`), /character/],

  ['no Host', request('GET / HTTP/1.1', ''), /no Host/],
  ['no Host in HTTP/1.0', request('GET / HTTP/1.0', ''), /no Host header field\. Send one/],
  ['two Hosts', request('GET / HTTP/1.1', `${HOST}Host: evil.test\r\n`), /more than one Host/],
  ['an unreadable Host', request('GET / HTTP/1.1', 'Host: a@b\r\n'), /hostname:port/],

  ['a target with a control character', request('GET /a\x01 HTTP/1.1'), /percent-encoded/],
  ['a target in Latin-1', Buffer.from(request('GET /\xe9 HTTP/1.1'), 'latin1'), /percent-encoded/],
  ['a target with a fragment', request('GET /a#b HTTP/1.1'), /fragment/],
  ['a target with a backslash', request('GET /a\\b HTTP/1.1'), /backslash/],
  ['a target that is not a path', request('GET a.test:80 HTTP/1.1'), /path that begins with a slash/],
  ['an absolute target of ftp', request('GET ftp://a.test/ HTTP/1.1'), /neither http nor https/],
  ['an absolute target without a host', request('GET http:///x HTTP/1.1'), /hostname:port/],
  ['a target of 9,000 characters', request(`GET /${'a'.repeat(9000)} HTTP/1.1`), /8192 characters/, 414],
  ['a target of 20,000 characters', request(`GET /${'a'.repeat(20_000)} HTTP/1.1`), /8192 characters/, 414],
  ['101 fields', request('GET / HTTP/1.1', HOST + 'X: y\r\n'.repeat(100)), /more than 100/, 431],
  ['a field of 17,000 bytes', request('GET / HTTP/1.1', `${HOST}X: ${'a'.repeat(17_000)}\r\n`), /16384 bytes/, 431],

  ['smuggling: CL.TE', post(`Content-Length: 5\r\n${CHUNKED}`, '0\r\n\r\nG'), /both Content-Length and Transfer/],
  ['smuggling: TE.CL', post(`${CHUNKED}Content-Length: 5\r\n`, '0\r\n\r\nG'), /both Content-Length and Transfer/],
  ['smuggling: two lengths', post('Content-Length: 1\r\nContent-Length: 2\r\n', 'ab'), /more than one Content-Length/],
  [
    'smuggling: one length twice',
    post('Content-Length: 1\r\nContent-Length: 1\r\n', 'a'),
    /more than one Content-Length/,
  ],
  ['smuggling: a list of lengths', post('Content-Length: 1, 1\r\n', 'a'), /valid decimal/],
  ['smuggling: a signed length', post('Content-Length: +1\r\n', 'a'), /valid decimal/],
  ['smuggling: a length beyond all numbers', post(`Content-Length: ${'9'.repeat(30)}\r\n`), /valid decimal/],
  ['smuggling: TE unknown', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'), /chunked/],
  [
    'smuggling: TE before chunked',
    post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'),
    /only supported Transfer/,
  ],
  ['smuggling: TE after chunked', post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'), /chunked/],
  ['smuggling: TE twice', post(CHUNKED + CHUNKED, '0\r\n\r\n'), /chunked/],
  ['smuggling: TE in HTTP/1.0', `POST / HTTP/1.0\r\n${HOST}${CHUNKED}\r\n0\r\n\r\n`, /HTTP\/1.0/],
  ['a chunk size that is not a number', chunks('zz\r\n'), /hexadecimal/],
  ['a chunk size beyond all numbers', chunks(`${'f'.repeat(20)}\r\n`), /exceeds the limit/],
  ['chunks with bare LF', chunks('1\na\n0\n\n'), /bare LF/],
  ['endless chunk extensions', chunks(`1;${'a'.repeat(20_000)}\r\n`), /chunk extensions/, 413],
])('%s', (_, bytes, message, status = 400) => {
  test(`is answered with ${status}, and the connection is closed`, async () => {
    const answer = await sendRaw(running.httpPort, bytes);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ status, message: expect.stringMatching(message) as unknown });
    expect(answer.text).toMatch(/^connection: close\r$/im);
    expect(answer.text.match(/^HTTP\/1\.1 \d/gm)).toHaveLength(1);
  });
});

test('a body that stops half-way is answered with 400 when the client closes its side', async () => {
  const answer = await sendRaw(running.httpPort, post('Content-Length: 10\r\n', 'abc'), { halfClose: true });
  expect(answer.body).toMatchObject({ status: 400, message: expect.stringContaining('closed before') as unknown });
});

test('TLS on the HTTP port is closed without an answer', async () => {
  const answer = await sendRaw(running.httpPort, Buffer.from('16030100c8010000c40303', 'hex'));
  expect(answer.text).toBe('');
});

test('bytes after a fault on a connection are not parsed as a request', async () => {
  const answer = await sendRaw(running.httpPort, `GET / HTTP/1.1\nHost: x\n\n${request('GET /second HTTP/1.1')}`);
  expect(answer.text.match(/^HTTP\/1\.1 \d/gm)).toHaveLength(1);
  expect(running.summaries.map((summary) => summary.target)).not.toContain('/second');
});

test('a fault after a valid request is answered after that request', async () => {
  const answer = await sendRaw(running.httpPort, `${request('GET /good HTTP/1.1')}nonsense\r\n\r\n`);
  expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  expect(answer.text).toContain('"url":"/good"');
});

test('a request after Connection: close is not served', async () => {
  const first = request('GET /first HTTP/1.1', `${HOST}Connection: close\r\n`);
  const answer = await sendRaw(running.httpPort, first + request('GET /late HTTP/1.1'));
  expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  expect(answer.text).toContain('"url":"/first"');
});

test('others are served throughout', async () => {
  const socket = await openSocket(running.httpPort, 'GET / HTTP/1.1\r\nX: half');
  const answer = await sendRaw(running.httpPort, request('GET / HTTP/1.1', `${HOST}Connection: close\r\n`));
  expect(answer.status).toBe(200);
  socket.end();
  expect(await readToEnd(socket)).toContain('HTTP/1.1 400');
});

test('a fault in a body that its target has refused does not cut the answer', async () => {
  const refusing = await startProxy({
    handle: (request, response) => {
      const answer = { status: 401, headers: ['Content-Length', '4'], body: bodyOf('key!'), close: false };
      sendAnswer({ request, response }, answer, { bytesMax: 1_000_000, timer: null });
    },
  });
  const bytes = chunks(`1;${'a'.repeat(17_000)}\r\n`);
  const { text } = await sendRaw(refusing.httpPort, bytes);
  expect(text).toMatch(/^HTTP\/1\.1 401 [^]*\r\n\r\nkey!$/);
});
