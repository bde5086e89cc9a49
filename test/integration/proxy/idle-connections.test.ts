import type { Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { afterBody, DEMO, startProxy, untilConnections, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import type { RunningProxy } from '../../support/proxy/proxy-harness.ts';
import { closed, openSocket, readToEnd, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { snapshotTo, startRawUpstream, until } from '../../support/upstream-server.ts';

let running: RunningProxy;
let sockets: Socket[] = [];
const open = async (port = running.httpPort): Promise<Socket> => {
  const socket = await openSocket(port);
  sockets.push(socket);
  return socket;
};
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});

const get = (path: string, fields = ''): string => `GET ${path} HTTP/1.1\r\nHost: ${DEMO}\r\n${fields}\r\n`;
const untilIdle = () => expect.poll(() => running.proxy.inProgress()).toBe(0);
const CLOSE = 'Connection: close\r\n';

test('2,000 idle connections do not block other clients, and no more than the limit stay open', async () => {
  running = await startProxy({ limits: { connectionsMax: 100 } });
  for (let batch = 0; batch < 20; batch++) {
    await Promise.all(Array.from({ length: 100 }, () => open()));
    const answer = await sendRaw(running.httpPort, get(`/${batch}`, CLOSE));
    expect(answer.status).toBe(200);
    expect(running.proxy.connections()).toBeLessThanOrEqual(200);
  }
  expect(sockets).toHaveLength(2000);
  await Promise.all(sockets.slice(0, 1800).map(closed));
  expect(running.proxy.connections()).toBeLessThanOrEqual(101);
});

test('the connection that is idle longest is closed first, with 408 if it never got an answer', async () => {
  running = await startProxy({ limits: { connectionsMax: 3 } });
  const [first, second, third] = [await open(), await open(), await open()];
  first.write(get('/'));
  await readUntil(first, /"url"/);
  const closingResponse = readToEnd(second);
  await open();
  expect(await closingResponse).toMatch(/^HTTP\/1\.1 408 [\s\S]*Connection: close/);
  const next = readToEnd(third);
  await open();
  expect(await next).toMatch(/^HTTP\/1\.1 408/);
  // It has been answered, so more bytes could be read as the answer to its next request.
  const last = readToEnd(first);
  await open();
  expect(await last).toBe('');
});

test('a connection with a request in progress is never closed to make room', async () => {
  const waiting: (() => void)[] = [];
  running = await startProxy({
    limits: { connectionsMax: 3 },
    handle: (request, response) =>
      void (request.url === '/wait' ? waiting.push(() => response.end('late')) : response.end()),
  });
  const busy = await open();
  busy.write(get('/wait', CLOSE));
  while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let count = 0; count < 10; count++) await open();
  const answer = readToEnd(busy);
  waiting[0]?.();
  expect(await answer).toContain('late');
});

test('when all connections are busy, a new client is refused and the others are served', async () => {
  const waiting: (() => void)[] = [];
  running = await startProxy({
    limits: { connectionsMax: 2 },
    handle: (_, response) => void waiting.push(() => response.end('ok')),
  });
  const busy = [await open(), await open()];
  const answers = busy.map(readToEnd);
  for (const socket of busy) socket.write(get('/', CLOSE));
  while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await closed(await open());
  for (const answer of waiting) answer();
  for (const answer of await Promise.all(answers)) expect(answer).toContain('ok');
});

