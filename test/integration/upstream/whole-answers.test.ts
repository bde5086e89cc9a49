import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { NO_FAULTS } from '../../../main/model/fault.ts';
import { framesOf } from '../../support/http2-raw.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { DEFAULT_LEAF, DEMO, type RunningProxy, startProxy, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import { sendRaw } from '../../support/proxy/proxy-raw.ts';
import {
  type ServeStream,
  snapshotTo,
  startHttp2Upstream,
  startRawUpstream,
  startUpstream,
  until,
} from '../../support/upstream-server.ts';

const certificates = createTestCertificates([DEMO, DEFAULT_LEAF, 'localhost']);
const proxyTo = (url: string): Promise<RunningProxy> =>
  startProxy({ certificates, snapshot: snapshotTo(url, { verifyCertificate: false }) });

/** What a client has of an answer. */
interface Received {
  status: number;
  bytes: number;
  /** How many bytes of the request’s body the upstream had. */
  uploaded: string | undefined;
  trailers: IncomingHttpHeaders;
}

const CLIENTS = ['HTTP/1.1', 'HTTP/2'] as const;
const UPSTREAMS = ['HTTP/1.1', 'h2c', 'h2'] as const;

const CASES = (['GET', 'POST'] as const).flatMap((method) =>
  [300_000, 4_000_000].flatMap((bytes) =>
    [true, false].flatMap((trailers) => [true, false].map((isSlow) => ({ method, bytes, trailers, isSlow }))),
  ),
);

const UPLOAD = Buffer.alloc(200_000, 'u');

/** Starts a server whose answers have the length that the path says, and trailers if it asks for them. */
async function startSized(version: (typeof UPSTREAMS)[number]): Promise<string> {
  const asked = (path: string) => ({ bytes: Number(path.slice(2)), trailers: path.startsWith('/t') });
  if (version === 'HTTP/1.1') {
    const { url } = await startUpstream(async (request, response) => {
      const uploaded = await lengthOf(request);
      const { bytes, trailers } = asked(request.url ?? '');
      response.setHeader('x-uploaded', uploaded);
      if (trailers) {
        response.setHeader('trailer', 'x-sum');
        response.addTrailers({ 'x-sum': 'whole' });
      }
      response.end(Buffer.alloc(bytes, 'a'));
    });
    return url;
  }
  const serve: ServeStream = (stream, { ':path': path = '' }) => {
    const { bytes, trailers } = asked(path);
    let uploaded = 0;
    stream.on('data', (chunk: Buffer) => (uploaded += chunk.length));
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'whole' }));
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'x-uploaded': uploaded }, { waitForTrailers: trailers });
      stream.end(Buffer.alloc(bytes, 'a'));
    });
  };
  return (await startHttp2Upstream(serve, version === 'h2' ? { certificates } : {})).url;
}

/** The length of a body; a slow reader lets other work run after each chunk. */
async function lengthOf(body: Readable, isSlow = false): Promise<number> {
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (let turn = 0; isSlow && turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  return bytes;
}

async function receive(running: RunningProxy, asked: { client: string } & (typeof CASES)[number]): Promise<Received> {
  const { client, method, isSlow } = asked;
  const path = `/${asked.trailers ? 't' : 'n'}${asked.bytes}`;
  const body = method === 'POST' ? UPLOAD : undefined;
  if (client === 'HTTP/1.1') {
    const sent = httpRequest({ port: running.httpPort, method, path, headers: { host: DEMO }, agent: false });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const bytes = await lengthOf(response, isSlow);
    const { statusCode = 0, headers, trailers } = response;
    return { status: statusCode, bytes, uploaded: headers['x-uploaded'] as string, trailers };
  }
  const session = openHttp2(running);
  const stream = session.request({ ':path': path, ':method': method }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  let trailers: IncomingHttpHeaders = {};
  stream.on('trailers', (fields) => (trailers = fields));
  const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  const bytes = await lengthOf(stream, isSlow);
  session.close();
  return { status: Number(head[':status']), bytes, uploaded: head['x-uploaded'] as string, trailers };
}

describe('an answer arrives whole, with its trailers,', () => {
  for (const client of CLIENTS) {
    test.each(UPSTREAMS)(`over ${client} from an upstream over %s`, async (upstream) => {
      const running = await proxyTo(await startSized(upstream));
      for (const asked of CASES) {
        expect({ asked, received: await receive(running, { client, ...asked }) }).toEqual({
          asked,
          received: {
            status: 200,
            bytes: asked.bytes,
            uploaded: String(asked.method === 'POST' ? UPLOAD.length : 0),
            trailers: expect.objectContaining(asked.trailers ? { 'x-sum': 'whole' } : {}),
          },
        });
      }
    });
  }

  test('even if the upstream closes its connection before a slow reader has it', async () => {
    const { url } = await startHttp2Upstream((stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'whole' }));
      stream.on('close', () => stream.session?.destroy());
      stream.end(Buffer.alloc(200_000));
    });
    const asked = { client: 'HTTP/2', method: 'GET', bytes: 200_000, trailers: true, isSlow: true } as const;
    expect(await receive(await proxyTo(url), asked)).toMatchObject({ bytes: 200_000, trailers: { 'x-sum': 'whole' } });
  });
});

