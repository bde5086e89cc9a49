import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type RequestOptions, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { DEFAULT_PROXY_LIMITS } from '../../../main/proxy/front/proxy-limits.ts';
import type { UpstreamContext } from '../../../main/proxy/route-table.ts';
import { createUpstreams } from '../../../main/proxy/upstream/upstream.ts';
import { track } from '../../support/engine.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { answerOn, DEMO, SHOP, type RunningProxy, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import { curl } from '../../support/command.ts';
import { openSocket, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { startRawUpstream, startUpstream, until, proxyTo } from '../../support/upstream-server.ts';

const ask = ({ httpPort }: RunningProxy, lines: string, body = '') =>
  sendRaw(httpPort, `${lines}\r\nHost: ${DEMO}\r\nConnection: close\r\n${body === '' ? '\r\n' : body}`);

/** Sends a request, and waits until its answer begins. */
async function begin({ httpPort: port }: RunningProxy, options: RequestOptions = {}, body?: Buffer) {
  const asking = httpRequest({ port, host: '127.0.0.1', headers: { host: DEMO }, ...options }).end(body);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return response;
}

/** The hash of a body that is read in fits and starts. */
async function slowHashOf(body: IncomingMessage): Promise<string> {
  const hash = createHash('sha256');
  body.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    body.pause();
    setImmediate(() => body.resume());
  });
  await once(body, 'end');
  return hash.digest('hex');
}

describe('before the code for upstreams is loaded', () => {
  const create = () => {
    const upstreams = createUpstreams({ log: silentLog, limits: DEFAULT_PROXY_LIMITS, pseudonym: 'vivarium-test' });
    track(() => upstreams.close());
    return upstreams;
  };
  const contextOf = (url: string, response: ServerResponse): UpstreamContext => ({
    response,
    destination: { kind: 'upstream', url, host: 'keep', limited: false, withoutKey: 'free', verifyCertificate: true },
    from: { address: '127.0.0.1', scheme: 'http', authority: DEMO, port: 8080, client: null },
    rate: null,
    sendContinue: null,
    answer: vi.fn(),
    cut: vi.fn(),
  });

  test('a request waits together with its body, which other stages read too', async () => {
    const upstream = await startUpstream((request, response) => void request.pipe(response));
    let read = 0;
    const front = await startUpstream((request, response) => {
      request.on('data', (chunk: Buffer) => (read += chunk.length));
      create().handle(request, contextOf(upstream.url, response));
    });
    const body = 'x'.repeat(200_000);
    const answer = await fetch(front.url, { method: 'POST', body });
    expect([await answer.text(), read]).toEqual([body, body.length]);
  });

  test('a client that disconnects causes no request', async () => {
    const upstream = await startUpstream((_request, response) => void response.end());
    const front = await startUpstream((request, response) => {
      create().handle(request, contextOf(upstream.url, response));
      response.destroy();
    });
    await expect(fetch(front.url)).rejects.toThrow();
    await import('../../../main/proxy/upstream/forwarder.ts');
    await new Promise((resolve) => setImmediate(resolve));
    expect(upstream.requests).toEqual([]);
  });
});

