import { createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../support/ports.ts';
import { createLoopback, LOOPBACK_BYTES_MAX, LOOPBACK_MS_MAX } from '../../../../main/proxy/front/loopback.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

/** A listener that runs `act` on a connection once the header section has arrived. */
async function answering(answer: (socket: Socket, head: string) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    let head = '';
    socket.on('data', (chunk) => {
      const begun = head.includes('\r\n\r\n');
      head += chunk.toString('latin1');
      if (!begun && head.includes('\r\n\r\n')) answer(socket, head);
    });
  });
  const { port } = await listen(server);
  const clock = createFakeClock();
  // Time is measured when the request begins, and again when an answer does.
  const begun = Promise.withResolvers<undefined>();
  let measured = 0;
  const loopback = createLoopback({
    clock: {
      realTimer: clock.realTimer,
      monotonic() {
        if (++measured === 2) begun.resolve(undefined);
        return clock.monotonic();
      },
    },
    ports: { http: port, https: 0 },
  });
  return { clock, loopback, begun: begun.promise };
}

const GET = {
  scheme: 'http',
  method: 'GET',
  target: '/v1/pets',
  headers: [['Host', 'demo.vivarium.localhost']],
  body: null,
} as const;

describe('a request to Vivarium’s own listener', () => {
  it('is sent exactly as specified', async () => {
    const seen = Promise.withResolvers<string>();
    const { loopback } = await answering((socket, head) => {
      seen.resolve(head);
      socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
    const headers = [
      ['Host', 'a.test'],
      ['x-ODD', '1'],
      ['X-Odd', '2'],
      ['Content-Length', '2'],
      ['Connection', 'close'],
    ] as const;
    await loopback.send({ scheme: 'http', method: 'POST', target: '/v1/a?b=%20', headers, body: Buffer.from('hi') });
    const [section] = (await seen.promise).split('\r\n\r\n');
    expect(section?.split('\r\n')).toEqual([
      'POST /v1/a?b=%20 HTTP/1.1',
      'Host: a.test',
      'x-ODD: 1',
      'X-Odd: 2',
      'Content-Length: 2',
      'Connection: close',
    ]);
  });

  it('returns headers in their spelling and order', async () => {
    const { loopback } = await answering((socket) =>
      socket.end('HTTP/1.1 299 Odd Enough\r\nX-b: 2\r\nx-A: 1\r\nX-b: 3\r\nContent-Length: 2\r\n\r\nhi'),
    );
    expect(await loopback.send(GET)).toMatchObject({
      status: 299,
      reason: 'Odd Enough',
      headers: [
        ['X-b', '2'],
        ['x-A', '1'],
        ['X-b', '3'],
        ['Content-Length', '2'],
      ],
      body: Buffer.from('hi'),
      cut: false,
    });
  });

  it('keeps the given length of a body, and reports whether there was more', async () => {
    const { loopback } = await answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const chunk = Buffer.alloc(65_536, 'a');
      const pour = (): void => {
        while (!socket.destroyed && socket.write(chunk));
        socket.once('drain', pour);
      };
      pour();
    });
    const { body, cut } = await loopback.send(GET);
    expect([body.length, cut]).toEqual([LOOPBACK_BYTES_MAX, true]);
  });

  it('returns what has arrived when the time is over', async () => {
    const { clock, loopback, begun } = await answering((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    const sent = loopback.send(GET);
    await begun;
    await clock.pass(LOOPBACK_MS_MAX);
    expect(await sent).toMatchObject({ status: 200, cut: true });
  });

  it('fails when no answer arrives in time', async () => {
    const asked = Promise.withResolvers<undefined>();
    const { clock, loopback } = await answering(() => asked.resolve(undefined));
    const failed = expect(loopback.send(GET)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The listener gave no answer: no answer within 30 seconds.',
    });
    await asked.promise;
    await clock.pass(LOOPBACK_MS_MAX);
    await failed;
  });

  it.each([
    ['resets', (socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    ['answers something else', (socket: Socket) => socket.end('SSH-2.0-x\r\n'), 'Parse Error'],
  ])('fails with a sentence when the other side %s', async (_what, answer, message) => {
    const { loopback } = await answering((socket) => void answer(socket));
    await expect(loopback.send(GET)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(message),
    });
  });

  it('ends when its caller aborts', async () => {
    const gone = new AbortController();
    const { loopback } = await answering(() => gone.abort());
    await expect(loopback.send(GET, gone.signal)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
