import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { createORPCClient, isDefinedError, safe } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { describe, expect, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { inFormOf, typed } from '../../../main/base/system/own-command.ts';
import { silentLog } from '../../../main/base/log.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import type { ChangeEvent } from '../../../main/contract/status.ts';
import { createRouter } from '../../../main/rpc/router.ts';
import { SESSION_CALLS_MAX, upgradeMessagePort } from '../../../main/rpc/session.ts';
import { PING_INTERVAL_MS, SOCKETS_MAX } from '../../../main/rpc/sockets.ts';
import { createWebSocketTransport } from '../../../renderer/connection/web-socket.ts';
import { browserTime } from '../../../renderer/shared/time/real-time.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { connectBrowser, openBrowserSocket, refusedStatus } from '../../support/rpc/rpc-browser.ts';
import type { ContractClient } from '../../support/rpc/rpc-browser.ts';
import { CONTROL_TOKEN, startControl, controlTest as it } from '../../support/rpc/rpc-control.ts';
import { SAMPLE_PROJECT, createFakeServices } from '../../support/rpc/rpc-fake-services.ts';
import { countingStream } from '../../support/rpc/rpc-streams.ts';

describe('the interface in a browser, over WebSocket', () => {
  it('calls procedures with oRPC’s client', async ({ control }) => {
    control.fake.stub('projects', 'get', ({ projectId }) => ({ ...SAMPLE_PROJECT, id: projectId }));
    const { client, socket } = await connectBrowser(control);
    expect(await client.projects.get({ projectId: 'prj_2' })).toEqual({ ...SAMPLE_PROJECT, id: 'prj_2' });
    expect(socket.protocol).toBe('vivarium');
    expect(control.server.clients()).toBe(1);
  });

  it('receives catalogued errors, with their issues', async ({ control }) => {
    control.fake.stub('projects', 'remove', () => {
      throw new VivariumError('not_found', 'There is no such project.');
    });
    const { client } = await connectBrowser(control);
    const missing = await safe(client.projects.remove({ projectId: 'p' }));
    expect(isDefinedError(missing.error) && [missing.error.code, missing.error.status, missing.error.message]).toEqual([
      'not_found',
      404,
      'There is no such project.',
    ]);
    const wrong = await safe(client.projects.create({ name: '' }));
    expect(isDefinedError(wrong.error) && wrong.error.code === 'invalid_request' && wrong.error.data?.issues).toEqual([
      { path: 'name', message: 'must have at least one character other than spaces' },
    ]);
  });

  it('receives nothing of an unknown error except that it happened', async ({ control }) => {
    const { client } = await connectBrowser(control);
    const failed = await safe(client.clock.get());
    expect(JSON.stringify(failed.error)).not.toContain('fake services');
    expect(failed.error).toMatchObject({ code: 'internal_error', status: 500 });
  });

  it('watches a stream until it stops', async ({ control }) => {
    const stream = countingStream();
    control.fake.stub('events', 'watch', stream.open);
    const { client } = await connectBrowser(control);
    const seen: ChangeEvent[] = [];
    for await (const event of await client.events.watch()) {
      seen.push(event);
      if (seen.length === 3) break;
    }
    expect(seen.map(({ projectId }) => projectId)).toEqual(['1', '2', '3']);
    await stream.ended;
  });

  it('ends its streams when the tab is closed', async ({ control }) => {
    const stream = countingStream({ pauseAfter: 1 });
    control.fake.stub('events', 'watch', stream.open);
    const { client, socket } = await connectBrowser(control);
    const iterator = await client.events.watch();
    await iterator.next();
    socket.terminate();
    await stream.ended;
  });

  it('does not run ahead of a tab that reads slowly', async ({ control }) => {
    const stream = countingStream({ padding: 64 * 1024 });
    control.fake.stub('events', 'watch', stream.open);
    const { client, socket } = await connectBrowser(control);
    await client.events.watch();
    socket.pause();
    // It continues until the system's buffers are full, which are some megabytes, and then waits.
    await stream.stalled();
    expect(stream.produced()).toBeLessThan(2_000);
  });

  it('receives an error for an unknown procedure', async ({ control }) => {
    const { client } = await connectBrowser(control);
    const unknown = client as unknown as { pets: { paint(): Promise<unknown> } };
    expect((await safe(unknown.pets.paint())).error).toMatchObject({ code: 'not_found', status: 404 });
  });
});

describe('a WebSocket is refused', () => {
  it.for<[string, Parameters<typeof openBrowserSocket>[1], number]>([
    ['without a token', { protocols: ['vivarium'] }, 401],
    ['with a wrong token', { protocols: ['vivarium', 'token.wrong'] }, 401],
    ['without the protocol’s name', { protocols: [`token.${CONTROL_TOKEN}`] }, 401],
    ['with the token in the address only', { protocols: ['vivarium'], path: `/rpc?token=${CONTROL_TOKEN}` }, 401],
    ['to a foreign page', { origin: 'http://evil.example' }, 403],
    ['to a page without an origin', { origin: 'null' }, 403],
    ['to a page on another port', { origin: 'http://127.0.0.1:8080' }, 403],
    ['under a rebound name', { headers: { Host: 'evil.example' } }, 403],
    ['on another path', { path: '/socket' }, 404],
  ])('%s', async ([_what, options, status], { control }) => {
    expect(await refusedStatus(openBrowserSocket(control, options))).toBe(status);
    expect(control.server.clients()).toBe(0);
  });

  it('when there are too many tabs, until one is closed', async ({ control }) => {
    const tabs = Array.from({ length: SOCKETS_MAX }, () => openBrowserSocket(control));
    await Promise.all(tabs.map((tab) => once(tab, 'open')));
    expect(await refusedStatus(openBrowserSocket(control))).toBe(503);
    const first = tabs[0];
    first?.close();
    if (first !== undefined) await once(first, 'close');
    await once(openBrowserSocket(control), 'open');
  });
});

describe('a tab is disconnected', () => {
  it.for(['nonsense', '{}', '[]', '{"i":"1","p":{}}', 'null', Buffer.from([0xff, 0x00])])(
    'when it sends %j, which is not a message',
    async (message, { control }) => {
      const socket = openBrowserSocket(control);
      await once(socket, 'open');
      socket.send(message);
      expect((await once(socket, 'close'))[0]).toBe(1008);
    },
  );

  it('only once, however many invalid messages it sends', async ({ control }) => {
    const socket = openBrowserSocket(control);
    await once(socket, 'open');
    for (let count = 0; count < 20; count++) socket.send('nonsense');
    await once(socket, 'close');
    expect(control.lines.filter(({ message }) => message.includes('violates the protocol'))).toHaveLength(1);
  });

  it('when it has too many open calls', async ({ control }) => {
    control.fake.stub('projects', 'list', () => new Promise<never>(() => undefined));
    const { client, socket } = await connectBrowser(control);
    for (let call = 0; call <= SESSION_CALLS_MAX; call++) client.projects.list().catch(() => undefined);
    expect((await once(socket, 'close'))[0]).toBe(1008);
  });

  it('when it does not answer pings', async () => {
    const clock = createFakeClock();
    const control = await startControl({ clock });
    const answering = openBrowserSocket(control);
    const silent = openBrowserSocket(control, { autoPong: false });
    await Promise.all([once(answering, 'open'), once(silent, 'open')]);
    const pinged = [once(answering, 'ping'), once(silent, 'ping')];
    await clock.pass(PING_INTERVAL_MS);
    await Promise.all(pinged);
    // The answer is on its way: a second round trip on the same connection arrives after it.
    answering.ping();
    await once(answering, 'pong');
    const closed = once(silent, 'close');
    await clock.pass(PING_INTERVAL_MS);
    await closed;
    expect(answering.readyState).toBe(answering.OPEN);
    expect(control.server.clients()).toBe(1);
    answering.terminate();
  });
});

it('abandons a connection whose engine has stopped, with the calls that wait for it', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'vivarium' });
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  // Neither reads nor writes, as after SIGSTOP; the closing handshake stays unanswered.
  server.on('connection', (socket) => socket.pause());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const transport = createWebSocketTransport({ origin: `http://127.0.0.1:${port}`, token: 'x', time: browserTime });
  const opened = await transport.open();
  const call = opened.link.call(['status', 'get'], undefined, { context: {} });
  opened.close();
  await opened.closed;
  await expect(call).rejects.toThrow();
});

