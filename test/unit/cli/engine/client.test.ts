import { describe, expect, it, onTestFinished } from 'vitest';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callProcedure, readEvents } from '../../../../main/cli/engine/client.ts';

async function read(...chunks: string[]) {
  async function* arriving() {
    yield* chunks;
  }
  const events: string[] = [];
  for await (const { event, data } of readEvents(arriving())) events.push(`${event} ${data}`);
  return events;
}

it.each<[string, string[], string[]]>([
  ['whole', ['event: message\ndata: 1\n\nevent: done\n\n'], ['message 1', 'done ']],
  ['in pieces', ['eve', 'nt: mess', 'age\nda', 'ta: {"a":', '1}\n', '\n'], ['message {"a":1}']],
  ['with comments', [': hello\n\n', 'data: 1\n\n', ': still\n\n'], ['message 1']],
  ['with carriage returns', ['event: message\r\ndata: 1\r\n\r\n'], ['message 1']],
  ['with data in two lines', ['data: a\ndata: b\n\n'], ['message a\nb']],
  ['without blanks', ['event:x\ndata:1\n\n'], ['x 1']],
  ['cut short', ['data: 1\n\ndata: 2\n'], ['message 1']],
  ['empty', [], []],
])('a stream of events is read: %s', async (_how, chunks, events) => {
  expect(await read(...chunks)).toEqual(events);
});

describe('a long call', () => {
  /** An engine whose call stays open; the timeouts of the command line run against it. */
  async function startCall() {
    const asked: { path: string; response: ServerResponse }[] = [];
    const server = createServer(({ url = '' }, response) => {
      asked.push({ path: url, response });
      server.emit('asked');
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const timers: (() => void)[] = [];
    const time = {
      schedule(_delayMs: number, callback: () => void) {
        timers.push(callback);
        server.emit('scheduled');
        return { cancel: () => void timers.splice(timers.indexOf(callback) >>> 0, 1) };
      },
    };
    const arrived = once(server, 'asked');
    const call = callProcedure({ url, token: 't', pid: 7, dataDir: '/d' }, 'ca.trust', '{}', undefined, time);
    await arrived;
    const elapse = () => timers.shift()?.();
    return { server, url, asked, call, elapse };
  }

  it('is abandoned if the engine does not answer its health check either', async () => {
    const { server, url, call, elapse } = await startCall();
    const arrived = once(server, 'asked');
    elapse();
    await arrived;
    elapse();
    await expect(call).rejects.toThrow(`Process 7 has not answered at ${url} for 5 s.`);
  });

  it('continues while the engine answers its health check', async () => {
    const { server, asked, call, elapse } = await startCall();
    for (const look of [1, 2]) {
      const arrived = once(server, 'asked');
      elapse();
      await arrived;
      const again = once(server, 'scheduled');
      asked[look]?.response.end('ok');
      await again;
    }
    expect(asked.map(({ path }) => path)).toEqual(['/api/ca/trust', '/healthz', '/healthz']);
    asked[0]?.response.end('{"done":true}');
    expect(await call).toEqual({ kind: 'result', json: '{"done":true}' });
  });
});
