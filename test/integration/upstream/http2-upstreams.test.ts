import { once } from 'node:events';
import { createServer as createHttp1Server } from 'node:http';
import { constants } from 'node:http2';
import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { describe, expect, test } from 'vitest';
import { listen } from '../../support/ports.ts';
import { probeUpstream } from '../../../main/proxy/upstream/probe.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { answerOn, DEFAULT_LEAF, DEMO, startProxy, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import type { RunningProxy } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import {
  type ServeStream,
  snapshotTo,
  startHttp2Upstream,
  startUpstream,
  until,
} from '../../support/upstream-server.ts';

const certificates = createTestCertificates([DEMO, DEFAULT_LEAF, 'localhost']);
const proxyTo = (url: string): Promise<RunningProxy> =>
  startProxy({ certificates, snapshot: snapshotTo(url, { verifyCertificate: false }) });

const ask = ({ httpPort }: RunningProxy, method: string, body = '') =>
  sendRaw(
    httpPort,
    `${method} /x?y HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );

const echo: ServeStream = (stream, headers) => {
  stream.respond({ ':status': 200, 'x-asked': `${headers[':method']} ${headers[':path']}`, 'x-via': headers.via });
  stream.pipe(stream);
};

const CALL = {
  ':method': 'POST',
  ':path': '/pets.Pets/Watch',
  'content-type': 'application/grpc+proto',
  te: 'trailers',
};

/** The data that a stream has received. */
function collect(stream: ClientHttp2Stream) {
  const seen = { text: '', status: 0, trailers: {} as IncomingHttpHeaders, closed: false };
  stream.on('response', (headers) => (seen.status = headers[':status'] ?? 0));
  stream.on('trailers', (trailers) => (seen.trailers = trailers));
  stream.on('data', (chunk: Buffer) => (seen.text += chunk.toString()));
  stream.on('error', () => undefined);
  stream.on('close', () => (seen.closed = true));
  return seen;
}

describe('an upstream that speaks only HTTP/2', () => {
  test.each([
    ['without TLS', false],
    ['with TLS', true],
  ])('%s is served, with bodies in both directions', async (_what, secure) => {
    const { url } = await startHttp2Upstream(echo, secure ? { certificates } : {});
    const running = await proxyTo(url);
    const first = await ask(running, 'GET');
    expect(first.text).toMatch(/^HTTP\/1\.1 200 OK\r\nx-asked: GET \/x\?y\r\nx-via: 1\.1 vivarium-test\r\n/);
    for (const length of [1, 300_000]) {
      const { text } = await ask(running, 'POST', 'z'.repeat(length));
      expect(text).toContain('x-asked: POST /x?y');
      expect(text.match(/z/g)).toHaveLength(length);
    }
  });

  test('deploys', async () => {
    const { url } = await startHttp2Upstream(echo);
    await expect(probeUpstream({ url, verifyCertificate: true }, 'vivarium-test')).resolves.toBeUndefined();
  });

  test('is detected by a first request with a body, which gets a 502 that asks to retry', async () => {
    const { url } = await startHttp2Upstream(echo);
    const running = await proxyTo(url);
    expect((await ask(running, 'POST', 'body')).body?.message).toContain('speaks another version of HTTP');
    expect((await ask(running, 'POST', 'body')).text).toContain('body');
  });

  test('can be replaced by one that speaks HTTP/1.1, which is served in that version', async () => {
    const { port, server, url } = await startHttp2Upstream((stream) => {
      stream.respond({ ':status': 200 });
      stream.end('two', () => stream.session?.destroy());
    });
    const running = await proxyTo(url);
    expect((await ask(running, 'GET')).text).toContain('two');
    await new Promise((resolve) => server.close(resolve));
    const successor = createHttp1Server((_request, response) => response.end('one'));
    await listen(successor, port);
    expect((await ask(running, 'GET')).text).toContain('one');
  });
});

describe('gRPC works end to end', () => {
  test('in both directions at once, with the status in its trailers', async () => {
    const { url } = await startHttp2Upstream((stream, headers) => {
      stream.respond({ ':status': 200, 'content-type': headers['content-type'] }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': headers.te }));
      stream.pipe(stream);
    });
    const stream = openHttp2(await proxyTo(url)).request(CALL);
    const seen = collect(stream);
    for (const message of ['one', 'two', 'three']) {
      stream.write(message);
      await until(() => seen.text.endsWith(message));
    }
    stream.end();
    await until(() => seen.closed);
    expect(seen).toMatchObject({ status: 200, text: 'onetwothree' });
    expect(seen.trailers).toMatchObject({ 'grpc-status': '0', 'grpc-message': 'trailers' });
  });

  test('without a body, as in a failure', async () => {
    const { url } = await startHttp2Upstream((stream) =>
      stream.respond({ ':status': 200, 'grpc-status': '12', 'content-type': 'application/grpc' }, { endStream: true }),
    );
    const stream = openHttp2(await proxyTo(url)).request(CALL);
    expect((await answerOn(stream)).headers['grpc-status']).toBe('12');
  });

  test('but not gRPC-Web, which is forwarded over HTTP/1.1', async () => {
    const { url } = await startUpstream((request, response) => void response.end(request.httpVersion));
    const stream = openHttp2(await proxyTo(url)).request({ ...CALL, 'content-type': 'application/grpc-web' });
    stream.end();
    expect((await answerOn(stream)).text).toBe('1.1');
  });

  test('until the client cancels, which the upstream notices, and its session continues', async () => {
    const streams: ServerHttp2Stream[] = [];
    const { url } = await startHttp2Upstream((stream) => {
      streams.push(stream);
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200 });
      stream.write('begun');
    });
    const session = openHttp2(await proxyTo(url));
    for (let count = 1; count <= 2; count++) {
      const stream = session.request(CALL);
      const seen = collect(stream);
      await until(() => seen.text === 'begun');
      stream.close(constants.NGHTTP2_CANCEL);
      await until(() => streams.length === count && streams[count - 1]?.closed === true);
    }
    expect(new Set(streams.map((stream) => stream.session)).size).toBe(1);
  });
});

describe('the sessions to an HTTP/2 upstream', () => {
  test('are reused, and more are opened when each has as many streams as the upstream allows', async () => {
    const { url, sessions } = await startHttp2Upstream((stream) => stream.respond({ ':status': 200 }), {
      settings: { maxConcurrentStreams: 2 },
    });
    const session = openHttp2(await proxyTo(url));
    const call = async (): Promise<ClientHttp2Stream> => {
      const stream = session.request(CALL);
      await once(stream, 'response');
      return stream;
    };
    // Later ones follow the limit, which has arrived with the first answer.
    await call();
    await Promise.all([1, 2, 3, 4].map(call));
    expect(sessions.size).toBe(3);
  });

  test('lead to one connection if TLS negotiates HTTP/1.1, which carries the first request', async () => {
    const server = createHttpsServer(
      { SNICallback: (name, done) => done(null, certificates.contextFor(name) ?? undefined) },
      (request, response) => request.pipe(response),
    );
    let connections = 0;
    server.on('connection', () => (connections += 1));
    const running = await proxyTo(`https://localhost:${(await listen(server)).port}`);
    for (let count = 0; count < 3; count++) expect((await ask(running, 'POST', 'body')).text).toContain('body');
    expect(connections).toBe(1);
  });

  test('end with GOAWAY after their streams, while new requests get a new session', async () => {
    const streams: ServerHttp2Stream[] = [];
    const { url } = await startHttp2Upstream((stream) => {
      streams.push(stream);
      stream.respond({ ':status': 200 });
      stream.write(`begun ${streams.length}`);
    });
    const session = openHttp2(await proxyTo(url));
    const first = collect(session.request(CALL));
    await until(() => first.text === 'begun 1');
    streams[0]?.session?.close();
    // An answer after the GOAWAY shows that it has arrived.
    streams[0]?.write(', going');
    await until(() => first.text === 'begun 1, going');
    const second = collect(session.request(CALL));
    await until(() => second.text === 'begun 2');
    expect(streams[1]?.session).not.toBe(streams[0]?.session);
    for (const stream of streams) stream.end(', done');
    await until(() => first.closed && second.closed);
    expect([first.text, second.text]).toEqual(['begun 1, going, done', 'begun 2, done']);
  });

  test('are not used again after a stall, because their connection may be dead', async () => {
    const streams: ServerHttp2Stream[] = [];
    const used = new Set<unknown>();
    const { url } = await startHttp2Upstream((stream) => {
      stream.on('error', () => undefined);
      used.add(stream.session);
      if (streams.push(stream) > 1) stream.respond({ ':status': 200 }, { endStream: true });
    });
    const limits = { sweepIntervalMs: 20, upstreamAnswerMs: 200 };
    const running = await startProxy({ certificates, snapshot: snapshotTo(url), limits });
    const session = openHttp2(running);
    const [head] = (await once(session.request(CALL).end('call'), 'response')) as [IncomingHttpHeaders];
    expect(head[':status']).toBe(504);
    await once(session.request(CALL).end('call'), 'response');
    expect(used.size).toBe(2);
  });
});

