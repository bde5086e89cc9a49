import type { ServerResponse } from 'node:http';
import { beforeEach, expect, test } from 'vitest';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { DEMO, startProxy, openHttp2, answerOn } from '../../support/proxy/proxy-harness.ts';
import type { RunningProxy } from '../../support/proxy/proxy-harness.ts';
import { closed, openSocket, readToEnd, readUntil } from '../../support/proxy/proxy-raw.ts';

const certificates = createTestCertificates();
let running: RunningProxy;
let waiting: ServerResponse[];
beforeEach(async () => {
  waiting = [];
  running = await startProxy({
    certificates,
    handle: (request, response) => void (request.url === '/wait' ? waiting.push(response) : response.end('ok')),
  });
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: ${DEMO}\r\n\r\n`;
async function untilWaiting(count: number): Promise<void> {
  while (waiting.length < count) await new Promise((resolve) => setImmediate(resolve));
}

test('a request in progress is answered, with Connection: close, and new connections are refused', async () => {
  const socket = await openSocket(running.httpPort, get('/wait'));
  await untilWaiting(1);
  const stopped = running.proxy.stop(10_000);
  await expect(openSocket(running.httpPort)).rejects.toThrow('ECONNREFUSED');
  const answer = readToEnd(socket);
  waiting[0]?.end('late');
  expect(await answer).toMatch(/Connection: close[\s\S]*late/);
  await stopped;
  expect(running.proxy.connections()).toBe(0);
});

test('idle connections are closed at once', async () => {
  const silent = await openSocket(running.httpPort);
  const keptAlive = await openSocket(running.httpPort, get('/'));
  await readUntil(keptAlive, /ok/);
  const handshaking = await openSocket(running.httpsPort);
  await running.proxy.stop(10_000);
  await Promise.all([silent, keptAlive, handshaking].map(closed));
});

test('a response whose head was sent before is finished, and its connection closed', async () => {
  const socket = await openSocket(running.httpPort, get('/wait'));
  await untilWaiting(1);
  waiting[0]?.writeHead(200).write('early ');
  await readUntil(socket, /early/);
  const stopped = running.proxy.stop(10_000);
  const answer = readToEnd(socket);
  waiting[0]?.end('late');
  expect(await answer).toContain('late');
  await stopped;
});

test('an HTTP/2 session gets GOAWAY, and its streams are finished', async () => {
  const session = openHttp2(running);
  const told = new Promise((resolve) => session.once('goaway', resolve));
  const answer = answerOn(session.request({ ':path': '/wait' }));
  await untilWaiting(1);
  const stopped = running.proxy.stop(10_000);
  expect(await told).toBe(0);
  waiting[0]?.end('late');
  expect((await answer).text).toBe('late');
  await stopped;
});

test('what is unanswered at the deadline is cut off', async () => {
  const socket = await openSocket(running.httpPort, get('/wait'));
  await untilWaiting(1);
  await running.proxy.stop(50);
  await closed(socket);
  expect(running.summaries).toMatchObject([{ status: null, target: '/wait' }]);
});
