import { type IncomingHttpHeaders } from 'node:http2';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, beforeEach } from 'vitest';
import { API_ENTRIES } from '../../../main/breaks/catalogue/api.ts';
import { CONNECTION_ENTRIES } from '../../../main/breaks/catalogue/connection.ts';
import { HTTP_ENTRIES } from '../../../main/breaks/catalogue/http.ts';
import { type Fault, type FaultSource, NO_FAULTS, type RequestFacts } from '../../../main/model/fault.ts';
import { FAULTS } from '../../../main/proxy/faults/break-stage.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { DEMO, DEMO_SECRET, SHOP, startProxy, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import type { RunningProxy } from '../../support/proxy/proxy-harness.ts';
import { snapshotTo, startUpstream, until } from '../../support/upstream-server.ts';

const ENTRIES = [...CONNECTION_ENTRIES, ...HTTP_ENTRIES, ...API_ENTRIES].filter(
  ({ at, impossible }) => at !== 'delay' && impossible === undefined,
);

const BODY = '[{"id":9007199254740993,"name":"Ad\u00c3\u00ab"},{"id":7,"name":"Bo"}]';
const LINK = '<http://demo.vivarium.localhost/v1/pets?after=7&limit=2>; rel="next"';

let encoding: string[] = [];

function answerPets(response: ServerResponse): void {
  const length = ['Content-Length', String(BODY.length)];
  response.writeHead(200, ['Content-Type', 'application/json', 'Link', LINK, ...length, ...encoding]);
  response.end(BODY, 'latin1');
}

const certificates = createTestCertificates();
let running: RunningProxy;
let fault: Fault | null = null;
const asked: RequestFacts[] = [];
let givenBack = 0;
const faults: FaultSource = {
  ...NO_FAULTS,
  request: (facts: RequestFacts) => (asked.push(facts), fault),
  handshake: () => fault,
  giveBack: () => void (givenBack += 1),
};

/** DEMO leads to an upstream, SHOP to the built-in API; both give the same answer. */
beforeEach(async () => {
  const upstream = await startUpstream((_request, response) => answerPets(response));
  running = await startProxy({
    certificates,
    faults,
    snapshot: snapshotTo(upstream.url),
    handle: (_request, response) => answerPets(response),
  });
});

function strike(id: string, parameters: Fault['parameters'] = {}): void {
  const entry = ENTRIES.find((each) => each.id === id);
  const defaults = Object.fromEntries((entry?.parameters ?? []).map(({ name, default: value }) => [name, value]));
  fault = { breakId: 'brk_1', entry: id, parameters: { ...defaults, ...parameters }, draw: 0.5 };
}

/** The bytes received over HTTP/1.1 until the connection ends, and how it ends if not by FIN. */
const overHttp1 = (host: string, more = ''): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    const socket = connect(running.httpPort, '127.0.0.1');
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => (text += `<${error.code}>`));
    socket.on('close', () => resolve(text));
    socket.write(`GET /v1/pets?limit=2 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`);
  });

/** Status, fields and body over HTTP/2, and the error if there is one. */
const overHttp2 = (host: string): Promise<string> =>
  new Promise((resolve) => {
    const session = openHttp2(running, { hostname: host });
    const errors = new Set<string>();
    let text = '';
    const onError = (error: NodeJS.ErrnoException): void => void errors.add(error.code ?? '');
    const stream = session.request({ ':path': '/v1/pets?limit=2', ':authority': host });
    session.on('error', onError);
    stream.on('error', onError);
    stream.on('aborted', () => errors.add('aborted'));
    stream.on('headers', () => (text += '<interim>'));
    stream.on('response', (headers: IncomingHttpHeaders & { ':status'?: number }) => {
      const { ':status': status, ...fields } = headers;
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      text += `HTTP/2 ${status}\r\n${lines.join('')}\r\n`;
    });
    stream.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    // The session's error may come after the stream's end.
    stream.on('close', () => session.close());
    session.on('close', () => resolve([text, ...[...errors].map((code) => `<${code}>`)].join('')));
    stream.end();
  });

const HALF = BODY.slice(0, Math.ceil(BODY.length / 2));
const literal = (text: string): string => text.replace(/[[\]{}.*+?^$()|\\]/g, '\\$&');
const body = (text: string): RegExp => new RegExp(`\\r\\n\\r\\n${literal(text)}$`);

