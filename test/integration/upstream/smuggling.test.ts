import { describe, expect, test } from 'vitest';
import { DEMO, SHOP } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { startUpstream, proxyTo } from '../../support/upstream-server.ts';

/** What the attacker wants the upstream to parse as a separate request. */
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
const HOST = `Host: ${DEMO}\r\n`;

const post = (fields: string, body: string): string => `POST /front HTTP/1.1\r\n${HOST}${fields}\r\n${body}`;
const get = (fields: string): string => `GET /front HTTP/1.1\r\n${HOST}${fields}\r\n`;
const LENGTH = `Content-Length: ${SMUGGLED.length}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const chunks = (bytes: string): string => post(CHUNKED, bytes);
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

/** A Node upstream, as lenient as possible, that records what it parses as a request. */
async function setUp() {
  const seen: { request: string; body: string }[] = [];
  const upstream = await startUpstream((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
    request.on('end', () => {
      seen.push({ request: `${request.method} ${request.url}`, body });
      response.end('done');
    });
  });
  const running = await proxyTo(upstream.url);
  return { running, upstream, seen };
}

test.each([
  ['CL.TE', post(`Content-Length: ${5 + SMUGGLED.length}\r\n${CHUNKED}`, `0\r\n\r\n${SMUGGLED}`)],
  ['TE.CL', post(`${CHUNKED}Content-Length: 4\r\n`, chunked(SMUGGLED))],
  ['TE.TE, one of them unknown', post(`${CHUNKED}Transfer-Encoding: x\r\n`, chunked(SMUGGLED))],
  ['TE.TE, the same twice', post(CHUNKED + CHUNKED, chunked(SMUGGLED))],
  ['TE that ends in another coding', post('Transfer-Encoding: chunked, identity\r\n', chunked(SMUGGLED))],
  ['TE with a coding before chunked', post('Transfer-Encoding: gzip, chunked\r\n', chunked(SMUGGLED))],
  ['TE with a tab', post('Transfer-Encoding:\tchunked\r\nContent-Length: 4\r\n', chunked(SMUGGLED))],
  ['TE in quotes', post('Transfer-Encoding: "chunked"\r\n', chunked(SMUGGLED))],
  ['TE with a vertical tab', post('Transfer-Encoding: \x0bchunked\r\n', chunked(SMUGGLED))],
  ['TE with a space before its colon', post('Transfer-Encoding : chunked\r\n', chunked(SMUGGLED))],
  ['TE folded', post('Transfer-Encoding:\r\n chunked\r\n', chunked(SMUGGLED))],
  ['TE behind a bare LF', post('X: y\nTransfer-Encoding: chunked\r\n', chunked(SMUGGLED))],
  ['TE behind a bare CR', post('X: y\rTransfer-Encoding: chunked\r\n', chunked(SMUGGLED))],
  ['TE of HTTP/1.0', chunks(chunked(SMUGGLED)).replace('HTTP/1.1', 'HTTP/1.0')],
  ['CL twice, unlike', post(`Content-Length: 0\r\n${LENGTH}`, SMUGGLED)],
  ['CL twice, alike', post('Content-Length: 0\r\nContent-Length: 0\r\n', SMUGGLED)],
  ['CL as a list', post('Content-Length: 0, 0\r\n', SMUGGLED)],
  ['CL negative', post('Content-Length: -1\r\n', SMUGGLED)],
  ['CL in hexadecimal', post('Content-Length: 0x10\r\n', SMUGGLED)],
  ['CL beyond 64 bits', post('Content-Length: 18446744073709551616\r\n', SMUGGLED)],
  ['CL with a NUL', post('Content-Length: 0\x00\r\n', SMUGGLED)],
  ['Host twice', get('Host: x\r\n')],
  ['a NUL in a value', get('X: a\0b\r\n')],
  ['a CR in a value', get('X: a\rb\r\n')],
  ['a bare LF in a header section', get('X: a\nY: b\r\n')],
  ['obs-fold', get('X: a\r\n b\r\n')],
  ['a space before a colon', get('X : a\r\n')],
  ['a chunk whose size wraps around', chunks(`10000000000000000\r\n${SMUGGLED}`)],
  ['a chunk size with 0x', chunks(`0x0\r\n\r\n${SMUGGLED}`)],
  ['a chunk that is longer than its size', chunks(`1\r\nabc\r\n0\r\n\r\n${SMUGGLED}`)],
  ['a chunk extension with a bare LF', chunks(`2;x\nab\r\n0\r\n\r\n${SMUGGLED}`)],
  ['a trailer that frames', chunks(`0\r\n${LENGTH}\r\n${SMUGGLED}`)],
  ['a last chunk with a bare LF', chunks(`1\r\na\r\n0\n\n${SMUGGLED}`)],
])('request smuggling is refused before it reaches the upstream: %s', async (_threat, bytes) => {
  const { running, seen } = await setUp();
  const answer = await sendRaw(running.httpPort, Buffer.from(bytes, 'latin1'), { halfClose: true });
  expect(answer.status).toBe(400);
  expect(answer.text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  // The part before the fault may have been on its way; it never became a request.
  expect(seen).toEqual([]);
  expect((await sendRaw(running.httpPort, get('Connection: close\r\n'))).status).toBe(200);
  expect(seen).toEqual([{ request: 'GET /front', body: '' }]);
});

describe('a request that is legal, but could smuggle if forwarded unchanged,', () => {
  test.each([
    ['chunk extensions', CHUNKED, `3;a="b"\r\nabc\r\n0;last\r\n\r\n`, 'abc'],
    ['leading zeros of a chunk size', CHUNKED, `00003\r\nabc\r\n000\r\n\r\n`, 'abc'],
    ['Transfer-Encoding in capitals', 'Transfer-Encoding: CHUNKED\r\n', chunked(SMUGGLED), SMUGGLED],
    ['a body that looks like a request', LENGTH, SMUGGLED, SMUGGLED],
    ['Connection: content-length', `Connection: content-length\r\n${LENGTH}`, SMUGGLED, SMUGGLED],
    ['Connection: transfer-encoding', `Connection: transfer-encoding\r\n${CHUNKED}`, chunked(SMUGGLED), SMUGGLED],
    [
      'trailers that frame and route',
      `${CHUNKED}Trailer: Host\r\n`,
      '1\r\na\r\n0\r\nHost: evil\r\nConnection: x\r\nAuthorization: x\r\nX-Sum: 1\r\n\r\n',
      'a',
    ],
  ])('%s stays one request', async (_threat, fields, bytes, body) => {
    const { running, upstream, seen } = await setUp();
    const socket = await openSocket(running.httpPort, post(fields, bytes));
    socket.write(get('Connection: close\r\n'));
    const text = await readToEnd(socket);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(seen).toEqual([
      { request: 'POST /front', body },
      { request: 'GET /front', body: '' },
    ]);
    const { trailers } = upstream.requests[0] ?? {};
    for (const name of ['host', 'connection', 'authorization']) expect(trailers).not.toHaveProperty(name);
  });

  test('with Connection: host, via, x-forwarded-for keeps every field that the upstream relies on', async () => {
    const { running, upstream } = await setUp();
    await sendRaw(
      running.httpPort,
      get(
        'Connection: close, host, via, forwarded, x-forwarded-for, x-forwarded-host, x-forwarded-proto\r\nVia: 1.1 before\r\n',
      ),
    );
    expect(upstream.requests[0]?.headers).toMatchObject({
      host: new URL(upstream.url).host,
      via: '1.1 before, 1.1 vivarium-test',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': DEMO,
      'x-forwarded-proto': 'http',
    });
    expect(upstream.requests[0]?.headers.forwarded).toContain('for=127.0.0.1');
  });

  test('with an absolute-form target goes to its own hostname, and to the upstream in origin form', async () => {
    const { running, upstream } = await setUp();
    const absolute = (target: string, host: string): string =>
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    await sendRaw(running.httpPort, absolute(`http://${DEMO}/x?y`, 'evil.test'));
    expect(upstream.requests[0]).toMatchObject({ url: '/x?y', headers: { 'x-forwarded-host': DEMO } });
    const atApi = await sendRaw(running.httpPort, absolute(`http://${SHOP}/x`, DEMO));
    expect(atApi.body).toMatchObject({ hostname: SHOP });
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('an upgrade', () => {
  const UPGRADE = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

  test.each([
    ['a Content-Length', LENGTH, SMUGGLED],
    ['chunks', CHUNKED, chunked(SMUGGLED)],
  ])('with a body (%s) is an ordinary request, and its body stays a body', async (_threat, fields, body) => {
    const { running, upstream, seen } = await setUp();
    upstream.server.on('upgrade', (_request, socket) => socket.destroy());
    const answer = await sendRaw(
      running.httpPort,
      `${get(`Connection: Upgrade, close\r\n${UPGRADE}${fields}`)}${body}`,
    );
    expect(answer.status).toBe(200);
    expect(seen).toEqual([{ request: 'GET /front', body: SMUGGLED }]);
  });

  test('with a target that differs from its Host is answered for the target, without switching', async () => {
    const { running, upstream } = await setUp();
    const upgrade = get(`Connection: Upgrade, close\r\n${UPGRADE}`).replace('/front', `http://${SHOP}/front`);
    const answer = await sendRaw(running.httpPort, upgrade);
    expect(answer.body).toMatchObject({ hostname: SHOP });
    expect(upstream.requests).toEqual([]);
  });

  test('behind an unanswered request does not overtake its answer', async () => {
    const { running, upstream } = await setUp();
    upstream.server.on('upgrade', (_request, socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    );
    const second = get(`Connection: Upgrade, close\r\n${UPGRADE}`).replace('/front', '/second');
    const text = await readToEnd(await openSocket(running.httpPort, get('') + second));
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });
});
