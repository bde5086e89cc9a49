import { once, type EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2, type Http2ServerRequest } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BODY_BYTES_MAX, DRAIN_BYTES_MAX, DRAIN_MS_MAX } from '../../../main/api/api.ts';
import { settle } from '../../support/fake-clock.ts';
import { AUTHORIZATION, call, callHttp2, DATASET, startApiServer, type ApiServer } from '../../support/api-server.ts';

let server: ApiServer;
const sockets = new Set<Socket>();
beforeEach(async () => {
  server = await startApiServer();
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

/** A valid new pet of exactly `bytes` bytes. */
function petOfSize(bytes: number): string {
  const [start, end] = ['{"name":"Rex","categoryId":7,"x":"', '"}'];
  return start + 'x'.repeat(bytes - start.length - end.length) + end;
}

const POST_PETS = { ':method': 'POST', ':path': '/v1/pets', ...AUTHORIZATION, 'content-type': 'application/json' };

function open(head: string): Socket {
  const socket = connect(server.port, '127.0.0.1');
  // Some of these tests want the server to cut the connection.
  socket.on('error', () => undefined);
  sockets.add(socket);
  socket.write(
    `${head}\r\nHost: demo\r\nAuthorization: ${AUTHORIZATION.authorization}\r\nContent-Type: application/json\r\n`,
  );
  return socket;
}

async function readUntil(socket: Socket, words: string): Promise<string> {
  let text = '';
  socket.setEncoding('latin1');
  while (!text.includes(words)) {
    const [part] = (await once(socket, 'data')) as [string];
    text += part;
  }
  return text;
}

async function readToEnd(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => (text += part));
  await once(socket, 'close');
  return text;
}

const pets = (): number => server.store.pets.page(DATASET, { status: null, limit: 1000, after: null }).pets.length;

describe('a body', () => {
  test.each([
    ['HTTP/1.1', (body: string) => call(server.port, { method: 'POST', path: '/v1/pets', body })],
    [
      'HTTP/1.1 in chunks',
      (body: string) =>
        call(server.port, { method: 'POST', path: '/v1/pets', body, headers: { 'transfer-encoding': 'chunked' } }),
    ],
    ['HTTP/2', (body: string) => callHttp2(server.http2Port, { method: 'POST', path: '/v1/pets', body })],
  ])('of 1 MiB is read, and one more byte gives 413, over %s', async (_title, send) => {
    expect((await send(petOfSize(BODY_BYTES_MAX))).status).toBe(201);
    const refused = await send(petOfSize(BODY_BYTES_MAX + 1));
    expect(refused).toMatchObject({ status: 413, headers: { 'x-ratelimit-limit': '60' } });
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'payload_too_large', status: 413 });
    expect(pets()).toBe(1);
  });

  test('that arrives byte by byte is read', async () => {
    const socket = open('POST /v1/pets HTTP/1.1');
    const body = '{"name":"Zoë","categoryId":1}';
    socket.write('Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n');
    for (const byte of Buffer.from(body)) socket.write(Buffer.from([0x31, 13, 10, byte, 13, 10]));
    socket.write('0\r\n\r\n');
    expect(await readToEnd(socket)).toContain('201 Created');
  });

  test('that stops half-way leaves nothing behind when the client disconnects', async () => {
    const socket = open('POST /v1/pets HTTP/1.1');
    socket.write('Content-Length: 100\r\n\r\n{"name":"Rex"');
    const [request] = (await once(server.server, 'request')) as [IncomingMessage];
    socket.destroy();
    await new Promise((resolve) => request.once('close', resolve));
    expect(request.listenerCount('data')).toBe(0);
    expect(pets()).toBe(0);
    expect(server.lines).toEqual([]);
    expect((await call(server.port, { path: '/v1/pets' })).status).toBe(200);
  });

  test('that is reset half-way over HTTP/2 leaves nothing behind, and the session continues', async () => {
    const session = connectHttp2(`http://127.0.0.1:${server.http2Port}`);
    const stream = session.request(POST_PETS);
    stream.on('error', () => undefined);
    stream.write('{"name":"Rex"');
    const [request] = (await once(server.http2Server, 'request')) as [Http2ServerRequest];
    stream.close(8);
    await once(request, 'close');
    expect(request.listenerCount('data')).toBe(0);
    const next = session.request({ ':path': '/v1/pets', ...AUTHORIZATION });
    const [headers] = (await once(next, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(200);
    next.resume();
    await once(next, 'close');
    session.close();
    expect(pets()).toBe(0);
    expect(server.lines).toEqual([]);
  });
});

describe('a client that disconnects', () => {
  test('while its pet is being written has no other effect, and the pet is kept', async () => {
    const release = server.store.pets.holdNextAdd();
    const body = '{"name":"Rex","categoryId":7}';
    const socket = open('POST /v1/pets HTTP/1.1');
    const session = connectHttp2(`http://127.0.0.1:${server.http2Port}`);
    const head = { ':method': 'POST', ':path': '/v1/pets', ...AUTHORIZATION, 'content-type': 'application/json' };
    const stream = session.request(head).on('error', () => undefined);
    const requests = Promise.all([once(server.server, 'request'), once(server.http2Server, 'request')]);
    socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
    stream.end(body);
    const gone = (await requests).map(
      ([, response]) => new Promise((resolve) => (response as EventEmitter).once('close', resolve)),
    );
    await settle();
    socket.destroy();
    session.destroy();
    await Promise.all(gone);
    release();
    await settle();
    expect(pets()).toBe(2);
    expect(server.lines).toEqual([]);
  });

  test('while its unwanted body is drained leaves no timer and no listener', async () => {
    const socket = open('POST /v1/none HTTP/1.1');
    socket.write('Content-Length: 100\r\n\r\nx');
    const [request] = (await once(server.server, 'request')) as [IncomingMessage];
    await readUntil(socket, '"status":404}');
    const closed = new Promise((resolve) => request.once('close', resolve));
    socket.destroy();
    await closed;
    expect(request.listenerCount('data')).toBe(0);
    await server.clock.pass(DRAIN_MS_MAX);
    expect(server.lines).toEqual([]);
  });
});

describe('an unwanted body', () => {
  const LARGE = 20 * 1024 * 1024;

  test.each([
    ['413', 'POST /v1/pets HTTP/1.1', '413 Payload Too Large', 'payload_too_large'],
    ['404', 'POST /v1/none HTTP/1.1', '404 Not Found', 'not_found'],
    ['405', 'PUT /v1/pets HTTP/1.1', '405 Method Not Allowed', 'method_not_allowed'],
    ['200', 'GET /v1/pets HTTP/1.1', '200 OK', '[]'],
  ])(
    'is drained, so that a client that writes first and reads later gets the %s',
    async (_status, head, line, words) => {
      const socket = open(head);
      socket.write(`Content-Length: ${LARGE}\r\nConnection: close\r\n\r\n`);
      socket.write(Buffer.alloc(LARGE, 'x'));
      const text = await readToEnd(socket);
      expect(text).toContain(line);
      expect(text.toLowerCase()).toContain('connection: close');
      expect(text).toContain(words);
    },
  );

  test('leaves the connection usable after a 401', async () => {
    const socket = open('POST /v1/pets HTTP/1.1');
    socket.write('Authorization: x\r\nContent-Length: 5\r\n\r\nhello');
    expect(await readUntil(socket, '}')).toContain('HTTP/1.1 4');
    socket.write('GET /v1/openapi.json HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n');
    expect(await readToEnd(socket)).toContain('200 OK');
  });

  test('closes the connection after a 413', async () => {
    const socket = open('POST /v1/pets HTTP/1.1');
    socket.write(`Content-Length: ${BODY_BYTES_MAX + 1}\r\n\r\n`);
    expect(await readUntil(socket, '"status":413}')).toMatch(/connection: close/i);
    socket.write(Buffer.alloc(BODY_BYTES_MAX + 1, 'x'));
    await once(socket, 'close');
  });

  test('that stops arriving is abandoned after a period of real time', async () => {
    const socket = open('POST /v1/pets HTTP/1.1');
    socket.write(`Content-Length: ${BODY_BYTES_MAX + 1}\r\n\r\nx`);
    await readUntil(socket, '"status":413}');
    const closed = once(socket, 'close');
    await server.clock.pass(DRAIN_MS_MAX - 1);
    expect(socket.closed).toBe(false);
    await server.clock.pass(1);
    await closed;
  });

  test('without an end is cut off', async () => {
    const socket = open('POST /v1/none HTTP/1.1');
    socket.write('Transfer-Encoding: chunked\r\n\r\n');
    const size = 1024 * 1024;
    const chunk = Buffer.concat([
      Buffer.from(`${size.toString(16)}\r\n`),
      Buffer.alloc(size, 'x'),
      Buffer.from('\r\n'),
    ]);
    let written = 0;
    socket.resume();
    while (!socket.destroyed && written < 2 * DRAIN_BYTES_MAX) {
      written += size;
      await new Promise((resolve) => socket.write(chunk, resolve));
    }
    expect(written).toBeLessThan(2 * DRAIN_BYTES_MAX);
    expect(written).toBeGreaterThan(DRAIN_BYTES_MAX);
  });

  test('is drained over HTTP/2, and the stream ends without an error', async () => {
    const session = connectHttp2(`http://127.0.0.1:${server.http2Port}`);
    const stream = session.request(POST_PETS);
    stream.end(Buffer.alloc(5 * 1024 * 1024, 'x'));
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    await once(stream, 'close');
    expect(stream.rstCode).toBe(0);
    expect(text).toContain('payload_too_large');
    session.close();
  });

  test('over HTTP/2 that stops arriving ends the stream, not the session', async () => {
    const session = connectHttp2(`http://127.0.0.1:${server.http2Port}`);
    const stream = session.request({ ':method': 'POST', ':path': '/v1/none', ...AUTHORIZATION });
    stream.write('x');
    stream.resume();
    await once(stream, 'response');
    const closed = once(stream, 'close');
    await server.clock.pass(DRAIN_MS_MAX);
    await closed;
    expect(stream.rstCode).toBe(0);
    const next = session.request({ ':path': '/v1/pets', ...AUTHORIZATION }).resume();
    const [headers] = (await once(next, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(200);
    session.close();
  });
});