/** What arrives over HTTP/1.1 and, if different, over HTTP/2; null if the entry does not apply. */
const SEEN: Record<string, [http1: RegExp | null, http2?: RegExp | null, parameters?: Fault['parameters']]> = {
  'connection.reset-on-accept': [/^<ECONNRESET>$/, /ECONNRESET/],
  // Node’s client may report a reset as an end, over HTTP/2.
  'connection.reset-mid-body': [/<ECONNRESET>$/, new RegExp(`${literal(HALF)}(<\\w+>)*$`)],
  'connection.black-hole': [/^$/, /^(<\w+>)*$/, { seconds: 0 }],
  'connection.slow-close': [/chunked[^]*Bo/, body(BODY), { delayMs: 1 }],
  'connection.half-close': [body(HALF), null],
  'connection.bandwidth': [body(BODY), undefined, { bytesPerSecond: 10_000 }],
  'connection.slicer': [body(BODY), undefined, { bytes: 7, delayMs: 0 }],
  'connection.cut-after': [body(BODY.slice(0, 20)), /<ERR_HTTP2_STREAM_ERROR>/],
  'http.status': [/ 500[^]*cache-control: no-store[^]*content-length: 0\r/i],
  'http.empty-response': [/^$/, null],
  'http.malformed-chunk': [/chunked[^]*\r\nno length\r\n$/, null],
  'http.content-length-too-long': [new RegExp(`Length: ${BODY.length + 10}\\r\\n`), /<ERR_HTTP2_STREAM_ERROR>/],
  'http.content-length-too-short': [
    new RegExp(`Length: ${BODY.length - 10}\\r\\n[^]*${literal(BODY)}$`),
    /<ERR_HTTP2_(STREAM_)?ERROR>/,
  ],
  'http.garbage-then-close': [/^[!-~]{256}$/, null],
  'http.gzip-cut-short': [/content-encoding: gzip/i],
  'http.wrong-content-type': [/content-type: text\/html/i],
  'http.invalid-utf8': [/Bo\u00c3\(/],
  'http.duplicate-json-keys': [/"name":"Ad\u00c3\u00ab","id":null\}/],
  'http.header-too-large': [/X-Vivarium-Padding: x{327680}\r\n/, null],
  'http.early-hints-flood': [
    /^(HTTP\/1\.1 103 Early Hints\r\n[^]*?\r\n\r\n){100}HTTP\/1\.1 200/,
    /^(<interim>){100}HTTP\/2 200/,
  ],
  'http.broken-trailers': [/0\r\nX-Checksum\r\n\r\n$/, null],
  'http.redirect-loop': [/ 302[^]*location: https?:\/\/\S+\/v1\/pets\?limit=2\r\n/i],
  'http.goaway-mid-stream': [null, /<ERR_HTTP2_SESSION_ERROR>/],
  'http.refused-stream': [null, /<ERR_HTTP2_STREAM_ERROR>/],
  'http.one-stream': [null, body(BODY)],
  'api.retry-after-missing': [/ 429(?![^]*retry-after)/i],
  'api.retry-after-http-date': [/ 429[^]*retry-after: Sun, 22 Nov 2026 12:00:30 GMT/i],
  'api.retry-after-past': [/ 429[^]*retry-after: Sun, 22 Nov 2026 11:00:00 GMT/i],
  'api.retry-after-huge': [/ 429[^]*retry-after: 31536000\r/i],
  'api.retry-after-fractional': [/ 429[^]*retry-after: 1\.5\r/i],
  'api.retry-after-garbage': [/ 429[^]*retry-after: soon\r/i],
  'api.retry-after-disagrees': [/ 429[^]*retry-after: 1\r/i],
  'api.unavailable': [/ 503[^]*retry-after: 30\r/i],
  'api.error-after-commit': [/ 500/],
  'api.key-revoked': [/ 401[^]*www-authenticate: Bearer error="invalid_token"/i],
  'api.banned': [/ 429[^]*retry-after: 600\r/i],
  'api.sunset': [/ 410[^]*sunset: Sat, 21 Nov 2026 12:00:00 GMT/i],
  'api.cursor-repeats': [/link: \S+after=9007199254740993&limit=2>/i],
  'api.int64-rounded': [/"id":9007199254740992,"name":"Ad\u00c3\u00ab"/],
  'api.date-skewed': [/date: Sun, 22 Nov 2026 13:00:00 GMT/i],
  'api.staging-down': [/ 503(?![^]*retry-after)/i],
};

it('each entry of the catalogue has a fact in the table and a fault in the proxy', () => {
  expect(Object.keys(SEEN)).toEqual(ENTRIES.map(({ id }) => id));
  expect(ENTRIES.filter(({ id }) => !FAULTS.has(id))).toEqual([]);
});

