import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { answerOn, DEMO, untilConnections, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import type { RunningProxy } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { startRawUpstream, startUpstream, until, proxyTo } from '../../support/upstream-server.ts';

const HOST = `Host: ${DEMO}\r\n`;
const GET = `GET / HTTP/1.1\r\n${HOST}\r\n`;
const UPGRADE = `GET / HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

describe('a client that disconnects ends its request:', () => {
  test('in the middle of its header section, before the upstream is contacted', async () => {
    const upstream = await startUpstream(() => undefined);
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort);
    socket.write(`GET / HTTP/1.1\r\n${HOST}`, () => socket.resetAndDestroy());
    await untilConnections(running, 1);
    await untilConnections(running, 0);
    expect(upstream.requests).toEqual([]);
  });

  test('in the middle of a download', async () => {
    const upstream = await startUpstream((_request, response) => {
      const write = (): void => {
        while (response.write('x'.repeat(64 * 1024)));
      };
      response.on('drain', write);
      write();
    });
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort, GET);
    await readUntil(socket, /x{1000}/);
    socket.resetAndDestroy();
    await until(() => upstream.sockets.size === 0);
    await untilConnections(running, 0);
  });

  test('in the middle of an upload that the upstream has already answered', async () => {
    const upstream = await startUpstream((_request, response) => response.end('early'));
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort, `POST / HTTP/1.1\r\n${HOST}Content-Length: 1000000\r\n\r\nhalf`);
    await readUntil(socket, /early/);
    socket.resetAndDestroy();
    await until(() => upstream.sockets.size === 0);
    await untilConnections(running, 0);
  });

  test('in an HTTP/2 stream, while others of the same session continue', async () => {
    const certificates = createTestCertificates();
    let waiting = 0;
    const upstream = await startUpstream((request, response) => {
      if (request.url === '/wait') waiting += 1;
      else response.end('served');
    });
    const running = await proxyTo(upstream.url, { certificates });
    const session = openHttp2(running);
    const streams = Array.from({ length: 5 }, () => session.request({ ':path': '/wait' }));
    for (const stream of streams) stream.on('error', () => undefined);
    await until(() => waiting === 5);
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
    await until(() => upstream.sockets.size === 0);
    // A complete answer leaves its connection to the next request.
    for (let count = 1; count <= 2; count++)
      expect((await answerOn(session.request({ ':path': '/' }))).text).toBe('served');
    expect(upstream.sockets.size).toBe(1);
  });

  test('half-way through an upgrade', async () => {
    const upstream = await startRawUpstream((socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgr'));
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort, UPGRADE.slice(0, -2));
    await untilConnections(running, 1);
    socket.write('\r\n');
    await until(() => upstream.sockets.size === 1);
    socket.resetAndDestroy();
    await until(() => upstream.sockets.size === 0);
    await untilConnections(running, 0);
  });
});

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';

/** An upstream that grants every upgrade, then runs `act`, and never ends its side. */
function startEndless(after: (socket: Socket) => void) {
  return startRawUpstream((socket) => void socket.once('data', () => socket.write(SWITCHED, () => after(socket))), {
    allowHalfOpen: true,
  });
}

/** Sends until the buffers are full. */
function push(socket: Socket): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write('x'.repeat(64 * 1024)));
  };
  socket.on('drain', write);
  write();
}

/** Waits until the upstream finds all of its connections closed: whatever it sends on them is refused. */
const untilRefused = (sockets: ReadonlySet<Socket>): Promise<void> =>
  until(() => {
    for (const socket of sockets) socket.write('x');
    return sockets.size === 0;
  });

async function openTunnel(running: RunningProxy): Promise<Socket> {
  const socket = await openSocket(running.httpPort, UPGRADE);
  await readUntil(socket, /101 Switching Protocols/);
  return socket;
}

describe('a client that leaves its WebSocket closes the upstream connection, even if the upstream does not end it:', () => {
  test.each([
    ['resets, and the upstream sends', push, (socket: Socket) => socket.resetAndDestroy()],
    ['resets, and the upstream sends nothing', () => undefined, (socket: Socket) => socket.resetAndDestroy()],
    ['closes, and the upstream sends', push, (socket: Socket) => socket.destroy()],
    ['closes, and the upstream sends nothing', () => undefined, (socket: Socket) => socket.destroy()],
  ])('%s', async (_what, after, leave) => {
    const upstream = await startEndless(after);
    const running = await proxyTo(upstream.url, { limits: { tunnelEndMs: 100 } });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openTunnel(running)));
    for (const socket of sockets) leave(socket);
    await untilConnections(running, 0);
    await untilRefused(upstream.sockets);
  });

  test('resets without having read, and the upstream sends', async () => {
    const upstream = await startEndless(push);
    const running = await proxyTo(upstream.url);
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openTunnel(running)));
    for (const socket of sockets) socket.pause();
    await until(() => [...upstream.sockets].every(({ writableNeedDrain }) => writableNeedDrain));
    for (const socket of sockets) socket.resetAndDestroy();
    await untilConnections(running, 0);
    await untilRefused(upstream.sockets);
  });

  test('ends its side, and receives the upstream’s last data', async () => {
    const upstream = await startEndless((socket) => socket.on('end', () => socket.end('goodbye')));
    const running = await proxyTo(upstream.url);
    const socket = await openTunnel(running);
    const text = readToEnd(socket);
    socket.end('last');
    expect(await text).toBe('goodbye');
    await untilConnections(running, 0);
    await until(() => upstream.sockets.size === 0);
  });

  test('ends its side, and the upstream ignores it: the tunnel still ends', async () => {
    const upstream = await startEndless(() => undefined);
    const running = await proxyTo(upstream.url, { limits: { tunnelEndMs: 100 } });
    const socket = await openTunnel(running);
    const text = readToEnd(socket);
    socket.end();
    expect(await text).toBe('');
    await untilConnections(running, 0);
    await untilRefused(upstream.sockets);
  });

  test('closes right after its last data, which the upstream receives', async () => {
    let received = 0;
    const upstream = await startEndless((socket) => socket.on('data', (chunk: Buffer) => (received += chunk.length)));
    const running = await proxyTo(upstream.url, { limits: { tunnelEndMs: 1_000 } });
    const socket = await openTunnel(running);
    const words = 'x'.repeat(1024 * 1024);
    socket.write(words, () => socket.destroy());
    await until(() => received === words.length);
    await untilRefused(upstream.sockets);
  });
});

test('a client that trickles its header section is timed out, and the upstream never sees it', async () => {
  const upstream = await startUpstream(() => undefined);
  const running = await proxyTo(upstream.url, { limits: { sweepIntervalMs: 20, headersTimeoutMs: 200 } });
  const socket = await openSocket(running.httpPort, 'GET / HTTP/1.1\r\nX: ');
  const clockwork = setInterval(() => socket.write('a'), 20);
  const text = await readToEnd(socket);
  clearInterval(clockwork);
  expect(text).toContain('408 Request Timeout');
  expect(upstream.requests).toEqual([]);
});

test('an upstream that answers before it has the whole request reaches the client, and blocks no connection', async () => {
  const upstream = await startUpstream((_request, response) =>
    response.writeHead(413, { Connection: 'close' }).end('too large'),
  );
  const running = await proxyTo(upstream.url);
  const socket = await openSocket(running.httpPort);
  // Within the limit that is drained, so that the connection can continue.
  socket.write(`POST / HTTP/1.1\r\n${HOST}Content-Length: 300000\r\n\r\n${'x'.repeat(1000)}`);
  await readUntil(socket, /too large/);
  socket.write(`${'x'.repeat(299_000)}${GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`);
  expect(await readToEnd(socket)).toContain('too large');
  await until(() => upstream.sockets.size === 0);
});

describe('an upgrade that is not granted', () => {
  test('and whose answer breaks off cuts off the client, without a second answer', async () => {
    const upstream = await startRawUpstream((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\nhalf', () =>
          setImmediate(() => socket.resetAndDestroy()),
        ),
      ),
    );
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort, UPGRADE);
    const text = await readToEnd(socket).catch((error: unknown) => String(error));
    expect(text.match(/HTTP\/1\.1 \d+/g) ?? []).toEqual(['HTTP/1.1 403']);
    await untilConnections(running, 0);
  });

  test('and whose answer stalls is abandoned, without a second answer', async () => {
    const upstream = await startRawUpstream((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\nhalf')),
    );
    const running = await proxyTo(upstream.url, { limits: { sweepIntervalMs: 20, upstreamIdleMs: 150 } });
    const { text } = await sendRaw(running.httpPort, UPGRADE);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 403']);
    await until(() => upstream.sockets.size === 0);
    await untilConnections(running, 0);
  });

  test('and whose answer never ends is read no faster than the client reads it', async () => {
    const upstream = await startRawUpstream((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const write = (): void => {
          while (!socket.destroyed && socket.write('x'.repeat(64 * 1024)));
        };
        socket.on('drain', write);
        write();
      }),
    );
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort);
    socket.pause();
    socket.write(UPGRADE);
    await until(() => [...upstream.sockets].some((each) => each.bytesWritten > 0 && each.writableNeedDrain));
    // Data that was read but not forwarded would show here: the system's buffers alone are this small.
    const [accepted] = upstream.sockets;
    const before = accepted?.bytesWritten ?? 0;
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect((accepted?.bytesWritten ?? 0) - before).toBeLessThan(16 * 1024 * 1024);
    expect(accepted?.writableNeedDrain).toBe(true);
    socket.destroy();
    await until(() => upstream.sockets.size === 0);
  });
});
