import { describe, expect, test } from 'vitest';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { answerOn, DEMO, SHOP, untilConnections, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { startRawUpstream, until, proxyTo } from '../../support/upstream-server.ts';

/** Real timeouts, short enough to wait for. */
const SHORT = { sweepIntervalMs: 20, upstreamAnswerMs: 200, upstreamIdleMs: 200 };

const GET = `GET / HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\n\r\n`;
const AT_API = GET.replace(DEMO, SHOP);

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const ONE = 'Content-Length: 1\r\n\r\na';

/** An upstream that answers every request with `bytes`. */
const answering = (bytes: string, end = false) =>
  startRawUpstream((socket) =>
    socket.once('data', () => {
      if (end) socket.end(bytes, 'latin1');
      else socket.write(bytes, 'latin1');
    }),
  );

/** An upstream that writes `head` once and then `bytes` for as long as the other side reads. */
const flooding = (head: string, bytes: string) =>
  startRawUpstream((socket) =>
    socket.once('data', () => {
      socket.write(head, 'latin1');
      const write = (): void => {
        while (!socket.destroyed && socket.write(bytes, 'latin1'));
      };
      socket.on('drain', write);
      write();
    }),
  );

/** An upstream that writes `head` once and then `bytes` every few milliseconds. */
const trickling = (head: string, bytes: string) =>
  startRawUpstream((socket) =>
    socket.once('data', () => {
      socket.write(head, 'latin1');
      const clockwork = setInterval(() => socket.write(bytes, 'latin1'), 20);
      socket.on('close', () => clearInterval(clockwork));
    }),
  );

test.each([
  ['garbage', '\x00\xff\x16\x03\x01garbage\r\n\r\n'],
  ['HTTP/0.9', '<html>hello</html>'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 1000 OK\r\n\r\n'],
  ['a bare LF', 'HTTP/1.1 200 OK\nContent-Length: 1\n\na'],
  ['obs-fold', `${OK}X: a\r\n b\r\n${ONE}`],
  ['a NUL in a value', `${OK}X: a\0b\r\n${ONE}`],
  ['a bare CR in a value', `${OK}X: a\rSet-Cookie: evil\r\n${ONE}`],
  ['a space before a colon', `${OK}X : a\r\n${ONE}`],
  ['two unlike lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
  ['a length and chunks', `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a length that is not a number', `${OK}Content-Length: x\r\n\r\n`],
  ['a coding that is not chunked', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`],
  [
    'an unrequested switch of protocols',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  ],
])('an invalid answer gives its own request a 502, and affects no other request: %s', async (_what, bytes) => {
  const upstream = await answering(bytes, true);
  const running = await proxyTo(upstream.url);
  const answer = await sendRaw(running.httpPort, GET);
  expect(answer.body).toMatchObject({ code: 'bad_gateway', status: 502 });
  expect(answer.body?.message).toContain(upstream.url);
  expect((await sendRaw(running.httpPort, AT_API)).status).toBe(200);
  await until(() => upstream.sockets.size === 0);
});

test.each([
  ['a status above 599', `HTTP/1.1 999 Hm\r\n${ONE}`, 502, 'its status is 999'],
  ['a status of 000', `HTTP/1.1 000 Hm\r\n${ONE}`, 502, 'its status is 0,'],
  ['a 204 that announces a body', 'HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\n', 204, ''],
])(
  'an answer that one version of HTTP cannot carry is the same in all versions: %s',
  async (_what, bytes, status, message) => {
    const upstream = await answering(bytes, true);
    const certificates = createTestCertificates();
    const running = await proxyTo(upstream.url, { certificates });
    const { text } = await sendRaw(running.httpPort, GET);
    expect(text).toContain(`HTTP/1.1 ${status} `);
    expect(text).toContain(message);
    if (status === 204) expect(text).not.toMatch(/content-length/i);
    const answer = await answerOn(openHttp2(running).request({ ':path': '/' }));
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(message);
  },
);

describe('an upstream whose answer never becomes complete gives a 504 or 502 in bounded time and memory:', () => {
  test('header bytes one by one', async () => {
    const upstream = await trickling(`${OK}X: `, 'a');
    const answer = await sendRaw((await proxyTo(upstream.url, { limits: SHORT })).httpPort, GET);
    expect(answer.body).toMatchObject({ code: 'gateway_timeout', status: 504 });
    await until(() => upstream.sockets.size === 0);
  });

  test('endless header fields', async () => {
    const upstream = await flooding(OK, `X: ${'a'.repeat(1000)}\r\n`);
    const answer = await sendRaw((await proxyTo(upstream.url)).httpPort, GET);
    expect(answer.body?.message).toContain('a header section longer than');
    await until(() => upstream.sockets.size === 0);
  });

  test.each([
    ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['103', `HTTP/1.1 103 Early Hints\r\nLink: </${'a'.repeat(1000)}>; rel=preload\r\n\r\n`],
    ['199', 'HTTP/1.1 199 Whatever\r\n\r\n'],
  ])('a flood of %s', async (_status, bytes) => {
    const upstream = await flooding('', bytes);
    const running = await proxyTo(upstream.url);
    const { text } = await sendRaw(running.httpPort, GET);
    expect(text).toContain('HTTP/1.1 502 Bad Gateway');
    expect(text).toContain('interim');
    await until(() => upstream.sockets.size === 0);
  });
});

describe('an upstream with a body that contradicts its head', () => {
  test.each([
    ['is shorter than its Content-Length', `${OK}Content-Length: 10\r\n\r\nhalf`, true],
    ['ends in the middle of a chunk', `${CHUNKED}10\r\nhalf`, true],
    ['ends without its last chunk', `${CHUNKED}4\r\nhalf\r\n`, true],
    ['has a chunk size that is not a number', `${CHUNKED}4\r\nhalf\r\nzz\r\n`, false],
    ['has a chunk longer than its size', `${CHUNKED}4\r\nhalfway\r\n0\r\n\r\n`, false],
    ['has endless trailers', `${CHUNKED}4\r\nhalf\r\n0\r\n${'X: y\r\n'.repeat(9_000)}`, false],
  ])('cuts the client off if it %s', async (_what, bytes, end) => {
    const upstream = await answering(bytes, end);
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort, GET);
    const text = await readToEnd(socket).catch((error: unknown) => String(error));
    expect(text).not.toMatch(/\r\n0\r\n(?:.*\r\n)*\r\n$/);
    await untilConnections(running, 0);
    await until(() => upstream.sockets.size === 0);
    expect((await sendRaw(running.httpPort, AT_API)).status).toBe(200);
  });

  test('is longer than its Content-Length: the rest does not become the answer to the next request (response splitting)', async () => {
    const evil = `${OK}Content-Length: 4\r\n\r\nevil`;
    let connections = 0;
    const upstream = await startRawUpstream((socket) => {
      connections += 1;
      const first = connections === 1;
      socket.on('data', () =>
        first
          ? socket.write(`${OK}Content-Length: 4\r\n\r\ngood${evil}`)
          : socket.write(`${OK}Content-Length: 4\r\n\r\ngood`),
      );
    });
    const running = await proxyTo(upstream.url);
    for (let count = 0; count < 3; count++) {
      const { text } = await sendRaw(running.httpPort, GET);
      expect(text).not.toContain('evil');
      if (count > 0) expect(text).toContain('good');
    }
  });

  test('never ends is read no faster than the client reads', async () => {
    const upstream = await flooding(`${OK}\r\n`, 'x'.repeat(64 * 1024));
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort);
    socket.pause();
    socket.write(GET);
    await until(() =>
      [...upstream.sockets].some(({ bytesWritten, writableNeedDrain }) => bytesWritten > 0 && writableNeedDrain),
    );
    socket.destroy();
    await until(() => upstream.sockets.size === 0);
    await untilConnections(running, 0);
  });

  test('stalls in the middle is abandoned', async () => {
    const upstream = await answering(`${OK}Content-Length: 10\r\n\r\nhalf`);
    const running = await proxyTo(upstream.url, { limits: SHORT });
    const socket = await openSocket(running.httpPort, GET);
    await readToEnd(socket).catch(() => '');
    await untilConnections(running, 0);
    await until(() => upstream.sockets.size === 0);
  });
});

describe('an answer that is legal in HTTP/1.1, but not for the client,', () => {
  async function overHttp2(bytes: string) {
    const certificates = createTestCertificates();
    const running = await proxyTo((await answering(bytes)).url, { certificates });
    return await answerOn(openHttp2(running).request({ ':path': '/' }));
  }

  test('loses its connection fields on the way to an HTTP/2 client, in the head and in trailers', async () => {
    const { headers, text, trailers } = await overHttp2(
      `${OK}Connection: keep-alive, x-own\r\nX-Own: 1\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nProxy-Connection: x\r\nTransfer-Encoding: chunked\r\n\r\n` +
        '4\r\nbody\r\n0\r\nConnection: close\r\nKeep-Alive: x\r\nHost: x\r\nX-Sum: 1\r\n\r\n',
    );
    expect(headers).toMatchObject({ ':status': 200 });
    for (const name of ['connection', 'x-own', 'keep-alive', 'te', 'proxy-connection', 'transfer-encoding'])
      expect(headers).not.toHaveProperty(name);
    expect(text).toBe('body');
    expect(trailers).toEqual(expect.objectContaining({ 'x-sum': '1' }));
    expect(trailers).not.toHaveProperty('connection');
  });

  test('becomes a 502 if its status does not exist in HTTP/2', async () => {
    const { status, text } = await overHttp2('HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n');
    expect(status).toBe(502);
    expect(text).toContain('bad_gateway');
  });

  test.each([
    ['with a Content-Length', `${OK}Trailer: X-Sum\r\nContent-Length: 4\r\n\r\nbody`, 'GET'],
    ['to HEAD', `${OK}Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n`, 'HEAD'],
  ])('is accepted with a Trailer field %s although it has no trailers', async (_what, bytes, method) => {
    const running = await proxyTo((await answering(bytes)).url);
    const { text } = await sendRaw(running.httpPort, GET.replace('GET', method));
    expect(text).toContain('HTTP/1.1 200 OK');
  });

  test('loses its trailers on the way to an HTTP/1.0 client', async () => {
    const bytes = `${OK}Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 1\r\n\r\n`;
    const running = await proxyTo((await answering(bytes)).url);
    const { text } = await sendRaw(running.httpPort, GET.replace('HTTP/1.1', 'HTTP/1.0'));
    expect(text).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(text.endsWith('\r\n\r\nbody')).toBe(true);
  });
});
