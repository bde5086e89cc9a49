import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { CONTROL_TOKEN, startControl } from '../../support/rpc/rpc-control.ts';

const MAX = 64;

async function open(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.pause();
  socket.write(text);
  return socket;
}

const HOST = (port: number): string => `Host: 127.0.0.1:${port}\r\n`;

describe('a new client of the control port', () => {
  it.each<[string, (port: number) => string]>([
    ['send nothing', () => ''],
    ['trickle a header', (port) => `GET / HTTP/1.1\r\n${HOST(port)}X: `],
    ['trickle a body', (port) => `POST /api/status/get HTTP/1.1\r\n${HOST(port)}Content-Length: 9\r\n\r\n{`],
    ['do not read', (port) => `GET /api/openapi.json HTTP/1.1\r\n${HOST(port)}\r\n`.repeat(8)],
  ])('is served while the maximum number of connections are %s', async (_what, textFor) => {
    const clock = createFakeClock();
    const { post, port, fake } = await startControl({ clock, connectionsMax: MAX });
    fake.stub('projects', 'list', () => []);
    await Promise.all(Array.from({ length: MAX + 20 }, () => open(port, textFor(port))));
    await clock.pass(1_000);
    for (let count = 0; count < 5; count++) expect((await post('projects.list')).ok).toBe(true);
  });

  const TOKEN = `Authorization: Bearer ${CONTROL_TOKEN}\r\n`;
  it.each<[string, (port: number) => string]>([
    ['trickle a body', (port) => `POST /api/status/get HTTP/1.1\r\n${HOST(port)}${TOKEN}Content-Length: 9\r\n\r\n{`],
    ['watch a stream', (port) => `POST /api/events/watch HTTP/1.1\r\n${HOST(port)}${TOKEN}Content-Length: 2\r\n\r\n{}`],
  ])('is served while the maximum number of connections have the token and %s', async (_what, textFor) => {
    const clock = createFakeClock();
    const { post, port, url, server, fake } = await startControl({ clock, connectionsMax: 4 * MAX });
    server.ready();
    fake.stub('projects', 'list', () => []);
    fake.stub('events', 'watch', async function* () {
      yield* [];
      await new Promise(() => undefined);
    });
    await Promise.all(Array.from({ length: 4 * MAX }, () => open(port, textFor(port))));
    for (let round = 0; round < 5; round++) {
      await clock.pass(100);
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async (_, index) =>
          index % 2 === 0 ? (await fetch(`${url}/healthz`)).status : (await post('projects.list')).status,
        ),
      );
      expect(statuses).toEqual(Array(20).fill(200));
    }
  });

  it('does not displace those with the token, but for an eighth', async () => {
    const { port, url, server, fake } = await startControl({ connectionsMax: 16, clock: createFakeClock() });
    server.ready();
    fake.stub('events', 'watch', async function* () {
      yield* [];
      await new Promise(() => undefined);
    });
    const text = `POST /api/events/watch HTTP/1.1\r\n${HOST(port)}${TOKEN}Content-Length: 2\r\n\r\n{}`;
    const watchers: Socket[] = [];
    for (let count = 1; count <= 16; count++) {
      watchers.push(await open(port, text));
      await expect.poll(() => server.clients()).toBe(count);
    }
    for (let count = 0; count < 20; count++)
      expect((await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200);
    expect(server.clients()).toBeGreaterThanOrEqual(14);
    expect(watchers.slice(0, 14).every(({ destroyed, readableEnded }) => !destroyed && !readableEnded)).toBe(true);
  });

  it('does not displace a client with the token', async () => {
    const clock = createFakeClock();
    const { post, port, fake } = await startControl({ clock, connectionsMax: MAX });
    const { promise, resolve } = Promise.withResolvers<[]>();
    fake.stub('projects', 'list', () => promise);
    const waiting = post('projects.list');
    await expect.poll(() => fake.calls.length).toBe(1);
    await clock.pass(1_000);
    await Promise.all(Array.from({ length: 2 * MAX }, () => open(port, `GET / HTTP/1.1\r\n${HOST(port)}X: `)));
    resolve([]);
    expect((await waiting).ok).toBe(true);
  });
});
