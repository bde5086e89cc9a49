import { describe, expect, test } from 'vitest';
import { curl } from '../../support/command.ts';
import { DEMO, startProxy, untilConnections } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readToEnd, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { snapshotTo, startRawUpstream, startUpstream, until, proxyTo } from '../../support/upstream-server.ts';
import { closedPort } from '../../support/ports.ts';

/** Real timeouts, short enough to wait for. */
const SHORT = { sweepIntervalMs: 20, upstreamAnswerMs: 150, upstreamIdleMs: 150, upstreamConnectMs: 150 };

const GET = `GET / HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\n\r\n`;

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n`;

describe('an upstream that', () => {
  test('is down is named, with what to do, as JSON and as a page', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    const running = await proxyTo(url);
    const answer = await sendRaw(running.httpPort, GET);
    expect(answer.body).toMatchObject({ code: 'bad_gateway', status: 502 });
    expect(answer.body?.message).toContain(`Nothing is listening at ${new URL(url).host}. Start your server there`);
    const page = await curl('-H', 'Accept: text/html', '-H', `Host: ${DEMO}`, `http://127.0.0.1:${running.httpPort}/`);
    expect(page.stdout).toContain(`Nothing is listening at ${new URL(url).host}.`);
  });

  test('is down lets an uploading client finish its request, and send another', async () => {
    const running = await proxyTo(`http://127.0.0.1:${await closedPort()}`);
    const socket = await openSocket(running.httpPort);
    socket.write(`POST / HTTP/1.1\r\nHost: ${DEMO}\r\nContent-Length: 300000\r\n\r\n`);
    await readUntil(socket, /"status":502\}/);
    socket.write(Buffer.alloc(300_000, 'x'));
    socket.write(GET);
    expect(await readToEnd(socket)).toContain('HTTP/1.1 502');
  });

  test.each([
    ['http://no-such-host.invalid:1', 'cannot resolve the host of the upstream'],
    ['http://127.0.0.1:1', 'Nothing is listening'],
  ])('cannot be found (%s) has its own message', async (url, message) => {
    const answer = await sendRaw((await proxyTo(url)).httpPort, GET);
    expect(answer.body?.status).toBe(502);
    expect(answer.body?.message).toContain(message);
  });

  test.each([
    ['request', GET],
    ['body', GET.replace('GET', 'POST').replace(/\r\n$/, 'Content-Length: 4\r\n\r\nbody')],
  ])('never answers gives a 504, after the time for a %s that it has', async (_what, request) => {
    const upstream = await startRawUpstream(() => undefined);
    const limits = { ...SHORT, upstreamIdleMs: 600_000 };
    const answer = await sendRaw((await proxyTo(upstream.url, { limits })).httpPort, request);
    expect(answer.body).toMatchObject({ code: 'gateway_timeout', status: 504 });
    await until(() => upstream.sockets.size === 0);
  });

  test.each([
    ['sends garbage', 'SSH-2.0-OpenSSH_9.2\r\n', 'If it speaks HTTPS, start the target with https://.'],
    [
      'sends two lengths',
      `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      'did not send a valid HTTP/1.1 response: a second Content-Length, or one beside Transfer-Encoding. Correct its',
    ],
    [
      'sends a length and chunks',
      `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
      'a second Content-Length, or one beside Transfer-Encoding. Correct its response.',
    ],
    [
      'sends another coding than chunks',
      `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      'its Transfer-Encoding is gzip, chunked, but only chunked is supported',
    ],
    ['sends endless headers', `${OK}${'X-Long: 0123456789\r\n'.repeat(5_000)}`, 'longer than 16384 bytes'],
    ['hangs up', '', 'closed the connection before answering. If it speaks HTTPS, start the target with https://.'],
    ['hangs up in its header section', `${OK}X-`, 'closed the connection before answering'],
  ])('%s gives a 502', async (_what, bytes, message) => {
    const upstream = await startRawUpstream((socket) => socket.once('data', () => socket.end(bytes, 'latin1')));
    const answer = await sendRaw((await proxyTo(upstream.url)).httpPort, GET);
    expect(answer.body).toMatchObject({ code: 'bad_gateway', status: 502 });
    expect(answer.body?.message).toContain(message);
  });

  test.each([
    ['breaks off', (bytes: string) => startRawUpstream((socket) => socket.once('data', () => socket.end(bytes)))],
    [
      'resets',
      (bytes: string) =>
        startRawUpstream((socket) => socket.once('data', () => socket.write(bytes, () => socket.resetAndDestroy()))),
    ],
    ['stalls', (bytes: string) => startRawUpstream((socket) => socket.once('data', () => socket.write(bytes)))],
  ])(
    '%s in the middle of a response ends the connection without marking the response as complete',
    async (_what, start) => {
      const upstream = await start(`${CHUNKED}\r\n4\r\nhalf\r\n`);
      const running = await proxyTo(upstream.url, { limits: SHORT });
      const socket = await openSocket(running.httpPort, GET);
      const text = await readToEnd(socket).catch((error: unknown) => String(error));
      expect(text).not.toContain('0\r\n\r\n');
      await untilConnections(running, 0);
    },
  );

  test('resets a response that would end with its connection cuts the client off, too', async () => {
    const upstream = await startRawUpstream((socket) =>
      socket.once('data', () => socket.write(`${OK}\r\nhalf`, () => setImmediate(() => socket.resetAndDestroy()))),
    );
    const running = await proxyTo(upstream.url);
    const { text } = await sendRaw(running.httpPort, GET);
    expect(text).not.toContain('0\r\n\r\n');
    expect(running.summaries.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('has closed a kept connection gets the request again, if repeating it does no harm', async () => {
    let connections = 0;
    const upstream = await startRawUpstream((socket) => {
      connections += 1;
      let requests = 0;
      socket.on('data', () => {
        requests += 1;
        // Announces that it keeps the connection, and closes it at the next request.
        if (requests === 1) socket.write(`${OK}Content-Length: 2\r\n\r\nok`);
        else socket.destroy();
      });
    });
    const running = await proxyTo(upstream.url);
    expect((await sendRaw(running.httpPort, GET)).status).toBe(200);
    expect((await sendRaw(running.httpPort, GET)).status).toBe(200);
    expect(connections).toBe(2);
    const post = await sendRaw(running.httpPort, GET.replace('GET', 'POST'));
    expect(post.body?.status).toBe(502);
  });
});

describe('a client that', () => {
  test('aborts ends its request to the upstream', async () => {
    const upstream = await startUpstream(() => undefined);
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort, `GET / HTTP/1.1\r\nHost: ${DEMO}\r\n\r\n`);
    await until(() => upstream.requests.length === 1);
    socket.destroy();
    await until(() => upstream.sockets.size === 0);
    await untilConnections(running, 0);
  });

  test('aborts in the middle of its body ends the body for the upstream, too', async () => {
    let aborted = false;
    const upstream = await startUpstream((request) => {
      request.on('error', () => (aborted = true));
      request.resume();
    });
    const running = await proxyTo(upstream.url);
    const socket = await openSocket(running.httpPort);
    socket.write(`POST / HTTP/1.1\r\nHost: ${DEMO}\r\nContent-Length: 100\r\n\r\nhalf`);
    await until(() => upstream.requests.length === 1);
    socket.destroy();
    await until(() => aborted && upstream.sockets.size === 0);
  });
});

test('a loop answers 508 after five hops, and names the target that leads back', async () => {
  const running = await startProxy();
  running.proxy.publish(snapshotTo(`http://${DEMO}:${running.httpPort}`));
  const answer = await sendRaw(running.httpPort, GET);
  expect(answer.body).toMatchObject({ code: 'loop_detected', status: 508 });
  expect(answer.body?.message).toContain(`http://${DEMO}:${running.httpPort}`);
  expect(running.summaries.filter(({ status }) => status === 508)).toHaveLength(6);
});
