import { constants } from 'node:http2';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { answerOn, DEMO, startProxy, untilConnections, openHttp2, echo } from '../../support/proxy/proxy-harness.ts';
import type { Handler, RunningProxy } from '../../support/proxy/proxy-harness.ts';
import { closed, openSocket, parseRaw, readToEnd, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { until } from '../../support/upstream-server.ts';

/** Real timeouts, short enough to wait for. */
const SHORT = {
  headersTimeoutMs: 150,
  requestTimeoutMs: 300,
  keepAliveTimeoutMs: 150,
  handshakeTimeoutMs: 150,
  responseStallMs: 150,
  lingerMs: 150,
};

/** Only these timeouts are short: a busy machine may need longer than another one for what comes before. */
const shorten = (...names: (keyof typeof SHORT)[]) => ({
  sweepIntervalMs: 20,
  ...Object.fromEntries(names.map((name) => [name, SHORT[name]])),
});

const certificates = createTestCertificates();

const startSecure = (short: keyof typeof SHORT, handle: Handler = echo): Promise<RunningProxy> =>
  startProxy({ certificates, limits: shorten(short), handle });

describe('over HTTP/1.1', () => {
  test.each([
    ['sends nothing', ''],
    ['does not finish its header section (slowloris)', `GET / HTTP/1.1\r\nHost: ${DEMO}\r\nX: `],
    ['does not finish its body', `POST / HTTP/1.1\r\nHost: ${DEMO}\r\nContent-Length: 10\r\n\r\nabc`],
    ['does not finish its chunks', `POST / HTTP/1.1\r\nHost: ${DEMO}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n`],
  ])('a client that %s is answered with 408', async (_, bytes) => {
    const running = await startProxy({ limits: shorten('headersTimeoutMs', 'requestTimeoutMs') });
    const answer = await sendRaw(running.httpPort, bytes);
    expect(answer.body).toMatchObject({ code: 'request_timeout', status: 408 });
    expect(answer.text).toMatch(/^connection: close\r$/im);
  });

  test('a client that was answered already gets no second answer for an incomplete body', async () => {
    const running = await startProxy({ limits: shorten('requestTimeoutMs', 'lingerMs') });
    const answer = await sendRaw(
      running.httpPort,
      'POST / HTTP/1.1\r\nHost: nope.test\r\nContent-Length: 10\r\n\r\nabc',
    );
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
  });

  test('a body behind a slow answer has its time limit when its turn comes', async () => {
    const clock = createFakeClock();
    const answers: Parameters<Handler>[1][] = [];
    const running = await startProxy({ clock, handle: (_request, response) => void answers.push(response) });
    const post = `POST / HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\nContent-Length: 4\r\n\r\n`;
    const socket = await openSocket(running.httpPort, `GET / HTTP/1.1\r\nHost: ${DEMO}\r\n\r\n${post}ab`);
    await until(() => answers.length === 2);
    await clock.pass(3_600_000);
    expect(running.summaries).toEqual([]);
    socket.write('cd');
    for (const answer of answers) answer.end();
    expect((await readToEnd(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  test('a kept connection is closed when it stays silent', async () => {
    const running = await startProxy({ limits: shorten('keepAliveTimeoutMs') });
    const socket = await openSocket(running.httpPort, `GET / HTTP/1.1\r\nHost: ${DEMO}\r\n\r\n`);
    const text = await readToEnd(socket);
    expect(parseRaw(text).status).toBe(200);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
  });

  test('a client that does not read its response is cut off', async () => {
    // More than the kernel's socket buffers hold.
    const large = Buffer.alloc(64 * 1024 * 1024);
    const running = await startProxy({
      limits: shorten('responseStallMs'),
      handle: (_request, response) => void response.end(large),
    });
    const socket = await openSocket(running.httpPort, `GET / HTTP/1.1\r\nHost: ${DEMO}\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
    await untilConnections(running, 0);
    socket.destroy();
  });

  test('a client that does not close after its closing response is cut off', async () => {
    const running = await startProxy({ limits: shorten('lingerMs') });
    const socket = await openSocket(running.httpPort, 'nonsense\r\n\r\n');
    await readUntil(socket, /400/);
    await untilConnections(running, 0);
    socket.destroy();
  });
});

describe('over TLS', () => {
  test.each([
    ['sends nothing', ''],
    ['does not finish its ClientHello', '160301'],
  ])('a client that %s is cut off', async (_, bytes) => {
    const running = await startSecure('handshakeTimeoutMs');
    const socket = await openSocket(running.httpsPort, Buffer.from(bytes, 'hex'));
    await closed(socket);
  });

  test('a silent session is ended with GOAWAY', async () => {
    const running = await startSecure('keepAliveTimeoutMs');
    const session = openHttp2(running);
    const code = await new Promise((resolve) => session.once('goaway', resolve));
    expect(code).toBe(0);
    await new Promise((resolve) => session.once('close', resolve));
    await untilConnections(running, 0);
  });

  test('a stream whose body does not arrive is reset, and its session continues', async () => {
    const running = await startSecure('requestTimeoutMs');
    const session = openHttp2(running);
    const stream = session.request({ ':method': 'POST', ':path': '/' }, { endStream: false });
    stream.on('error', () => undefined);
    stream.resume();
    stream.write('abc');
    await new Promise((resolve) => stream.once('close', resolve));
    expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect((await answerOn(session.request({ ':path': '/' }))).status).toBe(200);
    session.destroy();
  });

  test('a stream whose response is not read is reset', async () => {
    const running = await startSecure(
      'responseStallMs',
      (_request, response) => void response.end(Buffer.alloc(1024 * 1024)),
    );
    const session = openHttp2(running);
    const stream = session.request({ ':path': '/' });
    stream.pause();
    while (running.summaries.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(session.destroyed).toBe(false);
    session.destroy();
  });
});
