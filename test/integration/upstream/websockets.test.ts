import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type Settings,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { describe, expect, test as base } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { listen } from '../../support/ports.ts';
import { probeUpstream } from '../../../main/proxy/upstream/probe.ts';
import { track } from '../../support/engine.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { DEMO, SHOP, untilConnections, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { snapshotTo, startRawUpstream, startUpstream, until, proxyTo } from '../../support/upstream-server.ts';

async function startEcho(): Promise<{ url: string; server: WebSocketServer }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  track(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const test = base.extend('echo', () => startEcho());

const UPGRADE = `GET /chat HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

describe('a WebSocket', () => {
  test.each(['ws', 'wss'])('over %s carries messages both ways, and its end', async (scheme) => {
    const certificates = createTestCertificates();
    const echo = await startEcho();
    const origins: unknown[] = [];
    echo.server.on('connection', (_socket, { headers }) => origins.push(headers.origin));
    const running = await proxyTo(echo.url, { certificates });
    const port = scheme === 'ws' ? running.httpPort : running.httpsPort;
    const socket = new WebSocket(`${scheme}://127.0.0.1:${port}/chat`, {
      headers: { host: DEMO },
      origin: `${scheme === 'ws' ? 'http' : 'https'}://${DEMO}`,
      ...(scheme === 'wss' && {
        createConnection: () => tlsConnect({ port, servername: DEMO, rejectUnauthorized: false }),
      }),
    });
    await once(socket, 'open');
    const heard: string[] = [];
    socket.on('message', (data: Buffer) => heard.push(data.toString()));
    for (const text of ['one', 'two', 'x'.repeat(100_000)]) socket.send(text);
    await until(() => heard.length === 3);
    expect(heard).toEqual(['one', 'two', 'x'.repeat(100_000)]);
    expect(origins).toEqual([echo.url]);
    socket.close(4001, 'enough');
    const [client] = echo.server.clients;
    const code = client === undefined ? [4001] : await once(client, 'close');
    expect(code[0]).toBe(4001);
    await untilConnections(running, 0);
    expect(running.summaries.map(({ status, stage }) => [status, stage])).toEqual([[101, 'target']]);
  });

  test('is closed at once when its hostname is removed, and when Vivarium stops', async ({ echo }) => {
    const running = await proxyTo(echo.url);
    const first = new WebSocket(`ws://127.0.0.1:${running.httpPort}/`, { headers: { host: DEMO } });
    await once(first, 'open');
    running.proxy.publish({ routes: [], redirects: new Map(), apiKeys: new Map() });
    await once(first, 'close');
    running.proxy.publish(snapshotTo(echo.url));
    const second = new WebSocket(`ws://127.0.0.1:${running.httpPort}/`, { headers: { host: DEMO } });
    await once(second, 'open');
    const closed = once(second, 'close');
    await running.proxy.stop(60_000);
    await closed;
  });

  test('is closed when its project gets another target, while requests in progress are finished', async ({ echo }) => {
    const running = await proxyTo(echo.url);
    const socket = new WebSocket(`ws://127.0.0.1:${running.httpPort}/`, { headers: { host: DEMO } });
    await once(socket, 'open');
    // The same target again, as in every publish, changes nothing.
    running.proxy.publish(snapshotTo(echo.url));
    socket.send('still here');
    await once(socket, 'message');
    const upstream = await startUpstream((_request, response) => response.end('elsewhere'));
    const closed = once(socket, 'close');
    running.proxy.publish(snapshotTo(upstream.url));
    await closed;
  });

  test('reaches names under localhost without querying a resolver', async ({ echo }) => {
    const running = await proxyTo(echo.url.replace('127.0.0.1', 'deep.app.localhost'));
    const socket = new WebSocket(`ws://127.0.0.1:${running.httpPort}/`, { headers: { host: DEMO } });
    await once(socket, 'open');
    socket.terminate();
    await untilConnections(running, 0);
  });

  test('is refused by the limit if the project has one, with an explanation', async ({ echo }) => {
    const running = await proxyTo(echo.url, { destination: { limited: true } });
    running.limiter.refusing = true;
    const answer = await sendRaw(running.httpPort, UPGRADE);
    expect(answer.body).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
    expect(answer.text).toMatch(/\r\nConnection: close\r\n/i);
    await until(() => running.summaries.length === 1);
    expect(running.summaries).toMatchObject([{ status: 429, byProxy: true, aborted: false }]);
  });

  test.each([
    ['refused by the upstream', 'HTTP/1.1 403 Forbidden\r\nX-RateLimit-Limit: mine\r\nContent-Length: 0\r\n\r\n'],
    [
      'opened',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-RateLimit-Limit: mine\r\n\r\n',
    ],
  ])('%s reports the remaining limit, if the project has one', async (_what, answer) => {
    const upstream = await startRawUpstream((socket) => socket.once('data', () => socket.end(answer)));
    const running = await proxyTo(upstream.url, { destination: { limited: true } });
    const { text } = await sendRaw(running.httpPort, UPGRADE);
    expect(text.slice(0, 12)).toBe(answer.slice(0, 12));
    expect(text.match(/x-ratelimit-\w+: .*/gi)).toEqual([
      'X-RateLimit-Limit: 60',
      'X-RateLimit-Remaining: 59',
      'X-RateLimit-Reset: 1800000000',
    ]);
  });

  test('to an upstream that is down is answered with 502', async () => {
    const running = await proxyTo('http://127.0.0.1:1', { recording: 'bodies' });
    const answer = await sendRaw(running.httpPort, UPGRADE);
    expect(answer.body).toMatchObject({ code: 'bad_gateway', status: 502 });
    await untilConnections(running, 0);
    expect(running.summaries).toMatchObject([{ status: 502, byProxy: true, aborted: false }]);
    const [head = '', body = ''] = answer.text.split(/(?<=\r\n\r\n)/);
    expect(running.summaries[0]?.record?.responseHead).toBe(head);
    expect(running.summaries[0]?.record?.responseBody.chunks.join('')).toBe(Buffer.from(body, 'latin1').toString());
  });

  test('that the upstream refuses gets the upstream’s answer, and is closed', async () => {
    const upstream = await startUpstream(() => undefined);
    upstream.server.on('upgrade', (_request, socket) =>
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nKeep-Alive: timeout=5\r\nX-Why: origin\r\n\r\nno'),
    );
    const answer = await sendRaw((await proxyTo(upstream.url)).httpPort, UPGRADE);
    expect(answer.text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(answer.text).toMatch(/x-why: origin/i);
    expect(answer.text).not.toMatch(/keep-alive/i);
    expect(answer.text).toContain('no');
  });

  test('is an ordinary request at a hostname without an upstream, and for HTTP/2', async () => {
    const upstream = await startUpstream((_request, response) => response.end('plain'));
    const running = await proxyTo(upstream.url);
    const atApi = await sendRaw(
      running.httpPort,
      UPGRADE.replace(DEMO, SHOP).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    );
    expect(atApi.status).toBe(200);
    const h2c = await sendRaw(
      running.httpPort,
      `GET / HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`,
    );
    expect(h2c.text).toContain('plain');
  });

  test('whose client disconnects before the upstream has answered leaves nothing open', async () => {
    const upstream = await startRawUpstream(() => undefined);
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort, UPGRADE);
    await until(() => upstream.sockets.size === 1);
    socket.destroy();
    await until(() => upstream.sockets.size === 0);
    await untilConnections(running, 0);
  });

  test('whose upstream resets ends for the client, and Vivarium keeps running', async () => {
    const upstream = await startRawUpstream((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n', () =>
          setImmediate(() => socket.resetAndDestroy()),
        ),
      ),
    );
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort, UPGRADE);
    await readUntil(socket, /101 Switching Protocols/);
    const rest = await readToEnd(socket).catch(() => '');
    expect(rest, 'an answer of ours would be taken for a frame').not.toContain('HTTP/1.1');
    await untilConnections(running, 0);
    expect(
      (await sendRaw(running.httpPort, `GET / HTTP/1.1\r\nHost: ${SHOP}\r\nConnection: close\r\n\r\n`)).status,
    ).toBe(200);
  });

  test('forwards to the upstream what was sent along with the upgrade request', async () => {
    let received = '';
    const upstream = await startRawUpstream((socket) => {
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
        if (received.endsWith('\r\n\r\n'))
          socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello');
      });
    });
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort, `${UPGRADE}early`);
    await readUntil(socket, /hello/);
    await until(() => received.endsWith('early'));
    socket.destroy();
    expect(received).toMatch(/connection: upgrade\r\nupgrade: websocket/i);
    expect(received).toMatch(/via: 1\.1 vivarium-test/i);
  });
});