const GET = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', DEMO],
  [':path', '/'],
] as const;

describe('an answer that its upstream cuts off is cut off for the client, with INTERNAL_ERROR over HTTP/2:', () => {
  const overHttp1 = (bytes: string) => async () =>
    (await startRawUpstream((socket) => socket.once('data', () => socket.end(bytes)))).url;
  const overH2c =
    (end: (stream: ServerHttp2Stream) => void, fields: OutgoingHttpHeaders = {}) =>
    async () => {
      const { url } = await startHttp2Upstream((stream) => {
        stream.on('error', () => undefined);
        // Without trailers to wait for, Node would end the stream properly before it resets it.
        stream.respond({ ':status': 200, ...fields }, { waitForTrailers: true });
        stream.write('half', () => end(stream));
      });
      return url;
    };
  const long = { 'content-length': 100 };
  test.each([
    ['short of its Content-Length', overHttp1('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')],
    ['in a chunk', overHttp1('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nhalf')],
    ['over h2c by CANCEL', overH2c((stream) => stream.close(constants.NGHTTP2_CANCEL))],
    ['over h2c by INTERNAL_ERROR', overH2c((stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR))],
    ['over h2c by the end of its connection', overH2c((stream) => stream.session?.destroy())],
    ['over h2c by GOAWAY', overH2c((stream) => stream.session?.destroy(new Error(), constants.NGHTTP2_PROTOCOL_ERROR))],
    ['over h2c, short of its Content-Length', overH2c((stream) => stream.close(constants.NGHTTP2_NO_ERROR), long)],
  ])('%s', async (_how, start) => {
    const running = await proxyTo(await start());
    expect((await framesOf(running.httpsPort, DEMO, GET)).at(-1)).toBe(
      `RST_STREAM ${constants.NGHTTP2_INTERNAL_ERROR}`,
    );
    const { text } = await sendRaw(running.httpPort, `GET / HTTP/1.1\r\nHost: ${DEMO}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
    await until(() => running.summaries.length === 2);
    expect(running.summaries.map(({ status, aborted }) => [status, aborted])).toEqual([
      [200, true],
      [200, true],
    ]);
  });
});

describe('an answer without a body that ends with its header section', () => {
  const refuse: ServeStream = (stream) =>
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '9', 'server-timing': 'own' },
      { endStream: true },
    );
  const CALL = [
    ...GET.slice(1),
    [':method', 'POST'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
  ] as const;

  test('is one HEADERS frame with END_STREAM, as gRPC requires of a failed call', async () => {
    const running = await proxyTo((await startHttp2Upstream(refuse)).url);
    expect(await framesOf(running.httpsPort, DEMO, CALL, 'call')).toEqual(['HEADERS END_STREAM']);
    expect(running.summaries).toMatchObject([{ status: 200, aborted: false }]);
  });

  test('is that also with times added, and if a break does not fit it', async () => {
    const { url } = await startHttp2Upstream(refuse);
    const fault = { breakId: 'brk_1', entry: 'http.gzip-cut-short', parameters: {}, draw: 0 };
    const running = await startProxy({
      certificates,
      snapshot: snapshotTo(url),
      serverTiming: true,
      faults: { ...NO_FAULTS, request: () => fault },
    });
    expect(await framesOf(running.httpsPort, DEMO, CALL, 'call')).toEqual(['HEADERS END_STREAM']);
    const stream = openHttp2(running).request({ ':method': 'POST', 'content-type': 'application/grpc' });
    // The rest of its body is not waited for.
    stream.write('call');
    const [head] = (await once(stream.resume(), 'response')) as [IncomingHttpHeaders];
    await once(stream, 'close');
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    expect(head['grpc-status']).toBe('9');
    expect(head['server-timing']).toMatch(/^own, listener;dur=/);
  });
});