describe('a request to an HTTP/2 upstream', () => {
  const refuseOnce = (): ServeStream => {
    let refused = false;
    return (stream) => {
      stream.on('error', () => undefined);
      if (refused) stream.respond({ ':status': 200 }, { endStream: true });
      else stream.close(constants.NGHTTP2_REFUSED_STREAM);
      refused = true;
    };
  };

  test.each([
    ['DELETE', '', 200],
    ['POST', 'body', 502],
  ])('by %s is sent again if it was refused and has no body %j', async (method, body, status) => {
    const { url } = await startHttp2Upstream(refuseOnce(), { certificates });
    expect((await ask(await proxyTo(url), method, body)).status).toBe(status);
  });

  test.each([
    ['a reset', (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL), 'broke off over HTTP/2'],
    ['an error', (stream: ServerHttp2Stream) => stream.destroy(new Error('x')), 'broke off over HTTP/2'],
    ['the end of the connection', (stream: ServerHttp2Stream) => stream.session?.destroy(), 'closed the connection'],
  ])('that %s ends before its answer begins gets a 502', async (_how, end, message) => {
    const { url } = await startHttp2Upstream(
      (stream) => {
        stream.on('error', () => undefined);
        end(stream);
      },
      { certificates },
    );
    const answer = await ask(await proxyTo(url), 'POST', 'body');
    expect(answer.body).toMatchObject({ code: 'bad_gateway', status: 502 });
    expect(answer.body?.message).toContain(message);
  });

  test('brings its trailers, and gets interim responses', async () => {
    const { url } = await startHttp2Upstream((stream) => {
      stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' });
      stream.on('trailers', ({ 'x-sum': sum }) =>
        stream.respond({ ':status': 200, 'x-sum': sum }, { endStream: true }),
      );
      stream.resume();
    });
    const stream = openHttp2(await proxyTo(url)).request(CALL, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'whole' }));
    stream.end('body');
    const [[hints], [head]] = (await Promise.all([once(stream, 'headers'), once(stream, 'response')])) as [
      [IncomingHttpHeaders],
      [IncomingHttpHeaders],
    ];
    expect(hints).toMatchObject({ ':status': 103, link: '</a.css>; rel=preload' });
    expect(head['x-sum']).toBe('whole');
  });

  test('that waits for 100 (Continue) is answered without its body if the upstream does not want that', async () => {
    const { url } = await startHttp2Upstream(
      (stream, { ':path': path }) => {
        if (path === '/no') return stream.respond({ ':status': 417 }, { endStream: true });
        stream.additionalHeaders({ ':status': 100 });
        stream.respond({ ':status': 200 });
        stream.pipe(stream);
      },
      { certificates },
    );
    const running = await proxyTo(url);
    const head = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n`;
    const socket = await openSocket(running.httpPort, head('/no'));
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 417 /);
    const other = await openSocket(running.httpPort);
    const text = readToEnd(other);
    other.write(head('/yes'));
    await readUntil(other, /^HTTP\/1\.1 100 Continue\r\n\r\n/);
    other.write('body');
    expect(await text).toMatch(/body$|4\r\nbody\r\n0\r\n\r\n$/);
  });

  test('gets a whole answer that comes before its body was read', async () => {
    const { url } = await startHttp2Upstream(
      (stream) => {
        stream.on('error', () => undefined);
        stream.respond({ ':status': 413 });
        stream.end(Buffer.alloc(200_000, 'x'), () => stream.close(constants.NGHTTP2_NO_ERROR));
      },
      { certificates },
    );
    const running = await proxyTo(url);
    for (let count = 0; count < 10; count++) {
      const { status, text } = await ask(running, 'POST', 'u'.repeat(900_000));
      expect([status, text.match(/x/g)?.length]).toEqual([413, 200_000]);
    }
  });

  test('is ended with its answer, after the whole of it and its trailers', async () => {
    const { url } = await startHttp2Upstream((stream) => {
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'whole' }));
      stream.end(Buffer.alloc(1_000_000, 'x'));
    });
    const session = openHttp2(await proxyTo(url));
    for (let count = 0; count < 20; count++) {
      const stream = session.request(CALL);
      const seen = collect(stream);
      stream.write('begun');
      await until(() => seen.closed);
      expect([seen.text.length, seen.trailers['x-sum'], stream.rstCode]).toEqual([1_000_000, 'whole', 0]);
    }
  });

  test('whose client breaks off its body is reset with CANCEL, and never looks complete', async () => {
    let end: 'complete' | number | null = null;
    const { url } = await startHttp2Upstream(
      (stream) => {
        stream.on('error', () => undefined);
        stream.on('end', () => (end ??= stream.rstCode === 0 ? 'complete' : null));
        stream.on('close', () => (end ??= stream.rstCode));
        stream.resume();
        stream.respond({ ':status': 200 });
      },
      { certificates },
    );
    const running = await proxyTo(url);
    const socket = await openSocket(running.httpPort);
    socket.write(`POST / HTTP/1.1\r\nHost: ${DEMO}\r\nContent-Length: 100\r\n\r\nhalf`);
    await readUntil(socket, /200 OK/);
    socket.destroy();
    await until(() => end !== null);
    expect(end).toBe(constants.NGHTTP2_CANCEL);
  });

  test.each<[string, OutgoingHttpHeaders]>([
    ['HEAD', { ':status': 200, 'content-length': '9' }],
    ['GET', { ':status': 204 }],
    ['GET', { ':status': 304, 'content-length': '9' }],
    ['GET', { ':status': 200, 'content-length': '0' }],
  ])('by %s gets an answer without a body: %j', async (method, fields) => {
    const { url } = await startHttp2Upstream((stream) => stream.respond(fields, { endStream: true }), { certificates });
    const { status, text } = await ask(await proxyTo(url), method);
    expect(status).toBe(fields[':status']);
    expect(text.endsWith('\r\n\r\n')).toBe(true);
    expect(/content-length: (\d)/.exec(text)?.[1]).toBe(fields['content-length']);
  });
});

describe('an HTTP/2 upstream is read and written', () => {
  test('no faster than the client reads', async () => {
    let paused = false;
    let written = 0;
    const { url } = await startHttp2Upstream((stream) => {
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200 });
      const write = (): void => {
        while (!stream.destroyed && stream.write(Buffer.alloc(64 * 1024))) written += 64 * 1024;
        paused = true;
      };
      stream.on('drain', write);
      write();
    });
    const running = await proxyTo(url);
    const stream = openHttp2(running).request(CALL).end();
    stream.on('error', () => undefined);
    await once(stream, 'response');
    for (let before = -1; before !== written || !paused;) {
      before = written;
      for (let turn = 0; turn < 2_000; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written).toBeLessThan(8 * 1024 * 1024);
    stream.close();
  });

  test('no faster than it reads', async () => {
    const { url } = await startHttp2Upstream((stream) => {
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200 });
      stream.pause();
    });
    const stream = openHttp2(await proxyTo(url)).request(CALL);
    stream.on('error', () => undefined);
    await once(stream, 'response');
    let written = 0;
    while (stream.write(Buffer.alloc(64 * 1024)) && written < 64 * 1024 * 1024) {
      written += 64 * 1024;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(stream.writableNeedDrain).toBe(true);
    stream.close();
  });
});
