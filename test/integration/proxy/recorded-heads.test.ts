import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { expect, test } from 'vitest';
import { pairsOf } from '../../../main/base/http/message.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { afterBody, DEMO, openHttp2, startProxy } from '../../support/proxy/proxy-harness.ts';
import type { Handler, RunningProxy } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd } from '../../support/proxy/proxy-raw.ts';

let running: RunningProxy;

const waiting: (() => void)[] = [];

/** Answers with nothing but a flat list of fields, as those of the built-in API. */
const FLAT: ReadonlyMap<string, string[]> = new Map([
  ['/flat', ['X-Raw', 'a', 'X-Raw', 'b']],
  ['/dated', ['Date', 'Thu, 01 Jan 2015 00:00:00 GMT']],
  ['/empty', ['X-Raw', 'c']],
]);

const handle: Handler = (request, response) => {
  const flat = FLAT.get(request.url ?? '');
  if (flat !== undefined) return void response.writeHead(200, flat).end(request.url === '/empty' ? undefined : 'flat');
  response.setHeader('X-Path', request.url ?? '');
  switch (request.url) {
    case '/text':
      return void response.end('{"name":"Søren"}');
    case '/chunks':
      response.write(Buffer.from('one'));
      return void response.end('two');
    case '/late':
      return void waiting.push(() => response.end('late'));
    case '/interim':
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      return void response.writeHead(201, 'Made', ['X-Raw', 'a', 'X-Raw', 'b']).end();
    case '/lookalike':
      return void response.end('HTTP/1.1 418 No\r\nX-Not: head\r\n\r\n');
    default:
      return afterBody(request, () => response.end(Buffer.from('rest')));
  }
};

const ask = (path: string, { method = 'GET', host = DEMO, fields = '', body = '' } = {}): string =>
  `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\n${body}`;

/** The heads of final responses in the bytes of a connection. */
const headsIn = (text: string): string[] =>
  text.match(/HTTP\/1\.1 [2-5]\d\d [^\r]*\r\n(?:[^\r\n]+\r\n)*\r\n/g)?.filter((head) => !head.includes('418')) ?? [];

async function exchange(socket: Socket, bytes: string): Promise<string[]> {
  const read = readToEnd(socket);
  socket.write(bytes);
  return headsIn(await read);
}

const recorded = (): string[] => running.summaries.map(({ record }) => record?.responseHead ?? '');

const CLOSE = 'Connection: close\r\n';
const LAST = ask('/last', { fields: CLOSE });

test.each([
  ['text', ask('/text') + LAST],
  ['chunks', ask('/chunks') + LAST],
  ['interim responses before it', ask('/interim') + LAST],
  ['a body that looks like a head', ask('/lookalike') + LAST],
  ['HEAD', ask('/text', { method: 'HEAD' }) + LAST],
  [
    'a body that the client announced',
    ask('/up', { method: 'POST', fields: 'Expect: 100-continue\r\nContent-Length: 2\r\n', body: '{}' }) + LAST,
  ],
  ['an answer of the proxy', ask('/', { host: 'nobody.test' }) + LAST],
  ['HTTP/1.0', 'GET /chunks HTTP/1.0\r\nHost: demo.vivarium.localhost\r\n\r\n'],
])('the head of a response is recorded as sent, including what Node adds: %s', async (_what, bytes) => {
  running = await startProxy({ handle, recording: 'heads' });
  const heads = await exchange(await openSocket(running.httpPort), bytes);
  expect(heads.length).toBeGreaterThan(0);
  expect(heads.join('')).toMatch(/^Date: /m);
  await expect.poll(recorded).toEqual(heads);
});

test('each of several pipelined responses has its own head', async () => {
  running = await startProxy({ handle, recording: 'heads' });
  const socket = await openSocket(running.httpPort);
  const heads = exchange(socket, ask('/late') + ask('/text') + ask('/chunks') + LAST);
  await expect.poll(() => running.limiter.asked.length).toBe(4);
  waiting.pop()?.();
  expect((await heads).map((head) => /X-Path: (.*)\r/.exec(head)?.[1])).toEqual(['/late', '/text', '/chunks', '/last']);
  await expect.poll(recorded).toEqual(await heads);
});

test('an exchange has the number of its connection, and its place there', async () => {
  running = await startProxy({ handle, recording: 'heads' });
  await exchange(await openSocket(running.httpPort), ask('/text') + ask('/chunks') + LAST);
  await exchange(await openSocket(running.httpPort), LAST);
  const places = () => running.summaries.map(({ connection, place }) => [connection, place]);
  await expect.poll(places).toEqual([
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 1],
  ]);
});

test('heads are recorded over TLS too', async () => {
  running = await startProxy({ handle, recording: 'heads', certificates: createTestCertificates([DEMO]) });
  const socket = tlsConnect({ port: running.httpsPort, servername: DEMO, rejectUnauthorized: false });
  const heads = await exchange(socket, ask('/text') + LAST);
  expect(heads).toHaveLength(2);
  await expect.poll(recorded).toEqual(heads);
});

test.each([
  ['/text', 'x-path: /text'],
  ['/flat', 'x-raw: b'],
  ['/dated', 'date: Thu, 01 Jan 2015 00:00:00 GMT'],
  ['/empty', 'x-raw: c'],
])('over HTTP/2, too, the head has what the client received: %s', async (path, line) => {
  running = await startProxy({ handle, recording: 'heads', certificates: createTestCertificates([DEMO]) });
  const session = openHttp2(running, { hostname: DEMO });
  const stream = session.request({ ':path': path }).resume();
  const received = (await once(stream, 'response')) as [IncomingHttpHeaders, number, string[]];
  const lines = pairsOf(received[2])
    .slice(1)
    .map(([name, value]) => `${name}: ${value}`);
  expect(lines).toContain(line);
  expect(lines.filter((each) => each.startsWith('date: '))).toHaveLength(1);
  const linesOf = (head: string) =>
    head
      .split('\r\n')
      .slice(1, -1)
      .map((each) => each.replace(/^[^:]+/, (name) => name.toLowerCase()));
  const shown = () => running.summaries.map(({ record }) => [linesOf(record?.responseHead ?? ''), record?.firstByteMs]);
  await expect.poll(shown).toEqual([[lines, expect.any(Number)]]);
  session.close();
});
