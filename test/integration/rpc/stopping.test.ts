import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startControl } from '../../support/rpc/rpc-control.ts';
import { openRaw } from '../../support/rpc/rpc-raw.ts';
import { connectBrowser } from '../../support/rpc/rpc-browser.ts';

describe('stopping the control server', () => {
  it('lets a running call finish, and accepts no other', async () => {
    const { server, fake, post, port } = await startControl();
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

  it('cuts off what is unfinished at the deadline', async () => {
    const { server, fake, post } = await startControl();
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

  it('closes idle connections at once', async () => {
    const { server, port } = await startControl();
    const socket = await openRaw(port);
    socket.write(`GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    await once(socket, 'data');
    socket.resume();
    const closed = once(socket, 'close');
    await Promise.all([server.stop(60_000), closed]);
  });

  it.each([
    ['no request', ''],
    ['half a header', 'GET / HTTP/1.1\r\nHost: '],
  ])('closes connections with %s at once', async (_, text) => {
    const { server, port } = await startControl();
    const socket = await openRaw(port);
    socket.write(text);
    const closed = once(socket, 'close');
    // The server has accepted the connection, and what was written, before it answers another.
    await fetch(`http://127.0.0.1:${port}/api/openapi.json`);
    await Promise.all([server.stop(60_000), closed]);
  });

  it('tells browser tabs that it is shutting down', async () => {
    const control = await startControl();
    const { socket } = await connectBrowser(control);
    const closed = once(socket, 'close');
    await control.server.stop(2_000);
    expect((await closed)[0]).toBe(1001);
    expect(control.server.clients()).toBe(0);
  });

  it('can be repeated, and done before a start', async () => {
    const { server } = await startControl();
    await server.stop(1_000);
    await server.stop(1_000);
  });
});
