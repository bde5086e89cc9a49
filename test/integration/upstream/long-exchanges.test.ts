import { type ClientRequest, request as http1Request, type ServerResponse } from 'node:http';
import type { ClientHttp2Stream } from 'node:http2';
import { beforeEach, describe, expect, test } from 'vitest';
import { track } from '../../support/engine.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { DEMO, SHOP, startProxy, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import type { Handler, RunningProxy } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd } from '../../support/proxy/proxy-raw.ts';
import { snapshotTo, startUpstream, until, type Upstream } from '../../support/upstream-server.ts';

/** The limits are Vivarium's own; the fake clock lets the time pass. */
let clock: FakeClock;
beforeEach(() => {
  clock = createFakeClock();
});

type Version = 'HTTP/1.1' | 'HTTP/2';
const VERSIONS: Version[] = ['HTTP/1.1', 'HTTP/2'];

/** What a request has received, and how it ended. */
interface Asked {
  outgoing: ClientRequest | ClientHttp2Stream;
  status: number | null;
  text: string;
  end: 'whole' | 'cut' | null;
}

interface World {
  running: RunningProxy;
  /** The response that the upstream is to send. */
  answer: ServerResponse;
  upstream: Upstream;
  asked: Asked;
}

async function startWithCertificates(url: string, handle?: Handler): Promise<RunningProxy> {
  const certificates = createTestCertificates();
  const running = await startProxy({ clock, certificates, snapshot: snapshotTo(url), ...(handle && { handle }) });
  track(async () => {
    const stopped = running.stop();
    await clock.pass(0);
    await stopped;
  });
  return running;
}

/**
 * Sends a request to the upstream, and waits until it has arrived; with `body`, its first part is sent and its end is
 * not.
 */
async function ask(version: Version, method: string, body?: string): Promise<World> {
  const answers: ServerResponse[] = [];
  const upstream = await startUpstream((request, response) => {
    request.on('error', () => undefined);
    request.resume();
    answers.push(response);
  });
  const running = await startWithCertificates(upstream.url);
  const asked = version === 'HTTP/2' ? overHttp2(running, DEMO, method, body) : overHttp1(running, method, body);
  await until(() => answers.length === 1);
  return { running, answer: answers[0] as ServerResponse, upstream, asked };
}

/** The receive window of the HTTP/2 client's streams; Node's client buffers another 64 KiB. */
const WINDOW = 16 * 1024;

function overHttp1({ httpPort: port }: RunningProxy, method: string, body?: string): Asked {
  const outgoing = http1Request({ port, host: '127.0.0.1', method, headers: { host: DEMO }, agent: false });
  const asked: Asked = { outgoing, status: null, text: '', end: null };
  outgoing.on('error', () => (asked.end ??= 'cut'));
  outgoing.on('response', (incoming) => {
    asked.status = incoming.statusCode ?? null;
    incoming.on('data', (chunk: Buffer) => (asked.text += chunk.toString('latin1')));
    incoming.on('error', () => undefined);
    incoming.on('close', () => (asked.end ??= incoming.complete ? 'whole' : 'cut'));
  });
  if (body === undefined) outgoing.end();
  else outgoing.write(body);
  return asked;
}

function overHttp2(running: RunningProxy, hostname: string, method: string, body?: string): Asked {
  const session = openHttp2(running, { hostname, settings: { initialWindowSize: WINDOW } });
  const outgoing = session.request({ ':method': method, ':path': '/' }, { endStream: body === undefined });
  const asked: Asked = { outgoing, status: null, text: '', end: null };
  outgoing.on('response', (headers) => (asked.status = headers[':status'] ?? null));
  outgoing.on('data', (chunk: Buffer) => (asked.text += chunk.toString('latin1')));
  outgoing.on('error', () => undefined);
  outgoing.on('close', () => (asked.end = outgoing.rstCode === 0 ? 'whole' : 'cut'));
  if (body !== undefined) outgoing.write(body);
  return asked;
}