describe.each([
  ['the built-in API', SHOP],
  ['an upstream', DEMO],
])('in front of %s', (_target, host) => {
  it.each(Object.entries(SEEN))('%s', async (id, [http1, http2 = http1, parameters = {}]) => {
    strike(id, parameters);
    let named = 0;
    if (http1 !== null) {
      expect(await overHttp1(host)).toMatch(http1);
      named += 1;
    }
    if (http2 !== null) {
      expect(await overHttp2(host)).toMatch(http2);
      // A reset handshake has no request, and a single stream passes.
      if (id !== 'connection.reset-on-accept' && id !== 'http.one-stream') named += 1;
    }
    await until(() => running.summaries.filter(({ fault: found }) => found !== null).length === named);
    for (const { fault: found } of running.summaries)
      if (found !== null) expect(found).toEqual({ entry: id, breakId: 'brk_1' });
  });
});

it('a body with a content encoding keeps its integers', async () => {
  encoding = ['Content-Encoding', 'gzip'];
  strike('api.int64-rounded');
  expect(await overHttp1(DEMO)).toContain('9007199254740993');
  encoding = [];
});

describe('a request', () => {
  it('is looked up by its properties after passing the limits, and can be exempted by a header field', async () => {
    fault = null;
    asked.length = 0;
    expect(await overHttp1(SHOP)).toMatch(/^HTTP\/1\.1 200/);
    expect(asked).toEqual([
      {
        hostname: SHOP,
        method: 'GET',
        path: '/v1/pets',
        keyId: null,
        headers: { host: SHOP, connection: 'close' },
        scheme: 'http',
        http2: false,
        environment: 'production',
      },
    ]);
    strike('api.unavailable');
    expect(await overHttp1(DEMO, `Authorization: Bearer ${DEMO_SECRET}\r\n`)).toMatch(/^HTTP\/1\.1 503/);
    expect(asked.at(-1)?.keyId).toBe('key_demo');
    asked.length = 0;
    expect(await overHttp1(SHOP, 'Vivarium-Break: off\r\n')).toMatch(/^HTTP\/1\.1 200/);
    running.limiter.refusing = true;
    expect(await overHttp1(SHOP)).toMatch(/^HTTP\/1\.1 429/);
    running.limiter.refusing = false;
    expect(asked).toEqual([]);
  });

  it.each<[Fault['parameters'], RegExp]>([
    [{ status: 503, body: '{"a":1}' }, /^HTTP\/1\.1 503 [^]*Content-Type: application\/json\r[^]*\r\n\r\n\{"a":1}$/],
    [{ body: 'Ä' }, /^HTTP\/1\.1 500 [^]*Content-Type: text\/plain; charset=utf-8\r[^]*Content-Length: 2\r/],
    [{ status: 302, header: 'Location: /a:b' }, /^HTTP\/1\.1 302 [^]*Location: \/a:b\r/],
    [{ body: 'a', header: 'content-type: a/b' }, /^(?![^]*text\/plain)[^]*content-type: a\/b\r/],
    [{ header: 'Cache-Control: max-age=9' }, /^(?![^]*no-store)[^]*Cache-Control: max-age=9\r/],
    [{ status: 204, body: 'a' }, /^HTTP\/1\.1 204 (?![^]*(Content-Length|Transfer-Encoding))[^]*\r\n\r\n$/],
    [{ status: 205, body: 'a' }, /^HTTP\/1\.1 205 [^]*Content-Length: 0\r[^]*\r\n\r\n$/],
    [{ status: 304, body: 'a' }, /^HTTP\/1\.1 304 (?![^]*(Content-Length|Transfer-Encoding))[^]*\r\n\r\n$/],
    [{ header: 'X-RateLimit-Limit: 7' }, /^(?![^]*X-RateLimit-Limit: 60)[^]*X-RateLimit-Remaining: 59\r/],
    [{}, /Access-Control-Allow-Origin: \*\r/],
  ])('gets the status %j', async (parameters, answer) => {
    strike('http.status', parameters);
    expect(await overHttp1(SHOP)).toMatch(answer);
  });

  it.each<[string, Fault['parameters']]>([
    ['http.refused-stream', {}],
    ['connection.cut-after', { bytes: 1_000 }],
  ])('that %s does not fit is unbroken, and the strike is given back', async (id, parameters) => {
    givenBack = 0;
    strike(id, parameters);
    expect(await overHttp1(SHOP)).toMatch(body(BODY));
    expect([givenBack, running.summaries.at(-1)?.fault ?? null]).toEqual([1, null]);
  });

  it('names the stage that answered', async () => {
    strike('api.unavailable');
    await overHttp1(SHOP);
    strike('http.wrong-content-type');
    await overHttp1(SHOP);
    await until(() => running.summaries.at(-1)?.fault?.entry === 'http.wrong-content-type');
    expect(running.summaries.slice(-2).map(({ stage, status }) => [stage, status])).toEqual([
      ['break', 503],
      ['target', 200],
    ]);
  });
});
