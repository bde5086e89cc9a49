import { createServer } from 'node:net';
import { once } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import { ownFile, type OwnPlace } from '../../../main/proxy/front/own-paths.ts';
import { closed, openSocket, parseRaw, readToEnd } from '../../support/proxy/proxy-raw.ts';
import { DEMO, MOVED, SHOP, startProxy, untilConnections } from '../../support/proxy/proxy-harness.ts';
import type { RunningProxy } from '../../support/proxy/proxy-harness.ts';

/** Linux has all of 127.0.0.0/8 on loopback. */
const OTHER = '127.0.0.2';
const onLinux = test.runIf(process.platform === 'linux');

const PLACE: OwnPlace = {
  hosts: new Set([OTHER]),
  serverNames: new Set(),
  sites: new Map(),
  paths: new Map([['/', ownFile({ contentType: 'text/plain', read: () => Buffer.from('for others') })]]),
};

let running: RunningProxy;
beforeEach(async () => {
  running = await startProxy();
});

async function get(address: string, host: string, path = '/'): Promise<{ status: number | null; text: string }> {
  const socket = await openSocket(running.httpPort, '', address);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return parseRaw(await readToEnd(socket));
}

onLinux('another address serves the same hostnames, and paths of its own at its own hosts only', async () => {
  const stop = await running.proxy.serveOn(OTHER, PLACE);
  expect(await get(OTHER, OTHER)).toMatchObject({ status: 200, text: expect.stringContaining('for others') });
  expect(await get(OTHER, SHOP)).toMatchObject({ status: 200, text: expect.stringContaining(SHOP) });
  // A host of loopback is not served there, and vice versa.
  expect(await get(OTHER, 'localhost')).toMatchObject({ status: 404 });
  expect(await get('127.0.0.1', OTHER)).toMatchObject({ status: 404 });
  await stop();
});

onLinux('where only some hostnames are served, all others are unknown, and no answer lists any', async () => {
  await running.proxy.serveOn(OTHER, { ...PLACE, serves: (hostname) => hostname === SHOP });
  expect(await get(OTHER, SHOP)).toMatchObject({ status: 200 });
  for (const host of [DEMO, MOVED, 'localhost', '127.0.0.1', OTHER]) {
    for (const target of ['/unknown', `http://${host}/unknown`]) {
      const { status, text } = await get(OTHER, host, target);
      expect([host, status, text.includes(SHOP)]).toEqual([host, 404, false]);
    }
  }
  expect(await get('127.0.0.1', DEMO)).toMatchObject({ status: 200 });
});

onLinux('what is open there is cut at the end, and nothing on loopback', async () => {
  const stop = await running.proxy.serveOn(OTHER, PLACE);
  const [here, there] = [await openSocket(running.httpPort), await openSocket(running.httpPort, '', OTHER)];
  await untilConnections(running, 2);
  await Promise.all([stop(), closed(there)]);
  await expect(openSocket(running.httpPort, '', OTHER)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(running.proxy.connections()).toBe(1);
  here.destroy();
});

onLinux('the end of the proxy ends it too', async () => {
  await running.proxy.serveOn(OTHER, PLACE);
  await running.stop();
  await expect(openSocket(running.httpPort, '', OTHER)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

onLinux('with one of the ports taken there, neither is opened', async () => {
  const holder = createServer().listen(running.httpsPort, OTHER);
  await once(holder, 'listening');
  await expect(running.proxy.serveOn(OTHER, PLACE)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(`^Port ${running.httpsPort} \\(${OTHER}\\) is taken.*--https-port`),
  });
  await expect(openSocket(running.httpPort, '', OTHER)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  holder.close();
});