describe('an upstream for WebSockets only', () => {
  const probe = (url: string, answerMs?: number) => probeUpstream({ url }, 'vivarium-test', answerMs);

  test('deploys if it answers other requests with 426', async () => {
    await expect(probe((await startEcho()).url)).resolves.toBeUndefined();
  });

  test('deploys if it does not answer others', async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    track(() => sockets.close());
    const url = `http://127.0.0.1:${(await listen(server)).port}`;
    // The handshake may take this long on a busy machine.
    await expect(probe(url, 1_000)).resolves.toBeUndefined();
  });

  test('does not deploy if it answers nothing at all', async () => {
    const { url } = await startRawUpstream(() => undefined);
    await expect(probe(url, 200)).rejects.toThrow('did not start to answer within 0.2 s');
  });
});

describe('a WebSocket over HTTP/2 (RFC 8441)', () => {
  const certificates = createTestCertificates();

  const serve = async (url: string, options: Parameters<typeof proxyTo>[1] = {}) => {
    const running = await proxyTo(url, { certificates, ...options });
    const session = openHttp2(running);
    const [settings] = (await once(session, 'remoteSettings')) as [Settings];
    expect(settings.enableConnectProtocol).toBe(true);
    return { running, session };
  };
  /** Opens a stream; returns its status and fields. */
  const open = async (session: ClientHttp2Session, fields: OutgoingHttpHeaders = {}) => {
    const stream = session.request({
      ...{ ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'https', ':path': '/chat', ':authority': DEMO },
      'sec-websocket-version': '13',
      ...fields,
    });
    stream.on('error', () => undefined);
    const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    return { stream, answer };
  };
  /** A text frame, masked with zeros. */
  const frame = (text: string) =>
    Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
  const textOf = async (stream: ClientHttp2Stream) => {
    let text = '';
    for await (const chunk of stream as AsyncIterable<Buffer>) text += chunk.toString();
    return text;
  };

  test('carries frames both ways beside other streams, is recorded, and ends with the upstream', async ({ echo }) => {
    const { running, session } = await serve(echo.url);
    const [first, second] = [await open(session), await open(session)];
    expect(first.answer[':status']).toBe(200);
    expect(Object.keys(first.answer)).not.toContain('sec-websocket-accept');
    for (const [{ stream }, text] of [
      [first, 'one'],
      [second, 'two'],
    ] as const) {
      stream.write(frame(text));
      const [heard] = (await once(stream, 'data')) as [Buffer];
      expect(heard).toEqual(Buffer.concat([Buffer.from([0x81, 3]), Buffer.from(text)]));
    }
    // A stream that the client resets closes its upstream connection, and only that.
    first.stream.close(constants.NGHTTP2_CANCEL);
    await until(() => echo.server.clients.size === 1);
    for (const client of echo.server.clients) client.close(4001, 'enough');
    const [closing] = (await once(second.stream, 'data')) as [Buffer];
    expect(closing.subarray(0, 4)).toEqual(Buffer.from([0x88, 8, 0x0f, 0xa1]));
    second.stream.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x0f, 0xa1]));
    await once(second.stream, 'close');
    expect([second.stream.rstCode, session.closed]).toEqual([constants.NGHTTP2_NO_ERROR, false]);
    await until(() => running.summaries.length === 2);
    expect(
      running.summaries.map(({ method, status, stage, httpVersion }) => [method, status, stage, httpVersion]),
    ).toEqual([
      ['GET', 101, 'target', '2.0'],
      ['GET', 101, 'target', '2.0'],
    ]);
  });

  test('is closed alone when its hostname is removed or gets another target, and when Vivarium stops', async () => {
    const echo = await startEcho();
    const { running, session } = await serve(echo.url);
    const closed = async (change: () => void) => {
      const { stream } = await open(session);
      const gone = once(stream, 'close');
      change();
      await gone;
      expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    };
    const other = await startUpstream((_request, response) => void response.end());
    await closed(() => running.proxy.publish(snapshotTo(other.url)));
    expect(session.destroyed).toBe(false);
    running.proxy.publish(snapshotTo(echo.url));
    await closed(() => void running.proxy.stop(60_000));
  });

  test.each<[string, number, (socket: Socket) => void]>([
    ['that the upstream does not want', 403, (socket) => socket.end('HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno')],
    [
      'that the upstream accepts for another key',
      502,
      (socket) =>
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n',
        ),
    ],
    ['to an upstream that breaks off', 502, (socket) => socket.destroy()],
  ])('%s is answered with %i', async (_what, status, speak) => {
    const upstream = await startRawUpstream((socket) => socket.once('data', () => speak(socket)));
    const { running, session } = await serve(upstream.url);
    const { stream, answer } = await open(session);
    expect(answer[':status']).toBe(status);
    const text = await textOf(stream);
    if (status === 403) expect(text).toBe('no');
    await until(() => running.summaries.length === 1);
  });

  test('is refused by the limit with an explanation, and everywhere except at an upstream', async ({ echo }) => {
    const { running, session } = await serve(echo.url, { destination: { limited: true } });
    expect((await open(session)).answer).toMatchObject({ ':status': 200, 'x-ratelimit-remaining': '59' });
    running.limiter.refusing = true;
    const { stream, answer } = await open(session);
    expect(answer).toMatchObject({ ':status': 429, 'retry-after': '7' });
    expect(JSON.parse(await textOf(stream))).toMatchObject({ code: 'rate_limit_exceeded' });
    expect((await open(session, { ':authority': SHOP })).answer[':status']).toBe(405);
    expect((await open(session, { ':protocol': 'connect-udp' })).answer[':status']).toBe(405);
  });
});

