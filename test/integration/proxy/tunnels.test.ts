import { connect as http2Connect } from 'node:http2';
import type { Socket } from 'node:net';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { curl } from '../../support/command.ts';
import {
  answerOn,
  DEMO,
  type Handler,
  MOVED,
  routeFor,
  type RunningProxy,
  SHOP,
  startProxy,
  testSnapshot,
  untilConnections,
} from '../../support/proxy/proxy-harness.ts';
import { closed, openSocket, parseRaw, readToEnd, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { proxyTo, startRawUpstream } from '../../support/upstream-server.ts';

const certificates = createTestCertificates();
let running: RunningProxy;

/** Real timeouts, short enough to wait for, and long enough for what comes before on a busy machine. */
const SHORT = { sweepIntervalMs: 20, headersTimeoutMs: 1_000, handshakeTimeoutMs: 1_000, lingerMs: 1_000 };

async function startSecure(options: Parameters<typeof startProxy>[0] = {}): Promise<void> {
  running = await startProxy({ certificates, ...options });
}

const connectTo = (authority: string, more = ''): string =>
  `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${more}\r\n`;
const asUrl = (line: string): string => `${line} HTTP/1.1\r\nHost: ${SHOP}\r\nConnection: close\r\n\r\n`;
const get = (host: string): string => `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

/** A connection through which `authority` has been reached. */
async function openTunnel(authority: string): Promise<Socket> {
  const socket = await openSocket(running.httpPort, connectTo(authority));
  expect(await readUntil(socket, /\r\n\r\n/)).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
  return socket;
}

function secure(socket: Socket, servername: string, ALPNProtocols = ['http/1.1']): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = tlsConnect({ socket, servername, ca: certificates.trusted, ALPNProtocols });
    secured.once('secureConnect', () => resolve(secured));
    secured.once('error', reject);
  });
}

describe('a tunnel', () => {
  test('to port 443 reaches the HTTPS listener, which then names port 443', async () => {
    await startSecure();
    const tls = await secure(await openTunnel(`${SHOP}:443`), SHOP);
    tls.write(get(SHOP));
    expect(parseRaw(await readToEnd(tls)).body).toMatchObject({ hostname: SHOP, scheme: 'https' });
    expect(running.limiter.asked[0]?.caller).toMatchObject({ kind: 'address', address: '127.0.0.1' });
  });

  test('carries HTTP/2', async () => {
    await startSecure();
    const tls = await secure(await openTunnel(`${SHOP}:443`), SHOP, ['h2']);
    const session = http2Connect(`https://${SHOP}`, { createConnection: () => tls });
    const { text } = await answerOn(session.request({ ':path': '/x' }));
    expect(JSON.parse(text)).toMatchObject({ hostname: SHOP, httpVersion: '2.0', origin: `https://${SHOP}:443` });
    session.destroy();
  });

  test('to port 80 reaches the HTTP listener, for one request after another', async () => {
    running = await startProxy();
    const socket = await openTunnel(`${SHOP}:80`);
    for (const path of ['/a', '/b']) {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${SHOP}\r\n\r\n`);
      expect(await readUntil(socket, /"httpVersion":"1.1"\}/)).toContain(`"url":"${path}"`);
    }
    socket.destroy();
  });

  test('is redirected to the requested port', async () => {
    running = await startProxy();
    const socket = await openTunnel(`${MOVED}:80`);
    socket.write(get(MOVED));
    expect(await readToEnd(socket)).toContain(`Location: http://${SHOP}/\r\n`);
  });

  test('carries what curl requests through it, by HTTP/1.1 and HTTP/2', async () => {
    await startSecure();
    for (const version of ['--http1.1', '--http2']) {
      const { stdout } = await curl(
        ...['--noproxy', '', '--proxy', `http://127.0.0.1:${running.httpPort}`],
        ...['--cacert', certificates.trustFile, version, `https://${SHOP}/v1/pets`],
      );
      expect(stdout).toContain(`"origin":"https://${SHOP}"`);
    }
  });

  test('carries a WebSocket', async () => {
    const upstream = await startRawUpstream((socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello'),
      );
    });
    running = await proxyTo(upstream.url);
    const socket = await openTunnel(`${DEMO}:80`);
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    socket.write(`GET / HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n`);
    expect(await readUntil(socket, /hello$/)).toMatch(/^HTTP\/1\.1 101 /);
    socket.destroy();
  });

  test('is cut when its hostname is removed, and others stay', async () => {
    await startSecure();
    const lost = await secure(await openTunnel(`${SHOP}:443`), SHOP);
    const kept = await secure(await openTunnel(`${DEMO}:443`), DEMO);
    running.proxy.publish(testSnapshot({ routes: [routeFor(DEMO, 'prj_demo')], redirects: new Map() }));
    await closed(lost);
    kept.write(get(DEMO));
    expect(parseRaw(await readToEnd(kept)).status).toBe(200);
  });

  test('opens no second connection', async () => {
    await startSecure();
    const tls = await secure(await openTunnel(`${SHOP}:443`), SHOP);
    expect(running.proxy.connections()).toBe(1);
    tls.destroy();
    await untilConnections(running, 0);
  });
});