test.each([
  ['trickles its body', 'POST', 'Content-Length: 9\r\n', '{'],
  ['trickles a chunked body', 'POST', 'Transfer-Encoding: chunked\r\n', '1\r\n{\r\n'],
])('a client that %s makes room for a new one, the longest waiting first', async (_what, method, fields, body) => {
  running = await startProxy({
    limits: { connectionsMax: 5, patienceMs: 0 },
    handle: (request, response) => afterBody(request, () => response.end('ok')),
  });
  const slow: Socket[] = [];
  for (let count = 0; count < 5; count++) {
    const socket = await open();
    socket.write(get('/', fields).replace('GET', method) + body);
    slow.push(socket);
    await expect.poll(() => running.limiter.asked.length).toBe(count + 1);
  }
  for (let count = 0; count < 3; count++) {
    expect((await sendRaw(running.httpPort, get('/', CLOSE))).status).toBe(200);
    await untilConnections(running, 4);
  }
  await Promise.race(slow.map(closed));
  expect(slow.slice(1).map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
});

test('a new client is kept while one that trickles its body can make room', async () => {
  const clock = createFakeClock();
  running = await startProxy({
    clock,
    limits: { connectionsMax: 3, patienceMs: 200 },
    handle: (request, response) => afterBody(request, () => response.end('ok')),
  });
  const slow = [await open(), await open()];
  for (const socket of slow) socket.write(`${get('/', 'Content-Length: 9\r\n').replace('GET', 'POST')}{`);
  await expect.poll(() => running.limiter.asked.length).toBe(2);
  await clock.pass(200);
  const newcomer = await open();
  await open();
  await Promise.race(slow.map(closed));
  const answer = readToEnd(newcomer);
  newcomer.write(get('/', CLOSE));
  expect(await answer).toContain('ok');
});

test.each(['http', 'https'] as const)(
  'a silent client counts as idle, but not one whose next request arrives slowly: %s',
  async (scheme) => {
    const clock = createFakeClock();
    running = await startProxy({ clock, certificates: createTestCertificates([DEMO]) });
    const connect = async (): Promise<Socket> => {
      if (scheme === 'http') return await open();
      const socket = tlsConnect({ port: running.httpsPort, servername: DEMO, rejectUnauthorized: false });
      sockets.push(socket);
      return socket;
    };
    const [silent, slow] = [await connect(), await connect()];
    for (const socket of [silent, slow]) {
      socket.write(get('/'));
      await readUntil(socket, /"url"/);
    }
    await untilIdle();
    await clock.pass(59_000);
    slow.write('GET / HTTP');
    // Read after those octets.
    await sendRaw(running.httpPort, get('/', CLOSE));
    const ended = readToEnd(silent);
    await clock.pass(2_000);
    expect(await ended).toBe('');
    await untilConnections(running, 1);
    const answer = readUntil(slow, /"url"/);
    slow.write(`/1.1\r\nHost: ${DEMO}\r\n\r\n`);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  },
);

test('a client that does not read makes room, and is cut off when unread responses take too much memory', async () => {
  running = await startProxy({
    limits: { patienceMs: 0, unreadBytesMax: 20_000_000, sweepIntervalMs: 20 },
    handle: (_, response) => void response.end(Buffer.alloc(8_000_000)),
  });
  const silent = await Promise.all(Array.from({ length: 6 }, () => open()));
  for (const socket of silent) {
    socket.pause();
    socket.write(get('/'));
  }
  await expect.poll(() => running.proxy.connections()).toBeLessThanOrEqual(3);
  await expect.poll(() => running.proxy.connections()).toBeGreaterThan(0);
});

test('a WebSocket counts together with its connection to the upstream while that is open', async () => {
  const upstream = await startRawUpstream((socket) =>
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    ),
  );
  running = await startProxy({ limits: { connectionsMax: 3 }, snapshot: snapshotTo(upstream.url) });
  const tunnel = await open();
  tunnel.write(get('/', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'));
  await readUntil(tunnel, /101/);
  const idle = await open();
  await open();
  await closed(idle);
  tunnel.destroy();
  await until(() => upstream.sockets.size === 0);
  await untilConnections(running, 1);
  const others = [await open(), await open()];
  await untilConnections(running, 3);
  expect(others.map(({ destroyed }) => destroyed)).toEqual([false, false]);
});

test('connections before and after their TLS handshake make room, too', async () => {
  const certificates = createTestCertificates();
  running = await startProxy({ certificates, limits: { connectionsMax: 2 } });
  const session = openHttp2(running);
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  const ended = new Promise((resolve) => session.once('close', resolve));
  const silent = await open(running.httpsPort);
  await open();
  await ended;
  await open();
  await closed(silent);
});