async function ended(asked: Asked): Promise<Asked> {
  await until(() => asked.end !== null);
  return asked;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const EVENTS = { 'Content-Type': 'text/event-stream' };

describe.each(VERSIONS)('over %s, no timeout ends', (version) => {
  test.each(['GET', 'POST'])('a %s whose answer begins after 40 s', async (method) => {
    const { answer, asked } = await ask(version, method);
    await clock.pass(40 * SECOND);
    answer.end('late');
    expect(await ended(asked)).toMatchObject({ status: 200, text: 'late', end: 'whole' });
  });

  test('a stream of events that is silent for nine minutes', async () => {
    const { answer, asked } = await ask(version, 'GET');
    answer.writeHead(200, EVENTS).write('data: first\n\n');
    await until(() => asked.text !== '');
    await clock.pass(9 * MINUTE);
    answer.end('data: last\n\n');
    expect(await ended(asked)).toMatchObject({ text: 'data: first\n\ndata: last\n\n', end: 'whole' });
  });

  test('a stream of events that has been silent before its first one', async () => {
    const { answer, asked } = await ask(version, 'GET');
    answer.writeHead(200, EVENTS).flushHeaders();
    await clock.pass(40 * SECOND);
    answer.end('data: first\n\n');
    expect(await ended(asked)).toMatchObject({ text: 'data: first\n\n', end: 'whole' });
  });

  test('a stream of events, one each half second, 90 of them', async () => {
    const { answer, asked } = await ask(version, 'GET');
    answer.writeHead(200, EVENTS);
    for (let count = 1; count <= 90; count++) {
      answer.write('data: tick\n\n');
      await until(() => asked.text.length === count * 'data: tick\n\n'.length || asked.end !== null);
      await clock.pass(SECOND / 2);
    }
    answer.end();
    expect((await ended(asked)).end).toBe('whole');
    expect(asked.text.match(/tick/g)).toHaveLength(90);
  });

  test('a download of 50 s', async () => {
    const piece = 'x'.repeat(256 * 1024);
    const { answer, asked } = await ask(version, 'GET');
    for (let count = 1; count <= 50; count++) {
      answer.write(piece);
      await until(() => asked.text.length === count * piece.length || asked.end !== null);
      await clock.pass(SECOND);
    }
    answer.end();
    expect((await ended(asked)).end).toBe('whole');
    expect(asked.text).toHaveLength(50 * piece.length);
  });

  test('an upload that receives one byte every 20 s', async () => {
    const { answer, upstream, asked } = await ask(version, 'POST', 'a');
    let received = '';
    upstream.requests[0]?.on('data', (chunk: Buffer) => (received += chunk.toString()));
    for (let count = 1; count <= 6; count++) {
      await clock.pass(20 * SECOND);
      asked.outgoing.write('b');
      await until(() => received.endsWith('b'.repeat(count)) || asked.end !== null);
    }
    asked.outgoing.end();
    await until(() => upstream.requests[0]?.complete === true || asked.end !== null);
    answer.end('taken');
    expect(await ended(asked)).toMatchObject({ text: 'taken', end: 'whole' });
  });

  test('an answer that continues while the body of its request is stalled', async () => {
    const { answer, asked } = await ask(version, 'POST', 'half');
    for (let count = 1; count <= 5; count++) {
      answer.write('more');
      await until(() => asked.text.length === count * 4 || asked.end !== null);
      await clock.pass(20 * SECOND);
    }
    asked.outgoing.end();
    answer.end();
    expect(await ended(asked)).toMatchObject({ text: 'more'.repeat(5), end: 'whole' });
  });

  test('an upload that its upstream does not read for five minutes', async () => {
    const { answer, upstream, asked } = await ask(version, 'POST', 'begin');
    const [request] = upstream.requests;
    request?.pause();
    // More than the buffers on the way hold.
    asked.outgoing.end('x'.repeat(32 * 1024 * 1024));
    await clock.pass(5 * MINUTE);
    request?.resume();
    await until(() => request?.complete === true || asked.end !== null);
    answer.end('taken');
    expect(await ended(asked)).toMatchObject({ text: 'taken', end: 'whole' });
  });
});

describe.each(VERSIONS)('over %s, a timeout ends', (version) => {
  test('a request whose body stalls for 30 s before its answer begins', async () => {
    const { running, upstream, asked } = await ask(version, 'POST', 'half');
    await clock.pass(29 * SECOND);
    expect(asked.end).toBe(null);
    await clock.pass(2 * SECOND);
    await until(() => asked.end !== null && upstream.sockets.size === 0);
    expect(asked.status).toBe(version === 'HTTP/2' ? null : 408);
    expect(running.summaries).toHaveLength(1);
  });

  test('an answer that stalls for ten minutes, with the body of its request', async () => {
    const { answer, upstream, asked } = await ask(version, 'POST', 'half');
    answer.write('half');
    await until(() => asked.text === 'half');
    await clock.pass(9 * MINUTE);
    expect(asked.end).toBe(null);
    await clock.pass(2 * MINUTE);
    await until(() => asked.end !== null && upstream.sockets.size === 0);
    expect(asked.end).toBe('cut');
  });
});

describe('an answer over HTTP/2, with flow control,', () => {
  test.each([
    [9 * MINUTE, 'whole'],
    [11 * MINUTE, 'cut'],
  ])('whose end is not read for %d ms ends %s', async (silenceMs, end) => {
    const { answer, asked } = await ask('HTTP/2', 'GET');
    (asked.outgoing as ClientHttp2Stream).pause();
    // What exceeds the client's window is held by the proxy.
    answer.end('x'.repeat(7 * WINDOW));
    await until(() => answer.writableFinished);
    await clock.pass(silenceMs);
    (asked.outgoing as ClientHttp2Stream).resume();
    expect((await ended(asked)).end).toBe(end);
  });

  test('of the API that is read piece by piece is never cut off', async () => {
    const large = 'x'.repeat(16 * WINDOW);
    const running = await startWithCertificates('http://127.0.0.1:1', (_request, response) => void response.end(large));
    const asked = overHttp2(running, SHOP, 'GET');
    const stream = asked.outgoing as ClientHttp2Stream;
    let pieces = 0;
    const takeOne = (): void => {
      stream.pause();
      pieces += 1;
    };
    stream.on('data', takeOne);
    while (running.summaries.length === 0) {
      const before = pieces;
      stream.resume();
      await until(() => pieces > before || asked.end !== null);
      await clock.pass(10 * SECOND);
    }
    stream.off('data', takeOne);
    stream.resume();
    expect((await ended(asked)).end).toBe('whole');
    expect(asked.text).toHaveLength(large.length);
  });
});

test('a pipelined answer waits as long as the one before it takes', async () => {
  const first: ServerResponse[] = [];
  const upstream = await startUpstream((request, response) => {
    if (request.url === '/slow') first.push(response);
    else request.resume().on('end', () => response.end('second'));
  });
  const running = await startWithCertificates(upstream.url);
  const socket = await openSocket(running.httpPort);
  const text = readToEnd(socket);
  const head = (method: string, path: string, more: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: ${DEMO}\r\n${more}\r\n`;
  socket.write(`${head('GET', '/slow', '')}${head('GET', '/fast', '')}`);
  socket.write(`${head('POST', '/fast', 'Connection: close\r\nContent-Length: 4\r\n')}ha`);
  await until(() => upstream.requests.length === 3);
  await clock.pass(50 * SECOND);
  first[0]?.end('first');
  socket.write('lf');
  expect((await text).match(/first|second/g)).toEqual(['first', 'second', 'second']);
});
