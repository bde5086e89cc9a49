import { expect, test } from 'vitest';
import { sendHttp2 } from '../../support/http2-raw.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { answerOn, DEMO, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import { startUpstream, proxyTo } from '../../support/upstream-server.ts';

type Fields = readonly (readonly [string, string])[];

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
const REQUEST: Fields = [
  [':method', 'POST'],
  [':scheme', 'https'],
  [':path', '/front'],
  [':authority', DEMO],
];
const withField = (name: string, value: string): Fields => [...REQUEST, [name, value]];
const instead = (name: string, value: string): Fields =>
  REQUEST.map((field) => (field[0] === name ? [name, value] : field));

const certificates = createTestCertificates();

async function setUp() {
  const seen: string[] = [];
  const upstream = await startUpstream((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${body}`);
      response.end();
    });
  });
  const running = await proxyTo(upstream.url, { certificates });
  return { running, upstream, seen };
}

test.each<[string, Fields, string?]>([
  ['H2.CL, shorter than its body', withField('content-length', '0'), SMUGGLED],
  ['H2.CL, longer than its body', withField('content-length', '999'), SMUGGLED],
  ['H2.CL without a body', withField('content-length', '9')],
  ['H2.CL twice', [...withField('content-length', '1'), ['content-length', '35']], SMUGGLED],
  ['H2.TE', withField('transfer-encoding', 'chunked'), `0\r\n\r\n${SMUGGLED}`],
  ['a field of the connection', withField('connection', 'content-length')],
  ['a proxy’s field of the connection', withField('proxy-connection', 'keep-alive')],
  ['TE that is not trailers', withField('te', 'chunked')],
  ['a name in upper case', withField('X', 'y')],
  ['CR LF in the method', instead(':method', 'GET /smuggled HTTP/1.1\r\nx:')],
  ['a space in the method', instead(':method', 'GET /smuggled')],
  ['CR LF in the path', instead(':path', '/ HTTP/1.1\r\nx: y\r\n\r\nGET /smuggled')],
  ['a space in the path', instead(':path', '/smuggled HTTP/1.1')],
  ['a path that is an authority', instead(':path', 'x@evil.test/')],
  ['CR LF in the authority', instead(':authority', `${DEMO}\r\nx: y`)],
  ['an authority with user information', instead(':authority', `x@${DEMO}`)],
  ['a scheme with a URL', instead(':scheme', 'https://evil.test/?')],
  ['a Host of another project', withField('host', 'evil.test')],
  ['two Hosts', [...withField('host', DEMO), ['host', DEMO]]],
  ['two authorities', withField(':authority', 'evil.test')],
  ['a pseudo field after the others', [...withField('x', 'y'), [':path', '/smuggled']]],
  ['an unknown pseudo field', withField(':smuggled', 'x')],
])(
  'an HTTP/2 request that would become another one in HTTP/1.1 never reaches the upstream: %s',
  async (_threat, fields, body) => {
    const { running, upstream, seen } = await setUp();
    await sendHttp2(running.httpsPort, DEMO, fields, body);
    // A request whose body does not match its length was cut off, and never became complete.
    expect(seen).toEqual([]);
    for (const { url, method } of upstream.requests) expect([method, url]).toEqual(['POST', '/front']);
  },
);

test.each<[string, Fields]>([
  ['CR LF in a value', withField('x', 'a\r\ntransfer-encoding: chunked')],
  ['LF in a value', withField('x', 'a\ntransfer-encoding: chunked')],
  ['NUL in a value', withField('x', 'a\0b')],
  ['CR LF in a name', withField('x: y\r\ntransfer-encoding', 'chunked')],
  ['a colon in a name', withField('x: y', 'z')],
])('a field that HTTP/1.1 would read differently is left out (nghttp2 drops it first): %s', async (_threat, fields) => {
  const { running, upstream, seen } = await setUp();
  expect(await sendHttp2(running.httpsPort, DEMO, fields)).toBe('answered');
  expect(seen).toEqual(['POST /front ']);
  const names = upstream.requests[0]?.rawHeaders.filter((_text, index) => index % 2 === 0);
  expect(names?.filter((name) => /^x$|^x:|transfer/i.test(name))).toEqual([]);
  expect(upstream.requests[0]?.headers['content-length']).toBe('0');
});

test('an HTTP/2 request without a body has none in HTTP/1.1, whatever its method', async () => {
  const { running, upstream } = await setUp();
  const session = openHttp2(running);
  for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS'])
    await answerOn(session.request({ ':method': method, ':path': '/' }, { endStream: true }));
  expect(
    upstream.requests.map(({ method, headers }) => [method, headers['content-length'], headers['transfer-encoding']]),
  ).toEqual([
    ['GET', undefined, undefined],
    ['POST', '0', undefined],
    ['DELETE', undefined, undefined],
    ['OPTIONS', undefined, undefined],
  ]);
});

test('an authority and a Host that agree reach the upstream as one Host', async () => {
  const { running, upstream } = await setUp();
  expect(await sendHttp2(running.httpsPort, DEMO, withField('host', DEMO))).toBe('answered');
  expect(upstream.requests[0]?.headersDistinct['host']).toEqual([new URL(upstream.url).host]);
  expect(upstream.requests[0]?.headers['x-forwarded-host']).toBe(DEMO);
});