function connectWindow() {
  const fake = createFakeServices();
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port2.close());
  type Port = Parameters<typeof upgradeMessagePort>[1];
  const close = upgradeMessagePort(
    createRouter(fake.services, { log: silentLog, clock: createFakeClock() }),
    port1 as unknown as Port,
  );
  const client: ContractClient = createORPCClient(new RPCLink({ port: port2 as unknown as Port }));
  port2.start();
  return { fake, client, port: port2, close };
}

describe('the desktop window, over a message port', () => {
  it('calls procedures, and gets commands for any folder', async () => {
    const { fake, client } = connectWindow();
    const named = () => ({ ...SAMPLE_PROJECT, name: typed('vivarium status get') });
    fake.stub('projects', 'list', () => [named()]);
    expect(await client.projects.list()).toEqual([inFormOf(undefined, named)]);
    expect(inFormOf(undefined, named)).not.toEqual(named());
  });

  it('receives errors as data', async () => {
    const { fake, client } = connectWindow();
    fake.stub('projects', 'get', () => {
      throw new VivariumError('not_found', 'There is no such project.');
    });
    expect((await safe(client.projects.get({ projectId: 'p' }))).error).toMatchObject({
      code: 'not_found',
      message: 'There is no such project.',
    });
  });

  it('receives the first hundred issues, and the count of the others', async () => {
    const { client } = connectWindow();
    const input = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 0]));
    const { error } = await safe(client.settings.update(input));
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(/and 9,997 more\.$/) });
    expect((error as { data?: { issues: unknown[] } }).data?.issues).toHaveLength(100);
  });

  it('watches a stream until it stops', async () => {
    const { fake, client } = connectWindow();
    const stream = countingStream();
    fake.stub('events', 'watch', stream.open);
    const seen: unknown[] = [];
    for await (const event of await client.events.watch()) {
      seen.push(event.projectId);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual(['1', '2', '3']);
    await stream.ended;
  });

  it('ends its streams when the window is closed', async () => {
    const { fake, client, port } = connectWindow();
    const stream = countingStream({ pauseAfter: 1 });
    fake.stub('events', 'watch', stream.open);
    await (await client.events.watch()).next();
    port.close();
    await stream.ended;
  });

  it.each(['nonsense', 5, { i: '1', p: {} }, null])(
    'is disconnected when it sends %j, which is not a message',
    async (message) => {
      const { port } = connectWindow();
      const closed = once(port, 'close');
      port.postMessage(message);
      await closed;
    },
  );

  it('can be disconnected from this side', async () => {
    const { port, close } = connectWindow();
    const closed = once(port, 'close');
    close();
    await closed;
  });
});