describe('a request', () => {
  test('reaches the upstream with its method, target as sent, fields and body', async () => {
    const upstream = await startUpstream(async (request, response) => {
      response.writeHead(201, 'Made', { 'X-From': 'upstream' }).end(`got ${await text(request)}`);
    });
    const running = await proxyTo(`${upstream.url}/base`);
    const answer = await ask(
      running,
      'PUT /a/../b//c?x=%20&y=/..?z HTTP/1.1',
      'Content-Length: 5\r\nX-Own: one\r\nX-Own: two\r\n\r\nhello',
    );
    expect(answer.text).toContain('HTTP/1.1 201 Made\r\n');
    expect(answer.text).toContain('X-From: upstream\r\n');
    expect(answer.text).toContain('got hello');
    const [request] = upstream.requests;
    expect([request?.method, request?.url]).toEqual(['PUT', '/base/a/../b//c?x=%20&y=/..?z']);
    expect(request?.headers).toMatchObject({ 'x-own': 'one, two', 'content-length': '5' });
  });

  test.each([
    [['10.0.0.0/8', '127.0.0.1'], '192.0.2.1', 'https'],
    [[], '127.0.0.1', 'http'],
  ])('behind the trusted proxies %j comes from %s over %s', async (trustedProxies, address, scheme) => {
    const upstream = await startUpstream((_request, response) => response.end());
    const running = await proxyTo(upstream.url, { trustedProxies, destination: { limited: true } });
    await ask(running, 'GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1, 10.1.2.3\r\nX-Forwarded-Proto: https');
    const own = `for=127.0.0.1;host="${DEMO}";proto=http`;
    expect(upstream.requests[0]?.headers).toMatchObject({
      'x-forwarded-for': '192.0.2.1, 10.1.2.3, 127.0.0.1',
      'x-forwarded-proto': scheme,
      forwarded: address === '127.0.0.1' ? own : `for=192.0.2.1;host="${DEMO}";proto=https, ${own}`,
    });
    expect(running.limiter.asked).toMatchObject([{ caller: { kind: 'address', address } }]);
    await until(() => running.summaries.length === 1);
    expect(running.summaries[0]?.address).toBe(address);
  });

  test('tells how it arrived: Forwarded (RFC 7239), X-Forwarded-*, Via (RFC 9110 §7.6.3)', async () => {
    const upstream = await startUpstream((_request, response) => response.end());
    const running = await proxyTo(upstream.url);
    await ask(running, 'GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1');
    expect(upstream.requests[0]?.headers).toMatchObject({
      host: new URL(upstream.url).host,
      via: '1.1 vivarium-test',
      forwarded: `for=192.0.2.1, for=127.0.0.1;host="${DEMO}";proto=http`,
      'x-forwarded-for': '192.0.2.1, 127.0.0.1',
      'x-forwarded-host': DEMO,
      'x-forwarded-proto': 'http',
      'x-forwarded-port': String(running.httpPort),
    });
  });

  test('goes as far as Max-Forwards allows (RFC 9110 §7.6.2)', async () => {
    const upstream = await startUpstream((_request, response) => response.end());
    const running = await proxyTo(upstream.url);
    const asked = (method: string, left: number) => ask(running, `${method} / HTTP/1.1\r\nMax-Forwards: ${left}`);
    const last = await asked('OPTIONS', 0);
    expect([last.status, last.text.includes('Allow: GET, ')]).toEqual([200, true]);
    expect((await asked('TRACE', 0)).body).toMatchObject({ code: 'method_not_allowed', status: 405 });
    expect(upstream.requests).toEqual([]);
    for (const method of ['OPTIONS', 'TRACE']) expect((await asked(method, 3)).status).toBe(200);
    expect((await asked('GET', 0)).status).toBe(200);
    expect(upstream.requests.map(({ method, headers }) => `${method} ${headers['max-forwards']}`)).toEqual([
      'OPTIONS 2',
      'TRACE 2',
      'GET 0',
    ]);
  });

  test('keeps the client’s Host if the project is configured to', async () => {
    const upstream = await startUpstream((_request, response) => response.end());
    await ask(await proxyTo(upstream.url, { destination: { host: 'keep' } }), 'GET / HTTP/1.1');
    expect(upstream.requests[0]?.headers.host).toBe(DEMO);
  });

  test('loses its hop-by-hop fields (RFC 9110 §7.6.1)', async () => {
    const upstream = await startUpstream((_request, response) => response.end());
    const running = await proxyTo(upstream.url);
    await sendRaw(
      running.httpPort,
      [
        'GET / HTTP/1.1',
        `Host: ${DEMO}`,
        'Connection: close, X-Private',
        'X-Private: secret',
        'Keep-Alive: timeout=5',
        'Proxy-Connection: keep-alive',
        'Proxy-Authorization: Basic eDp5',
        'TE: trailers, gzip',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQAAP__',
        '\r\n',
      ].join('\r\n'),
    );
    const { headers } = upstream.requests[0] as IncomingMessage;
    for (const name of [
      'x-private',
      'keep-alive',
      'proxy-connection',
      'proxy-authorization',
      'upgrade',
      'http2-settings',
    ])
      expect(headers[name], name).toBeUndefined();
    expect(headers).toMatchObject({ te: 'trailers', connection: 'keep-alive' });
  });

  test('over HTTP/2 reaches an HTTP/1.1 upstream, and its answer comes back', async () => {
    const certificates = createTestCertificates();
    const upstream = await startUpstream(async (request, response) => {
      const { length } = await text(request);
      response.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'], 'Keep-Alive': 'timeout=5' }).end(String(length));
    });
    const running = await proxyTo(upstream.url, { certificates });
    const stream = openHttp2(running).request({ ':method': 'POST', ':path': '/up', cookie: ['x=1', 'y=2'] });
    stream.write(Buffer.alloc(100_000));
    const answer = await answerOn(stream.end(Buffer.alloc(1)));
    expect(answer).toMatchObject({ status: 200, text: '100001', headers: { 'set-cookie': ['a=1', 'b=2'] } });
    expect(answer.headers['keep-alive']).toBeUndefined();
    expect(upstream.requests[0]?.headers).toMatchObject({
      'transfer-encoding': 'chunked',
      cookie: 'x=1; y=2',
      via: '2.0 vivarium-test',
      'x-forwarded-proto': 'https',
    });
  });

  test.each(['DELETE', 'OPTIONS', 'GET', 'POST'])('of %s keeps its chunked body in one piece', async (method) => {
    const bodies: string[] = [];
    const upstream = await startUpstream(async (request, response) => {
      bodies.push(`${request.method} ${request.url} ${await text(request)}`);
      response.end();
    });
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    await ask(
      await proxyTo(upstream.url),
      `${method} /x HTTP/1.1`,
      `Transfer-Encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
    );
    expect(bodies).toEqual([`${method} /x ${smuggled}`]);
  });

  test('carries trailers both ways', async () => {
    const upstream = await startUpstream((request, response) => {
      request.resume();
      request.on('end', () => {
        response.writeHead(200, { Trailer: 'X-After' });
        response.write('body');
        response.addTrailers({ 'X-After': request.trailers['x-sum'] ?? 'none' });
        response.end();
      });
    });
    const answer = await ask(
      await proxyTo(upstream.url),
      'POST / HTTP/1.1',
      'TE: trailers\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 42\r\n\r\n',
    );
    expect(answer.text).toMatch(/\r\n0\r\nx-after: 42\r\n\r\n$/i);
  });

  test('gets interim responses (100, 103)', async () => {
    const upstream = await startUpstream((request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
      request.resume();
      request.on('end', () => response.end('done'));
    });
    const { httpPort: port } = await proxyTo(upstream.url);
    const seen: string[] = [];
    const headers = { host: DEMO, expect: '100-continue' };
    const asking = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers });
    asking.on('continue', () => {
      seen.push('100');
      asking.end('x');
    });
    asking.on('information', (head) => seen.push(`${head.statusCode} ${String(head.headers['link'])}`));
    asking.flushHeaders();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    expect(await text(response)).toBe('done');
    expect(seen).toContain('100');
    expect(seen).toContain('103 </style.css>; rel=preload; as=style');
    expect(upstream.requests[0]?.headers.expect).toBe('100-continue');
  });

  test('that expects 100 gets it from the upstream, which may refuse it first (RFC 9110 §10.1.1)', async () => {
    const upstream = await startUpstream(() => undefined);
    upstream.server.on('checkContinue', (request, response: ServerResponse) => {
      if (request.url !== '/wanted') {
        response.writeHead(401).end('who are you?');
        return;
      }
      response.writeContinue();
      request.resume();
      request.on('end', () => response.end('thanks'));
    });
    const running = await proxyTo(upstream.url);
    const expecting = (target: string) =>
      `PUT ${target} HTTP/1.1\r\nHost: ${DEMO}\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`;
    const refused = await sendRaw(running.httpPort, expecting('/'));
    expect(refused.text).toMatch(/^HTTP\/1\.1 401 /);
    // A client that sent no body cannot send another request there either: the connection is closed.
    expect(refused.text).toContain('Connection: close\r\n');
    const socket = await openSocket(running.httpPort, expecting('/wanted'));
    await readUntil(socket, /^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    socket.write('hello');
    await readUntil(socket, /^HTTP\/1\.1 200 OK\r\n[^]*thanks/);
    socket.destroy();
  });

  test('that expects 100 gets it even if the upstream does not support it', async () => {
    const upstream = await startRawUpstream((socket) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        if (text.endsWith('hello')) socket.end('HTTP/1.0 200 OK\r\n\r\nthanks');
      });
    });
    const running = await proxyTo(upstream.url, { limits: { sweepIntervalMs: 20 } });
    const socket = await openSocket(running.httpPort);
    socket.write(`PUT / HTTP/1.1\r\nHost: ${DEMO}\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`);
    await readUntil(socket, /100 Continue\r\n\r\n$/);
    socket.write('hello');
    await readUntil(socket, /thanks/);
    socket.destroy();
  });
});

describe('a response', () => {
  test('is streamed: an event arrives before the stream ends', async () => {
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: first\n\n');
    });
    const response = await begin(await proxyTo(upstream.url));
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toBe('data: first\n\n');
    response.destroy();
  });

  test('begins when the upstream begins it: its head arrives before a body', async () => {
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.flushHeaders();
    });
    const response = await begin(await proxyTo(upstream.url));
    expect(response.headers['content-type']).toBe('text/event-stream');
    response.destroy();
  });

  test.each([
    ['HEAD', 200, 'Content-Length: 7'],
    ['GET', 304, 'ETag: "x"'],
    ['GET', 204, 'X-None: yes'],
  ])('to %s with %d has no body, and keeps its fields', async (method, status, field) => {
    const upstream = await startUpstream((_request, response) => {
      const [name = '', value = ''] = field.split(': ');
      response.writeHead(status, { [name]: value }).end();
    });
    const answer = await ask(await proxyTo(upstream.url), `${method} / HTTP/1.1`);
    expect(answer.text).toContain(`HTTP/1.1 ${status}`);
    expect(answer.text).toContain(`${field}\r\n`);
    expect(answer.text.endsWith('\r\n\r\n')).toBe(true);
  });

  const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

  test.each([1, 256, 16 * 1024, 16 * 1024 + 256, 300_000, 4_000_000])(
    'of %i bytes is forwarded byte for byte',
    async (length) => {
      const body = Buffer.alloc(length, EVERY_BYTE);
      const upstream = await startUpstream((request, response) => {
        if (request.url === '/length') response.setHeader('Content-Length', body.length);
        response.write(body);
        response.end();
      });
      const running = await proxyTo(upstream.url);
      const whole = await ask(running, 'GET /length HTTP/1.1');
      expect(whole.text).toContain(`Content-Length: ${length}\r\n`);
      expect(whole.text.slice(whole.text.indexOf('\r\n\r\n') + 4)).toBe(body.toString('latin1'));
      // Over HTTP/1.0, so that it is not chunked.
      const flowing = await ask(running, 'GET /chunks HTTP/1.0');
      expect(flowing.text.slice(flowing.text.indexOf('\r\n\r\n') + 4)).toBe(body.toString('latin1'));
    },
  );

  test.each([
    ['with its length', '/length'],
    ['in chunks', '/chunks'],
  ])('that its client reads in fits and starts is forwarded byte for byte, %s', async (_how, path) => {
    const body = Buffer.alloc(24 * 1024 * 1024, EVERY_BYTE);
    const upstream = await startUpstream((request, response) => {
      if (request.url === '/length') response.setHeader('Content-Length', body.length);
      for (let start = 0; start < body.length; start += 64 * 1024)
        response.write(body.subarray(start, start + 64 * 1024));
      response.end();
    });
    const response = await begin(await proxyTo(upstream.url), { path });
    expect(await slowHashOf(response)).toBe(createHash('sha256').update(body).digest('hex'));
  });

  test.each([['with its length'], ['in chunks']])(
    'of a request that its upstream reads in fits and starts is forwarded byte for byte, %s',
    async (how) => {
      const body = Buffer.alloc(24 * 1024 * 1024, EVERY_BYTE);
      const upstream = await startUpstream(async (request, response) => void response.end(await slowHashOf(request)));
      const headers = { host: DEMO, ...(how === 'with its length' && { 'content-length': body.length }) };
      const response = await begin(await proxyTo(upstream.url), { method: 'POST', headers }, body);
      expect(await text(response)).toBe(createHash('sha256').update(body).digest('hex'));
    },
  );

  test('is forwarded each time the client resumes reading, even if its buffer was empty', async () => {
    // One byte more than is buffered for a client that does not read.
    const body = 'x'.repeat(256 * 1024 + 1);
    const answers = new Map<string | undefined, ServerResponse>();
    const upstream = await startUpstream((request, response) => {
      answers.set(request.url, response);
      if (request.url === '/large') response.writeHead(200, { 'Content-Length': body.length + 1 }).write(body);
    });
    const running = await proxyTo(upstream.url);
    for (let round = 1; round <= 3; round++) {
      const socket = await openSocket(running.httpPort);
      const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${DEMO}\r\n\r\n`;
      // The second response waits for the first.
      socket.write(`${head('/first')}${head('/large')}`);
      await until(() => answers.size === 2 && answers.get('/large')?.writableLength === 0);
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
      answers.get('/first')?.end('first');
      await readUntil(socket, /x$/);
      answers.get('/large')?.end('!');
      await readUntil(socket, /!$/);
      socket.destroy();
      answers.clear();
    }
  });

  test('loses the hop-by-hop fields of the upstream', async () => {
    const upstream = await startUpstream((_request, response) => {
      response
        .writeHead(200, { Connection: 'close, X-Private', 'X-Private': 'secret', 'Proxy-Authenticate': 'Basic' })
        .end('x');
    });
    const answer = await ask(await proxyTo(upstream.url), 'GET / HTTP/1.1');
    expect(answer.text).not.toMatch(/x-private|proxy-authenticate/i);
  });
});

