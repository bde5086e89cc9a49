import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { createAccess } from '../../../main/rpc/access.ts';
import { createRouter } from '../../../main/rpc/router.ts';
import { createControlServer } from '../../../main/rpc/server.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { freePort } from '../../support/ports.ts';
import { connectBrowser } from '../../support/rpc/rpc-browser.ts';
import { CONTROL_TOKEN, startControl, controlTest as it } from '../../support/rpc/rpc-control.ts';
import { createFakeServices } from '../../support/rpc/rpc-fake-services.ts';
import { openRaw, requestRaw, statusOf } from '../../support/rpc/rpc-raw.ts';

async function occupy(host: string, port: number): Promise<number | null> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen({ host, port, ipv6Only: true }, () => resolve((server.address() as { port: number }).port));
  });
}

function controlOn(port: number) {
  const server = createControlServer({
    clock: createClock(),
    log: silentLog,
    router: createRouter(createFakeServices().services, { log: silentLog, clock: createFakeClock() }),
    access: createAccess('token', () => 0),
    port,
    isForwarded: () => false,
    assetsDir: null,
    requestStop: () => undefined,
    version: '1.2.3',
  });
  onTestFinished(() => server.stop(1_000));
  return server;
}

it.each(['127.0.0.1', '::1'])(
  'a port in use on %s is named in one line, with the option that changes it',
  async (host) => {
    const port = await occupy(host, await freePort());
    if (port === null) return;
    const starting = controlOn(port).start();
    await expect(starting).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        `^Port ${port} .* is taken.* choose another port with --control-port; --any-ports takes free ones where none is given\\.$`,
      ) as string,
    });
    // Nothing is left behind on the other address.
    expect(await occupy(host === '::1' ? '127.0.0.1' : '::1', port)).toBe(port);
  },
);

it('the reported URL is where it answers', async () => {
  const { url, port } = await controlOn(0).start();
  expect(url).toBe(`http://127.0.0.1:${port}`);
  expect((await fetch(`${url}/api/openapi.json`)).status).toBe(200);
});

it('/healthz answers 503 until every listener is ready, and then 200 with nothing but ok', async ({ server, url }) => {
  const early = await fetch(`${url}/healthz`);
  expect([early.status, await early.json()]).toEqual([503, { code: 'unavailable', message: 'Vivarium is starting.' }]);
  server.ready();
  const late = await fetch(`${url}/healthz`);
  expect([late.status, await late.text(), late.headers.get('cache-control')]).toEqual([200, 'ok\n', 'no-store']);
  const head = await fetch(`${url}/healthz`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

it('/healthz accepts GET and HEAD, from its own names and pages only', async ({ server, port }) => {
  server.ready();
  const own = `Host: 127.0.0.1:${port}`;
  expect(statusOf(await requestRaw(port, 'POST /healthz', [own, 'Content-Length: 0']))).toBe(405);
  expect(statusOf(await requestRaw(port, 'GET /healthz', [`Host: evil.example:${port}`]))).toBe(403);
  expect(statusOf(await requestRaw(port, 'GET /healthz', [own, 'Origin: http://evil.example']))).toBe(403);
});

it('/stop accepts POST with the token, and then requests the stop once', async () => {
  const requestStop = vi.fn();
  const { url } = await startControl({ requestStop });
  const ask = async (method: string, token: string) =>
    (await fetch(`${url}/stop`, { method, headers: { Authorization: `Bearer ${token}` } })).status;
  expect([await ask('GET', CONTROL_TOKEN), await ask('POST', 'wrong')]).toEqual([405, 401]);
  expect(requestStop).not.toHaveBeenCalled();
  expect(await ask('POST', CONTROL_TOKEN)).toBe(202);
  expect(requestStop).toHaveBeenCalledOnce();
});

it('a public file that cannot be read is answered with the reason', async () => {
  const read = () => {
    throw new VivariumError('unavailable', 'Vivarium is stopping; its database is closed.');
  };
  const { url } = await startControl({ openFiles: new Map([['/root.crl', { contentType: 'text/plain', read }]]) });
  const answer = await fetch(`${url}/root.crl`);
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'unavailable' }]);
});

describe('stopping the control server', () => {
  it('lets a running call finish, and accepts no other', async ({ server, fake, post, port }) => {
    const asked = Promise.withResolvers<undefined>();
    const answer = Promise.withResolvers<never[]>();
    fake.stub('projects', 'list', () => {
      asked.resolve(undefined);
      return answer.promise;
    });
    const call = post('projects.list');
    await asked.promise;
    const stopped = server.stop(60_000);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    answer.resolve([]);
    expect((await call).status).toBe(200);
    await stopped;
  });

  it('cuts off what is unfinished at the deadline', async ({ server, fake, post }) => {
    const asked = Promise.withResolvers<undefined>();
    fake.stub('projects', 'list', () => {
      asked.resolve(undefined);
      return new Promise<never>(() => undefined);
    });
    const call = post('projects.list');
    call.catch(() => undefined);
    await asked.promise;
    await server.stop(20);
    await expect(call).rejects.toThrow();
  });

  it('closes idle connections at once', async ({ server, port }) => {
    const socket = await openRaw(port);
    socket.write(`GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    await once(socket, 'data');
    socket.resume();
    const closed = once(socket, 'close');
    await Promise.all([server.stop(60_000), closed]);
  });

  it.for([
    ['no request', ''],
    ['half a header', 'GET / HTTP/1.1\r\nHost: '],
  ] as const)('closes connections with %s at once', async ([_, text], { server, port }) => {
    const socket = await openRaw(port);
    socket.write(text);
    const closed = once(socket, 'close');
    // The server has accepted the connection, and what was written, before it answers another.
    await fetch(`http://127.0.0.1:${port}/api/openapi.json`);
    await Promise.all([server.stop(60_000), closed]);
  });

  it('tells browser tabs that it is shutting down', async ({ control }) => {
    const { socket } = await connectBrowser(control);
    const closed = once(socket, 'close');
    await control.server.stop(2_000);
    expect((await closed)[0]).toBe(1001);
    expect(control.server.clients()).toBe(0);
  });

  it('can be repeated, and done before a start', async ({ server }) => {
    await server.stop(1_000);
    await server.stop(1_000);
  });
});
