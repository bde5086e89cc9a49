import { constants } from 'node:http2';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Fault, NO_FAULTS } from '../../../main/model/fault.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { DEMO, openHttp2, SHOP, startProxy, untilConnections } from '../../support/proxy/proxy-harness.ts';
import type { RunningProxy } from '../../support/proxy/proxy-harness.ts';
import { openSocket, readUntil } from '../../support/proxy/proxy-raw.ts';
import { snapshotTo, startUpstream, until } from '../../support/upstream-server.ts';

const certificates = createTestCertificates();
const faultOf = (entry: string, parameters: Fault['parameters']): Fault => ({
  ...{ breakId: entry, entry, parameters, draw: 0.5 },
});
const STATUS = faultOf('http.status', { status: 503, body: '', header: '' });

let clock: FakeClock;
let running: RunningProxy;
let delay: Fault;
let fault: Fault | null;
let delayed: number;
let handled: string[];
let givenBack: string[];

beforeEach(async () => {
  clock = createFakeClock();
  [delay, fault, delayed, handled, givenBack] = [
    faultOf('http.latency', { delayMs: 1_000, jitterMs: 500 }),
    null,
    0,
    [],
    [],
  ];
  const upstream = await startUpstream((request, response) => void response.end(`${handled.push(request.url ?? '')}`));
  running = await startProxy({
    ...{ certificates, clock, snapshot: snapshotTo(upstream.url) },
    handle: (request, response) => void response.end(`${handled.push(request.url ?? '')}`),
    faults: {
      ...NO_FAULTS,
      delay: () => ((delayed += 1), delay),
      request: () => fault,
      giveBack: ({ breakId }) => givenBack.push(breakId),
    },
  });
});

describe.each([
  ['the built-in API', SHOP],
  ['an upstream', DEMO],
])('a delayed request to %s', (_target, host) => {
  /** Sends a request over HTTP/1.1 or 2. */
  async function send(version: string, more = '') {
    if (version === 'HTTP/2') {
      const stream = openHttp2(running, { hostname: host }).request({ ':path': '/', ':authority': host });
      const status = new Promise<number>((resolve) => {
        stream.on('response', ({ ':status': found = 0 }) => resolve(found)).on('error', () => resolve(0));
      });
      await until(() => delayed === 1);
      return { status, leave: () => stream.close(constants.NGHTTP2_CANCEL) };
    }
    const socket = await openSocket(running.httpPort);
    const status = readUntil(socket, /\r\n\r\n/).then(
      (text) => Number(text.split(' ', 2)[1]),
      () => 0,
    );
    socket.write(`${more === '' ? 'GET' : 'POST'} / HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`);
    await until(() => delayed === 1);
    return { status, leave: () => socket.destroy() };
  }

  it.each(['HTTP/1.1', 'HTTP/2'])('over %s reaches it after the delay', async (version) => {
    const { status } = await send(version);
    await clock.pass(1_249);
    expect(handled).toEqual([]);
    await clock.pass(1);
    expect(await status).toBe(200);
    expect(handled).toEqual(['/']);
    await until(() => running.summaries.length === 1);
    expect(running.summaries[0]?.fault?.entry).toBe('http.latency');
  });

  it.each(['HTTP/1.1', 'HTTP/2'])('over %s then meets the other break', async (version) => {
    fault = STATUS;
    const { status } = await send(version);
    await clock.pass(1_250);
    expect([await status, handled]).toEqual([503, []]);
    await until(() => running.summaries.length === 1);
    expect(running.summaries[0]).toMatchObject({ stage: 'break', fault: { entry: 'http.status' } });
  });

  it.each(['HTTP/1.1', 'HTTP/2'])('over %s is forgotten with its client, and strikes no more', async (version) => {
    fault = STATUS;
    const { leave } = await send(version);
    leave();
    await until(() => running.summaries.length === 1);
    if (version === 'HTTP/1.1') await untilConnections(running, 0);
    await clock.pass(1_250);
    expect([handled, givenBack]).toEqual([[], ['http.status']]);
  });

  it('outlives the time limits for silent clients', async () => {
    delay = faultOf('http.latency', { delayMs: 600_000, jitterMs: 0 });
    const { status } = await send('HTTP/1.1', 'Content-Length: 3\r\nExpect: 100-continue\r\n');
    for (let passed = 0; passed < 600_000; passed += 10_000) {
      expect([handled, running.summaries]).toEqual([[], []]);
      await clock.pass(10_000);
    }
    expect(await status).toBe(100);
  });
});

it('leaves an upgrade alone', async () => {
  const socket = await openSocket(running.httpPort);
  socket.write(`GET /socket HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  await until(() => handled.length === 1);
  expect(delayed).toBe(0);
});