describe('Server-Timing', () => {
  const certificates = createTestCertificates();
  const STAGES = /^listener;dur=\d+\.\d{3}, authority;dur=[\d.]+, route;dur=[\d.]+, redirect;dur=[\d.]+, identify;/;

  test.each(['--http1.1', '--http2'])('follows that of the upstream, and names the stages: %s', async (version) => {
    const upstream = await startUpstream((_request, response) =>
      response.writeHead(200, { 'Server-Timing': 'db;dur=53' }).end('x'),
    );
    const running = await proxyTo(upstream.url, { certificates, serverTiming: true });
    const { httpsPort } = running;
    for (const [hostname, count] of [
      [DEMO, 2],
      [SHOP, 1],
    ] as const) {
      const at = ['--cacert', certificates.trustFile, '--resolve', `${hostname}:${httpsPort}:127.0.0.1`];
      const { stdout } = await curl(version, ...at, `https://${hostname}:${httpsPort}/`);
      const fields = [...stdout.matchAll(/^server-timing: (.*)\r$/gim)].map(([, value]) => value);
      expect(fields).toHaveLength(count);
      if (count === 2) expect(fields[0]).toBe('db;dur=53');
      expect(fields.at(-1)).toMatch(STAGES);
      expect(fields.at(-1)).toMatch(/, limit;dur=[\d.]+, target;dur=[\d.]+$/);
    }
  });

  test('is not sent otherwise', async () => {
    const upstream = await startUpstream((_request, response) => response.end());
    expect((await ask(await proxyTo(upstream.url), 'GET / HTTP/1.1')).text).not.toMatch(/server-timing/i);
  });
});

