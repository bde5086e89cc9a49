import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { VivariumError } from '../../../main/contract/errors.ts';
import { bindPort } from '../../../main/base/system/bind-port.ts';

const opened: Server[] = [];
const make = (): Server => {
  const server = createServer();
  opened.push(server);
  return server;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

const BOTH = ['127.0.0.1', '::1'];
const bind = (port: number, addresses = BOTH) =>
  bindPort({ port, addresses, option: '--http-port', createServer: make });

/**
 * Takes a port on one address that is free on the other; a port that the system assigns for `host` alone may be taken
 * there.
 */
async function take(host: string): Promise<number> {
  const { port, addresses, servers } = await bind(0);
  const others = servers.filter((_server, index) => addresses[index] !== host);
  await Promise.all(others.map((server) => new Promise((resolve) => server.close(resolve))));
  return port;
}

test('port 0 selects one number that is free on both addresses', async () => {
  const { port, addresses, servers, warnings } = await bind(0);
  expect(port).toBeGreaterThan(0);
  expect(addresses).toEqual(BOTH);
  expect(servers.map((server) => (server.address() as AddressInfo).port)).toEqual([port, port]);
  expect(warnings).toEqual([]);
});

test.each(BOTH)('a port in use on %s is refused in one line with its holder, and what to change', async (host) => {
  const port = await take(host);
  const failure = await bind(port).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(VivariumError);
  expect(failure).toMatchObject({ code: 'conflict' });
  const { message } = failure as VivariumError;
  expect(message).toContain(`Port ${port} (${host}) is taken`);
  expect(message).toContain('--http-port');
  expect(message).not.toContain('\n');
  if (process.platform === 'linux') expect(message).toContain(`(pid ${process.pid})`);
  // Nothing is left open on the other address.
  expect(opened.filter((server) => server.listening)).toHaveLength(1);
});

test('an address that this machine lacks causes a warning', async () => {
  // RFC 3849: reserved for documentation.
  const { addresses, warnings } = await bind(0, ['127.0.0.1', '2001:db8::1']);
  expect(addresses).toEqual(['127.0.0.1']);
  expect(warnings).toEqual(['This machine has no 2001:db8::1: Vivarium listens on 127.0.0.1 only.']);
});
