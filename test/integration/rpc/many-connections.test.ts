import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { startControl } from '../../support/rpc-control.ts';

const MAX = 256;

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
    const { post, port, fake } = await startControl({ clock });
    fake.stub('projects', 'list', () => []);
    await Promise.all(Array.from({ length: MAX + 20 }, () => open(port, textFor(port))));
    await clock.pass(1_000);
    for (let count = 0; count < 5; count++) expect((await post('projects.list')).ok).toBe(true);
  });

  it('does not displace a client with the token', async () => {
    const clock = createFakeClock();
    const { post, port, fake } = await startControl({ clock });
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
