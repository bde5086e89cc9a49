import { createServer as createHttp1Server } from 'node:http';
import {
  connect as http2Connect,
  constants,
  createSecureServer,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { probeUpstream } from '../../../main/proxy/upstream/probe.ts';
import { track } from '../../support/engine.ts';
import { createTestCertificates } from '../../support/proxy-certificates.ts';
import { DEFAULT_LEAF, DEMO, startProxy, type RunningProxy } from '../../support/proxy-harness.ts';
import { sendRaw } from '../../support/proxy-raw.ts';
import { snapshotTo, until } from '../../support/upstream-server.ts';

type Serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

const certificates = createTestCertificates([DEMO, DEFAULT_LEAF, 'localhost']);
afterAll(() => certificates.remove());

/** A server that speaks only HTTP/2: without TLS, or with it. */
async function startHttp2(serve: Serve, secure = false): Promise<{ port: number; url: string; server: Http2Server }> {
  const server = secure
    ? createSecureServer({ SNICallback: (name, done) => done(null, certificates.contextFor(name) ?? undefined) })
    : createServer();
  server.on('stream', serve);
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  track(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: secure ? `https://localhost:${port}` : `http://127.0.0.1:${port}`, server };
}

async function proxyTo(url: string): Promise<RunningProxy> {
  const running = await startProxy({ certificates, snapshot: snapshotTo(url, { verifyCertificate: false }) });
  track(() => running.stop());
  return running;
}

const ask = ({ httpPort }: RunningProxy, method: string, body = '') =>
  sendRaw(
    httpPort,
    `${method} /x?y HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );

function openSession({ httpsPort }: RunningProxy): ClientHttp2Session {
  const session = http2Connect(`https://${DEMO}:${httpsPort}`, {
    lookup: (_hostname, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    rejectUnauthorized: false,
  });
  track(() => session.destroy());
  return session;
}

const echo: Serve = (stream, headers) => {
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
    const { url } = await startHttp2(echo, secure);
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
    const { url } = await startHttp2(echo);
    await expect(probeUpstream({ url, verifyCertificate: true }, 'vivarium-test')).resolves.toBeUndefined();
  });

  test('is detected by a first request with a body, which gets a 502 that asks to retry', async () => {
    const { url } = await startHttp2(echo);
    const running = await proxyTo(url);
    expect((await ask(running, 'POST', 'body')).body?.message).toContain('speaks another version of HTTP');
    expect((await ask(running, 'POST', 'body')).text).toContain('body');
  });

  test('can be replaced by one that speaks HTTP/1.1, which is served in that version', async () => {
    const { port, server, url } = await startHttp2((stream) => {
      stream.respond({ ':status': 200 });
      stream.end('two', () => stream.session?.destroy());
    });
    const running = await proxyTo(url);
    expect((await ask(running, 'GET')).text).toContain('two');
    await new Promise((resolve) => server.close(resolve));
    const successor = createHttp1Server((_request, response) => response.end('one'));
    await new Promise<void>((resolve) => successor.listen(port, '127.0.0.1', resolve));
    track(() => void successor.close());
    expect((await ask(running, 'GET')).text).toContain('one');
  });
});

describe('gRPC works end to end', () => {
  test('in both directions at once, with the status in its trailers', async () => {
    const { url } = await startHttp2((stream, headers) => {
      stream.respond({ ':status': 200, 'content-type': headers['content-type'] }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': headers.te }));
      stream.pipe(stream);
    });
    const stream = openSession(await proxyTo(url)).request(CALL);
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
    const { url } = await startHttp2((stream) =>
      stream.respond({ ':status': 200, 'grpc-status': '12', 'content-type': 'application/grpc' }, { endStream: true }),
    );
    const stream = openSession(await proxyTo(url)).request(CALL);
    const headers = await new Promise<IncomingHttpHeaders>((resolve) => stream.once('response', resolve));
    expect(headers['grpc-status']).toBe('12');
    stream.close();
  });

  test('until the client cancels, which the upstream notices, and its session continues', async () => {
    const streams: ServerHttp2Stream[] = [];
    const { url } = await startHttp2((stream) => {
      streams.push(stream);
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200 });
      stream.write('begun');
    });
    const session = openSession(await proxyTo(url));
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
