import { constants, type ClientHttp2Session } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { answerOn, openHttp2, shareProxy, startProxy } from '../../support/proxy/proxy-harness.ts';

const certificates = createTestCertificates();
const running = await shareProxy({ certificates });

async function openSession(options: object = {}, at = running): Promise<ClientHttp2Session> {
  const session = openHttp2(at, { ...options });
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  return session;
}

const ending = (session: ClientHttp2Session): Promise<number> => {
  let code = -1;
  session.on('goaway', (errorCode) => (code = errorCode));
  return new Promise((resolve) => session.once('close', () => resolve(code)));
};

const stillServes = async () => (await answerOn((await openSession()).request({ ':path': '/' }))).status;

test('rapid reset (CVE-2023-44487) ends the session', async () => {
  const session = await openSession();
  // Node's client can miss the end of a session that it floods, so the test asks the server.
  while (running.proxy.connections() > 0) {
    for (let count = 0; count < 50 && !session.destroyed && !session.closed; count++) {
      const stream = session.request({ ':path': '/' });
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  session.destroy();
  expect(running.summaries.length).toBeGreaterThan(900);
  expect(running.summaries.length).toBeLessThan(2000);
  expect(await stillServes()).toBe(200);
});

test('a flood of PING (CVE-2019-9512) ends the session', async () => {
  const session = await openSession({ maxOutstandingPings: 10_000 });
  const ended = ending(session);
  for (let count = 0; count < 1000; count++) session.ping(() => undefined);
  expect(await ended).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect(await stillServes()).toBe(200);
});

test('a client that pings for a long time, as gRPC does, keeps its session', async () => {
  const clock = createFakeClock();
  const slow = await startProxy({ certificates, clock });
  onTestFinished(slow.stop);
  const session = await openSession({ maxOutstandingPings: 10_000 }, slow);
  onTestFinished(() => session.destroy());
  for (let second = 0; second < 2; second++) {
    const answered = Array.from({ length: 300 }, () => new Promise((resolve) => session.ping(resolve)));
    expect(new Set(await Promise.all(answered))).toEqual(new Set([null]));
    await clock.pass(1_000);
  }
  expect(session.closed).toBe(false);
});

test('a flood of SETTINGS (CVE-2019-9515) ends the session', async () => {
  const session = await openSession({ maxOutstandingSettings: 10_000 });
  const ended = ending(session);
  for (let count = 0; count < 1000; count++) session.settings({ initialWindowSize: 65_535 + count });
  expect(await ended).not.toBe(constants.NGHTTP2_NO_ERROR);
  expect(await stillServes()).toBe(200);
});

test('a header list beyond the limit ends its stream, not the session', async () => {
  const session = await openSession();
  const stream = session.request({ ':path': '/', 'x-long': 'a'.repeat(40_000) });
  stream.on('error', () => undefined);
  await new Promise((resolve) => stream.once('close', resolve));
  expect(stream.rstCode === 0 && stream.sentHeaders[':status']).toBeFalsy();
  session.destroy();
  expect(await stillServes()).toBe(200);
});

test('no more than 100 streams are open at a time', async () => {
  const session = await openSession();
  expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
  session.destroy();
});