/** Each is refused, the connection closed, and no other host connected. */
describe.each<[threat: string, bytes: string | Buffer, status: number, message: RegExp]>([
  [
    'open proxy: a hostname of the internet',
    connectTo('example.com:443'),
    403,
    /served here, and example\.com is not one/,
  ],
  ['open proxy: a name under a mapped one', connectTo(`x.${SHOP}:443`), 403, /is not one/],
  ['open proxy: port scan by address', connectTo('127.0.0.1:22'), 403, /never to an address/],
  ['open proxy: IPv6 literal', connectTo('[::1]:443'), 403, /never to an address/],
  ['open proxy: the cloud’s metadata', connectTo('169.254.169.254:80'), 403, /never to an address/],
  ['open proxy: a port that is not ours', connectTo(`${SHOP}:25`), 403, /443 and \d+ \(HTTPS\), 80 and \d+ \(HTTP\)/],
  ['open proxy: user information', connectTo(`${SHOP}:443@example.com:443`), 400, /./],
  ['open proxy: a URL', `CONNECT http://example.com/ HTTP/1.1\r\nHost: ${SHOP}\r\n\r\n`, 400, /./],
  ['open proxy: a URL of another host', asUrl('GET http://example.com/'), 403, /is not one/],
  ['open proxy: a URL of another port', asUrl(`GET http://${SHOP}:22/`), 403, /port 22/],
  ['open proxy: OPTIONS of another host', asUrl('OPTIONS http://example.com'), 403, /is not one/],
  ['confusion: no port', connectTo(SHOP), 400, /./],
  ['confusion: IDN in UTF-8', Buffer.from(connectTo('bücher.example:443')), 400, /./],
  ['confusion: Host of another', `CONNECT ${SHOP}:443 HTTP/1.1\r\nHost: example.com\r\n\r\n`, 400, /differ/],
  ['smuggling: two Hosts', connectTo(`${SHOP}:443`, 'Host: example.com\r\n'), 400, /more than one Host/],
  ['smuggling: a length', connectTo(`${SHOP}:443`, 'Content-Length: 5\r\n'), 400, /no content/],
  ['smuggling: chunks', connectTo(`${SHOP}:443`, 'Transfer-Encoding: chunked\r\n'), 400, /no content/],
  ['smuggling: obs-fold', connectTo(`${SHOP}:443`, 'X: a\r\n b\r\n'), 400, /folded/],
  ['smuggling: bare LF', `CONNECT ${SHOP}:443 HTTP/1.1\nHost: ${SHOP}\n\n`, 400, /CR LF/],
  ['exhaustion: a head without end', `CONNECT ${SHOP}:443 HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`, 431, /16384 bytes/],
  ['exhaustion: 101 fields', connectTo(`${SHOP}:443`, 'X: y\r\n'.repeat(100)), 431, /more than 100/],
])('threat: %s', (_, bytes, status, message) => {
  test(`is refused with ${status} and an explanation, and what follows is never parsed as a request`, async () => {
    running = await startProxy();
    const smuggled = Buffer.concat([Buffer.from(bytes), Buffer.from(get(SHOP))]);
    const answer = await sendRaw(running.httpPort, smuggled);
    expect(answer.body).toMatchObject({ status, message: expect.stringMatching(message) as unknown });
    expect(answer.status).toBe(status);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
  });
});