describe('an upgrade to another protocol', () => {
  const FOO = UPGRADE.replace('websocket', 'foo, bar/2').replace(/Sec-[^]*$/, '\r\n');

  test('passes, with the octets of both sides, recorded without frames', async () => {
    const asked: string[] = [];
    const upstream = await startRawUpstream((socket) =>
      socket.once('data', (head: Buffer) => {
        asked.push(head.toString());
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: bar/2\r\n\r\nhello ');
        socket.on('data', (chunk: Buffer) => socket.end(Buffer.concat([Buffer.from([128, 255]), chunk])));
      }),
    );
    const running = await proxyTo(upstream.url, { recording: 'bodies' });
    const socket = await openSocket(running.httpPort);
    const text = readToEnd(socket);
    socket.write(FOO);
    await readUntil(socket, /hello /);
    socket.write('you');
    expect(await text).toMatch(
      /^HTTP\/1\.1 101 Switching Protocols\r\n(?:.*\r\n)*upgrade: bar\/2\r\n(?:.*\r\n)*\r\nhello \x80\xffyou$/i,
    );
    expect(asked[0]).toMatch(/\r\nupgrade: foo, bar\/2\r\n/i);
    expect(asked[0]).toMatch(/\r\nconnection: upgrade\r\n/i);
    await until(() => running.summaries.length === 1);
    expect(running.summaries).toMatchObject([{ status: 101, record: { frames: null } }]);
  });

  test('that the upstream does not want gets its answer', async () => {
    const upstream = await startUpstream((_request, response) => response.writeHead(404).end('not here'));
    upstream.server.on('upgrade', (_request, socket: Socket) =>
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 8\r\n\r\nnot here'),
    );
    const { text } = await sendRaw((await proxyTo(upstream.url)).httpPort, FOO);
    expect(text).toMatch(/^HTTP\/1\.1 404 [^]*not here/);
  });
});
