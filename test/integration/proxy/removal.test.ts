import { connect as tlsConnect } from 'node:tls';
import { beforeEach, describe, expect, test } from 'vitest';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import {
  DEMO,
  routeFor,
  SHOP,
  STAGING,
  startProxy,
  testSnapshot,
  type RunningProxy,
  openHttp2,
} from '../../support/proxy/proxy-harness.ts';
import { closed, openSocket, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';

const certificates = createTestCertificates();
let running: RunningProxy;
beforeEach(async () => {
  // Answers the head at once, and the body never.
  running = await startProxy({ certificates, handle: (_request, response) => response.writeHead(200).flushHeaders() });
});

const withoutDemo = () => testSnapshot({ routes: [routeFor(STAGING, 'prj_demo'), routeFor(SHOP, 'prj_shop')] });
const streamOf = async (hostname: string) => {
  const socket = await openSocket(running.httpPort, `GET /events HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await readUntil(socket, /200 OK/);
  return socket;
};

describe('when a hostname is removed', () => {
  test('its open responses are cut off, and those of others continue', async () => {
    const gone = await streamOf(DEMO);
    const stays = await streamOf(SHOP);
    running.proxy.publish(withoutDemo());
    await closed(gone);
    expect(stays.destroyed).toBe(false);
    expect(running.proxy.connections()).toBe(1);
    stays.destroy();
  });

  test('the next request for it is answered with 404', async () => {
    running.proxy.publish(withoutDemo());
    const answer = await sendRaw(running.httpPort, `GET / HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\n\r\n`);
    expect(answer.status).toBe(404);
  });

  test('its TLS connections are closed, idle ones included, and the next handshake is refused', async () => {
    const options = { port: running.httpsPort, host: '127.0.0.1', servername: DEMO, ca: certificates.trusted };
    const idle = tlsConnect(options);
    await new Promise((resolve) => idle.once('secureConnect', resolve));
    running.proxy.publish(withoutDemo());
    await closed(idle);
    const refused = tlsConnect(options);
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => refused.once('error', resolve));
    expect(error.code).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
  });

  test('its HTTP/2 streams are reset before the call returns', async () => {
    const session = openHttp2(running);
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => undefined);
    await new Promise((resolve) => stream.once('response', resolve));
    const ended = new Promise((resolve) => stream.once('close', resolve));
    running.proxy.publish(withoutDemo());
    await ended;
    await new Promise<void>((resolve) => (session.closed ? resolve() : session.once('close', () => resolve())));
  });

  test('a hostname that moves to another project loses its connections, too', async () => {
    const gone = await streamOf(SHOP);
    running.proxy.publish(testSnapshot({ routes: [routeFor(DEMO, 'prj_demo'), routeFor(SHOP, 'prj_demo')] }));
    await closed(gone);
  });
});

test('a publish that removes nothing leaves every connection open', async () => {
  const stays = await streamOf(DEMO);
  running.proxy.publish(testSnapshot({ routes: [...testSnapshot().routes, routeFor('new.test', 'prj_new')] }));
  const answer = await sendRaw(running.httpPort, `GET / HTTP/1.0\r\nHost: nope.test\r\n\r\n`);
  expect(answer.status).toBe(404);
  expect(stays.destroyed).toBe(false);
  stays.destroy();
});
