import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { createSecureContext, connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { describe, expect, test as base } from 'vitest';
import { openChildrenProxy } from '../../../main/children/proxy.ts';
import { track } from '../../support/engine.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { DEMO, startProxy } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { listen } from '../../support/ports.ts';
import { startRawUpstream, startUpstream, until } from '../../support/upstream-server.ts';

const FAR = 'far.example.com';

/** A proxy for children; without an engine, unless `enginePort` says where one is. */
async function open({
  enginePort = () => null,
  env = {},
  ca,
  onBrowser = () => undefined,
}: { enginePort?: () => number | null; env?: Record<string, string>; ca?: string; onBrowser?: () => void } = {}) {
  const context = createSecureContext(ca === undefined ? {} : { ca });
  const proxy = await openChildrenProxy({ enginePort, env, onBrowser, trust: () => context });
  track(() => proxy.close());
  const { port, username, password } = new URL(proxy.url);
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  return { ...proxy, port: Number(port), field: `Proxy-Authorization: Basic ${credentials}\r\n` };
}

const test = base.extend('proxy', () => open());
type Opened = Awaited<ReturnType<typeof open>>;

const connectTo = (authority: string, field: string): string =>
  `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${field}\r\n`;

async function tunnel({ port, field }: Opened, authority: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write(connectTo(authority, field));
  expect(await readUntil(socket, /\r\n\r\n/)).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
  return socket;
}

const get = ({ port, field }: Opened, url: string, more = ''): ReturnType<typeof sendRaw> =>
  sendRaw(port, `GET ${url} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n${field}${more}Connection: close\r\n\r\n`);

/** A proxy that was set before: notes what it is asked, and answers every request itself or tunnels to `to`. */
async function startFormerProxy(to: number | null, status = 200) {
  const asked: string[] = [];
  const note = (line: string, authorization: string | undefined) => asked.push(`${line} ${authorization ?? '-'}`);
  const server = createServer(({ method, url, headers }, response) => {
    note(`${method} ${url}`, headers['proxy-authorization']);
    response.end('from the former proxy');
  });
  server.on('connect', ({ url, headers }, socket: Socket) => {
    note(`CONNECT ${url}`, headers['proxy-authorization']);
    socket.on('error', () => undefined);
    if (to === null) return void socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
    const there = connect({ port: to, host: '127.0.0.1' });
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    there
      .on('error', () => undefined)
      .pipe(socket)
      .pipe(there);
  });
  return { asked, port: (await listen(server)).port };
}

describe('the proxy of children', () => {
  test.each([
    ['no token', ''],
    ['another token', `Proxy-Authorization: Basic ${Buffer.from('vivarium:no').toString('base64')}\r\n`],
  ])('answers 407 to %s, whatever the target is, and connects to nothing', async (_what, field) => {
    const upstream = await startRawUpstream((socket) => socket.destroy());
    const { port } = await open({ enginePort: () => expect.fail('asked for the engine') as never });
    const { host } = new URL(upstream.url);
    for (const target of [host, FAR, 'not a target']) {
      expect((await sendRaw(port, connectTo(target.replaceAll(' ', '_'), field))).status).toBe(407);
    }
    for (const target of [`http://${host}/`, '/']) {
      const { status, text } = await sendRaw(
        port,
        `GET ${target} HTTP/1.1\r\nHost: x\r\n${field}Connection: close\r\n\r\n`,
      );
      expect([status, text]).toEqual([407, expect.stringContaining('proxy-authenticate: Basic')]);
    }
    expect(upstream.sockets.size).toBe(0);
  });

  test('reports a browser that sends no token, and no other program', async () => {
    let browsers = 0;
    const { port, field } = await open({ onBrowser: () => browsers++ });
    const browser = 'User-Agent: Mozilla/5.0 HeadlessChrome/156.0\r\n';
    for (const fields of [browser, 'User-Agent: git/2.39\r\n', `${browser}${field}`]) {
      await sendRaw(port, connectTo('nothing', fields));
    }
    expect(browsers).toBe(1);
  });

  test('leads the hostnames of Vivarium there, as URLs and by CONNECT, and everything else to where it is', async () => {
    const certificates = createTestCertificates();
    const engine = await startProxy({ certificates });
    track(engine.stop);
    const proxy = await open({ enginePort: () => engine.httpPort, ca: certificates.trusted });
    const { url } = await startUpstream((_request, response) => response.end('elsewhere'));
    // Some clients ask a proxy for URLs of HTTPS.
    for (const own of [
      `http://${DEMO}/v1/pets`,
      `https://${DEMO}/v1/pets`,
      `http://${DEMO}:${engine.httpPort}/v1/pets`,
    ]) {
      expect((await get(proxy, own)).text).toContain('"hostname":"demo.vivarium.localhost"');
    }
    for (const port of [443, engine.httpsPort]) {
      const socket = await tunnel(proxy, `${DEMO}:${port}`);
      const secured = connectTls({ socket, servername: DEMO, ca: certificates.trusted });
      secured.write(`GET /v1/pets HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\n\r\n`);
      expect(await readToEnd(secured)).toContain('"hostname":"demo.vivarium.localhost"');
    }
    expect((await get(proxy, `${url}/`)).text).toContain('elsewhere');
    expect((await get(proxy, `${url.replace('127.0.0.1', 'localhost')}/`)).text).toContain('elsewhere');
    expect((await get(proxy, `${url.replace('127.0.0.1', 'app.localhost')}/`)).text).toContain('elsewhere');
    const { status, text } = await get(proxy, 'http://nothing.invalid/');
    expect([status, text]).toEqual([
      502,
      expect.stringContaining(
        'cannot reach nothing.invalid: Vivarium does not serve it, and connecting to it fails (ENOTFOUND)',
      ),
    ]);
    expect((await sendRaw(proxy.port, connectTo('nothing', proxy.field))).status).toBe(400);
    expect(
      (await sendRaw(proxy.port, `GET / HTTP/1.1\r\nHost: x\r\n${proxy.field}Connection: close\r\n\r\n`)).status,
    ).toBe(400);
  });

  test('keeps requests for Vivarium from a machine of the same name while Vivarium does not answer', async () => {
    const engine = await startProxy({});
    const former = await startFormerProxy(null);
    const proxy = await open({ enginePort: () => engine.httpPort, env: { HTTP_PROXY: `127.0.0.1:${former.port}` } });
    expect((await get(proxy, `http://${DEMO}/v1/pets`)).status).toBe(200);
    await engine.stop();
    const { status, text } = await get(proxy, `http://${DEMO}/v1/pets`);
    expect([status, text]).toEqual([502, expect.stringContaining('Vivarium, which serves it, does not answer')]);
    expect((await get(proxy, `http://${FAR}/`)).text).toContain('from the former proxy');
    expect(former.asked).toEqual([`GET http://${FAR}/ -`]);
  });

  test('does not believe the certificate of a URL that it cannot verify', async () => {
    const certificates = createTestCertificates();
    const engine = await startProxy({ certificates });
    track(engine.stop);
    const proxy = await open({ enginePort: () => engine.httpPort });
    const { status, text } = await get(proxy, `https://${DEMO}/v1/pets`);
    expect([status, text]).toEqual([502, expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT')]);
  });
});

describe('a request through the proxy of children', () => {
  /** What a server receives of one request, directly or through the proxy. */
  async function received(bytes: (target: string, field: string) => string, isDirect: boolean) {
    const proxy = await open();
    let got = '';
    const raw = await startRawUpstream((socket) => {
      socket.on('data', (chunk: Buffer) => {
        got += chunk.toString('latin1');
        if (!got.endsWith('!') && !got.endsWith('0\r\n\r\n')) return;
        socket.end(
          'HTTP/1.1 207 Fine\r\nX-Odd-CASE: a\r\nX-Odd-CASE: b\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n3\r\nabc\r\n0\r\nX-End: 1\r\n\r\n',
        );
      });
    });
    const { host, port } = new URL(raw.url);
    const path = '/a/../b%2f?q=%zz#';
    const { text } = isDirect
      ? await sendRaw(Number(port), bytes(path, `Host: ${host}\r\n`))
      : await sendRaw(proxy.port, bytes(`http://${host}${path}`, `Host: ${host}\r\n${proxy.field}`));
    return [got.replaceAll(host, 'HOST'), text] as const;
  }

  test.each([
    ['with a length', 'PUT', 'Content-Length: 6\r\n\r\nhello!'],
    ['in chunks', 'DELETE', 'Transfer-Encoding: chunked\r\n\r\n6\r\nhello!\r\n0\r\n\r\n'],
  ])('arrives as it was written, body %s, and so does its answer', async (_what, method, rest) => {
    const bytes = (target: string, field: string) =>
      `${method} ${target} HTTP/1.1\r\n${field}X-LOUD: 1\r\nx-loud: 2\r\nCookie: a=b\r\nConnection: close\r\n${rest}`;
    const [[straight], [passed, answer]] = [await received(bytes, true), await received(bytes, false)];
    const fieldsOf = (text: string) => text.split(/\r\n/).toSorted();
    expect(fieldsOf(passed)).toEqual(fieldsOf(straight));
    expect(answer).toMatch(/^HTTP\/1\.1 207 Fine\r\nX-Odd-CASE: a\r\nX-Odd-CASE: b\r\nTrailer: X-End\r\n/);
    expect(answer).toMatch(/3\r\nabc\r\n0\r\nX-End: 1\r\n\r\n$/);
    expect(answer).not.toMatch(/^date:/im);
  });

  test('shares its connection with requests for other servers, each of which gets its own', async ({ proxy }) => {
    const servers = await Promise.all(
      ['one', 'two'].map((name) => startUpstream((_request, response) => response.end(name))),
    );
    const socket = await openSocket(proxy.port);
    for (const [index, { url }] of servers.entries()) {
      socket.write(`GET ${url}/ HTTP/1.1\r\nHost: x\r\n${proxy.field}\r\n`);
      await readUntil(socket, new RegExp(`\r\n\r\n${['one', 'two'][index] ?? ''}`));
    }
    expect(servers.map(({ requests }) => requests.map(({ headers }) => headers))).toEqual(
      servers.map(({ port }) => [{ host: `127.0.0.1:${port}`, connection: 'close' }]),
    );
    socket.destroy();
  });

  test('shows the head of an answer at once, and its end only if it is whole', async ({ proxy }) => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';
    let answering: Socket | undefined;
    const { url } = await startRawUpstream((socket) => {
      answering = socket;
      socket.write(head);
    });
    const socket = await openSocket(proxy.port, `GET ${url}/ HTTP/1.1\r\nHost: x\r\n${proxy.field}\r\n`);
    expect(await readUntil(socket, /\r\n\r\n/)).toContain('Content-Length: 10');
    const failed = once(socket, 'close');
    answering?.end('half');
    await failed;
  });

  test('ends at its server when the client leaves', async ({ proxy }) => {
    const { url, sockets } = await startRawUpstream(() => undefined);
    const socket = await openSocket(proxy.port, `GET ${url}/ HTTP/1.1\r\nHost: x\r\n${proxy.field}\r\n`);
    await until(() => sockets.size === 1);
    socket.destroy();
    await until(() => sockets.size === 0);
  });
});

describe('a tunnel of the proxy of children', () => {
  test('passes the end of one side on, and the other side goes on', async ({ proxy }) => {
    const { url } = await startRawUpstream(
      (socket) => {
        socket.once('end', () => socket.end('after the end'));
      },
      { allowHalfOpen: true },
    );
    const socket = await tunnel(proxy, new URL(url).host);
    socket.end('bye');
    expect(await readToEnd(socket)).toBe('after the end');
  });

  test.for(['the server', 'the client'])('passes a reset by %s on as a reset', async (who, { proxy }) => {
    const { promise: failed, resolve: fail } = Promise.withResolvers<unknown>();
    const { promise: opened, resolve } = Promise.withResolvers<Socket>();
    const server = createTcpServer((socket) => {
      socket.on('error', fail).resume();
      resolve(socket);
    });
    const socket = await tunnel(proxy, `127.0.0.1:${(await listen(server)).port}`);
    socket.on('error', fail).resume();
    socket.write('x');
    (who === 'the client' ? (await opened, socket) : await opened).resetAndDestroy();
    expect(await failed).toMatchObject({ code: 'ECONNRESET' });
    await opened.then((other) => other.destroy());
    socket.destroy();
  });

  test('stops reading from a server while the client does not read, and then delivers everything', async () => {
    const proxy = await open();
    const megabytes = 64;
    let isDone = false;
    const { url, sockets } = await startRawUpstream((socket) => {
      const chunk = Buffer.alloc(1 << 20, 'x');
      let left = megabytes;
      const write = (): void => {
        while (left > 0) if ((left--, !socket.write(chunk))) return void socket.once('drain', write);
        socket.end(() => (isDone = true));
      };
      socket.once('data', write);
    });
    const before = process.memoryUsage().arrayBuffers;
    const socket = await tunnel(proxy, new URL(url).host);
    socket.pause();
    socket.write('go');
    await until(() => [...sockets].some(({ writableNeedDrain }) => writableNeedDrain));
    const other = await get(proxy, `http://${new URL((await startUpstream((_q, r) => r.end('alive'))).url).host}/`);
    expect(other.text).toContain('alive');
    expect(isDone).toBe(false);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 << 20);
    let length = 0;
    socket.on('data', (chunk: Buffer) => (length += chunk.length));
    socket.resume();
    await once(socket, 'end');
    expect(length).toBe(megabytes << 20);
    socket.destroy();
  });

  test.each(['a tunnel', 'a request'])(
    'is not left open at a server when the client of %s has gone before it was reached',
    async (what) => {
      const former = createServer();
      const { promise: asked, resolve } = Promise.withResolvers<Socket>();
      former.on('connect', (_request, socket: Socket) => resolve(socket.on('error', () => undefined)));
      const { port } = await listen(former);
      const proxy = await open({ env: { HTTPS_PROXY: `http://127.0.0.1:${port}` } });
      const socket = await openSocket(proxy.port);
      const target = `https://${FAR}/`;
      socket.write(
        what === 'a tunnel'
          ? connectTo(`${FAR}:443`, proxy.field)
          : `GET ${target} HTTP/1.1\r\nHost: ${FAR}\r\n${proxy.field}\r\n`,
      );
      const there = await asked;
      socket.resetAndDestroy();
      await once(socket, 'close');
      there.write('HTTP/1.1 200 OK\r\n\r\n');
      there.resume().once('end', () => there.end());
      await once(there, 'close');
    },
  );

  test('ends with the proxy, and so does everything that it had opened', async ({ proxy }) => {
    const { url, sockets } = await startRawUpstream(() => undefined);
    const socket = await tunnel(proxy, new URL(url).host);
    const closed = once(socket, 'close');
    socket.resume().on('end', () => socket.destroy());
    await proxy.close();
    await closed;
    await until(() => sockets.size === 0);
    await expect(openSocket(proxy.port)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('a proxy that was set before', () => {
  const credentials = `Basic ${Buffer.from('jo:p@ss').toString('base64')}`;

  test('gets everything that is not Vivarium’s, with its credentials, and neither loopback nor what NO_PROXY names', async () => {
    const { port: there } = await startUpstream((_request, response) => response.end('reached'));
    const former = await startFormerProxy(there);
    const url = `http://jo:p%40ss@127.0.0.1:${former.port}`;
    const env = { http_proxy: url, HTTPS_PROXY: url, NO_PROXY: 'localhost, .invalid' };
    const proxy = await open({ env });
    expect((await get(proxy, `http://${FAR}/a?b`)).text).toContain('from the former proxy');
    const socket = await tunnel(proxy, `${FAR}:443`);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await readToEnd(socket)).toContain('reached');
    expect((await get(proxy, `http://127.0.0.1:${there}/`)).text).toContain('reached');
    expect((await get(proxy, `http://localhost:${there}/`)).text).toContain('reached');
    expect((await get(proxy, 'http://a.invalid/')).status).toBe(502);
    expect(former.asked).toEqual([`GET http://${FAR}/a?b ${credentials}`, `CONNECT ${FAR}:443 ${credentials}`]);
  });

  test('is reached over TLS if its URL says so, and by ALL_PROXY alone', async () => {
    const certificates = createTestCertificates(['localhost']);
    const { port: there } = await startUpstream((_request, response) => response.end());
    const former = await startFormerProxy(there);
    const connected: Socket[] = [];
    const context = certificates.contextFor('localhost');
    const server = createTlsServer({ secureContext: context ?? undefined } as object, (socket) => {
      connected.push(socket);
      const there = connect({ port: former.port, host: '127.0.0.1' });
      socket
        .on('error', () => undefined)
        .pipe(there.on('error', () => undefined))
        .pipe(socket);
    });
    server.addContext('localhost', context as never);
    const { port } = await listen(server);
    const proxy = await open({ env: { ALL_PROXY: `https://localhost:${port}` }, ca: certificates.trusted });
    expect((await get(proxy, `http://${FAR}/`)).text).toContain('from the former proxy');
    // A client that fails in a tunnel inside TLS.
    const through = await tunnel(proxy, `${FAR}:443`);
    const left = once(connected.at(-1) as Socket, 'close');
    through.resetAndDestroy();
    await left;
  });

  test('that refuses or cannot be used is named in the answer', async () => {
    const former = await startFormerProxy(null, 403);
    const refused = await open({ env: { HTTPS_PROXY: `http://jo:secret@127.0.0.1:${former.port}` } });
    const { status, text } = await sendRaw(refused.port, connectTo(`${FAR}:443`, refused.field));
    expect([status, text]).toEqual([502, expect.stringContaining(`the proxy 127.0.0.1:${former.port} answered 403`)]);
    const socks = await open({ env: { all_proxy: 'socks5://127.0.0.1:1080' } });
    expect((await get(socks, `http://${FAR}/`)).text).toContain('a proxy of the kind socks5:// cannot be used here');
  });
});