describe('threat', () => {
  test('bytes sent before the 200: they belong to the tunnel, as if they had come after it', async () => {
    running = await startProxy();
    const text = (await sendRaw(running.httpPort, connectTo(`${SHOP}:80`) + get(SHOP))).text;
    const [established, answer] = text.split(/(?<=established\r\n\r\n)/);
    expect(established).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
    expect(parseRaw(answer ?? '').body).toMatchObject({ hostname: SHOP });
  });

  test('a ClientHello sent before the 200 is answered in TLS', async () => {
    await startSecure();
    // A ClientHello that cannot be read: fatal alert, decode_error.
    const answer = await sendRaw(
      running.httpPort,
      Buffer.concat([Buffer.from(connectTo(`${SHOP}:443`)), Buffer.from([22, 3, 1, 0, 4, 1, 0, 0, 0])]),
    );
    expect(Buffer.from(answer.text.slice(-7), 'latin1')).toEqual(Buffer.from([21, 3, 3, 0, 2, 2, 50]));
  });

  test('response smuggling: a CONNECT behind a pending request does not overtake its answer', async () => {
    let answerLate = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      const handle: Handler = (_request, response) => {
        answerLate = () => response.end('late');
        resolve();
      };
      void startProxy({ handle }).then(async (started) => {
        running = started;
        const socket = await openSocket(started.httpPort);
        whole = readToEnd(socket);
        socket.write(`GET / HTTP/1.1\r\nHost: ${SHOP}\r\n\r\n${connectTo(`${SHOP}:80`)}${get(SHOP)}`);
      });
    });
    let whole: Promise<string> = Promise.resolve('');
    await arrived;
    answerLate();
    const text = await whole;
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(text).toContain('Read their answers first');
    expect(text).not.toContain('established');
  });

  test('a tunnel within a tunnel is refused', async () => {
    running = await startProxy();
    const socket = await openTunnel(`${SHOP}:80`);
    socket.write(connectTo(`${SHOP}:80`));
    expect(parseRaw(await readToEnd(socket)).status).toBe(405);
  });

  test('a tunnel inside TLS is refused', async () => {
    await startSecure();
    const tls = await secure(await openTunnel(`${SHOP}:443`), SHOP);
    tls.write(connectTo(`${SHOP}:443`));
    expect(parseRaw(await readToEnd(tls)).status).toBe(405);
  });

  test('another name inside the tunnel than outside: only served hostnames are reachable', async () => {
    await startSecure();
    const socket = await openTunnel(`${SHOP}:443`);
    await expect(secure(socket, 'evil.test')).rejects.toThrow(/unrecognized name/i);
  });

  test.each([80, 443])('a silent tunnel to port %s is closed', async (port) => {
    await startSecure({ limits: SHORT });
    const socket = await openTunnel(`${SHOP}:${port}`);
    await closed(socket);
    await untilConnections(running, 0);
  });

  test.each([80, 443])('a half-open tunnel to port %s, whose client has ended, is closed', async (port) => {
    await startSecure();
    const socket = await openTunnel(`${SHOP}:${port}`);
    socket.end();
    await untilConnections(running, 0);
  });

  test('a half-open tunnel whose client ends TCP without a TLS alert is closed', async () => {
    // Not by a timeout.
    await startSecure({
      limits: { handshakeTimeoutMs: 600_000, headersTimeoutMs: 600_000, keepAliveTimeoutMs: 600_000 },
    });
    const socket = await openTunnel(`${SHOP}:443`);
    await secure(socket, SHOP);
    // Past the TLS socket, so that no close_notify is sent.
    socket.end();
    await untilConnections(running, 0);
  });

  test.each([
    ['in the CONNECT head', `CONNECT ${SHOP}:443 HTTP/1.1\r\nHo`],
    ['at the 200', connectTo(`${SHOP}:443`)],
    ['in the ClientHello', `${connectTo(`${SHOP}:443`)}\x16\x03\x01`],
  ])('a client that aborts %s leaves nothing behind', async (_, bytes) => {
    await startSecure();
    const socket = await openSocket(running.httpPort);
    socket.write(bytes, 'latin1', () => socket.resetAndDestroy());
    await closed(socket);
    await untilConnections(running, 0);
  });

  test('too many tunnels: the longest idle one makes room', async () => {
    running = await startProxy({ limits: { connectionsMax: 2 } });
    const first = await openTunnel(`${SHOP}:80`);
    const gone = closed(first);
    await openTunnel(`${SHOP}:80`);
    await openTunnel(`${SHOP}:80`);
    await gone;
    expect(running.proxy.connections()).toBe(2);
  });

  test('open tunnels do not delay a shutdown', async () => {
    await startSecure();
    const tunnels = [await openTunnel(`${SHOP}:80`), await openTunnel(`${SHOP}:443`)];
    const secured = await secure(await openTunnel(`${DEMO}:443`), DEMO);
    await running.proxy.stop(60_000);
    await Promise.all([...tunnels, secured].map(closed));
  });
});
