import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { createAccess } from '../../../main/rpc/access.ts';
import { createRouter } from '../../../main/rpc/router.ts';
import { createControlServer } from '../../../main/rpc/server.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { freePort } from '../../support/ports.ts';
import { createFakeServices } from '../../support/rpc/rpc-fake-services.ts';

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