describe('plan limits', () => {
  test('apply if the project is configured to: counted, reported, refused in the upstream’s place', async () => {
    const upstream = await startUpstream((_request, response) =>
      response.writeHead(200, { 'X-RateLimit-Limit': 'mine' }).end(),
    );
    const running = await proxyTo(upstream.url, { destination: { limited: true } });
    const answer = await ask(running, 'GET / HTTP/1.1');
    expect(answer.text.match(/x-ratelimit-\w+: .*/gi)).toEqual([
      'X-RateLimit-Limit: 60',
      'X-RateLimit-Remaining: 59',
      'X-RateLimit-Reset: 1800000000',
    ]);
    running.limiter.refusing = true;
    const refused = await ask(running, 'GET / HTTP/1.1');
    expect(refused.body).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
    expect(refused.text).toContain('Retry-After: 7\r\n');
    expect(refused.text).toContain('X-RateLimit-Limit: 60\r\n');
    expect(upstream.requests).toHaveLength(1);
  });

  test('do not apply otherwise', async () => {
    const upstream = await startUpstream((_request, response) => response.end());
    const running = await proxyTo(upstream.url);
    running.limiter.refusing = true;
    const answer = await ask(running, 'GET / HTTP/1.1');
    expect(answer.status).toBe(200);
    expect(answer.text).not.toMatch(/x-ratelimit/i);
    expect(running.limiter.asked).toEqual([]);
  });
});
