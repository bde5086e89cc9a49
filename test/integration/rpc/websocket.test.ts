import { once } from 'node:events';
import { isDefinedError, safe } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../../main/contract/status.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { PING_INTERVAL_MS, SOCKETS_MAX } from '../../../main/rpc/sockets.ts';
import { SESSION_CALLS_MAX } from '../../../main/rpc/session.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { connectBrowser, openBrowserSocket, refusedStatus } from '../../support/rpc/rpc-browser.ts';
import { CONTROL_TOKEN, startControl } from '../../support/rpc/rpc-control.ts';
import { SAMPLE_PROJECT } from '../../support/rpc/rpc-fake-services.ts';
import { countingStream } from '../../support/rpc/rpc-streams.ts';

describe('the interface in a browser, over WebSocket', () => {
  it('calls procedures with oRPC’s client', async () => {
    const control = await startControl();
    control.fake.stub('projects', 'get', ({ projectId }) => ({ ...SAMPLE_PROJECT, id: projectId }));
    const { client, socket } = await connectBrowser(control);
    expect(await client.projects.get({ projectId: 'prj_2' })).toEqual({ ...SAMPLE_PROJECT, id: 'prj_2' });
    expect(socket.protocol).toBe('vivarium');
    expect(control.server.clients()).toBe(1);
  });

  it('receives catalogued errors, with their issues', async () => {
    const control = await startControl();
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

  it('receives nothing of an unknown error except that it happened', async () => {
    const control = await startControl();
    const { client } = await connectBrowser(control);
    const failed = await safe(client.clock.get());
    expect(JSON.stringify(failed.error)).not.toContain('fake services');
    expect(failed.error).toMatchObject({ code: 'internal_error', status: 500 });
  });

  it('watches a stream until it stops', async () => {
    const control = await startControl();
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

  it('ends its streams when the tab is closed', async () => {
    const control = await startControl();
    const stream = countingStream({ pauseAfter: 1 });
    control.fake.stub('events', 'watch', stream.open);
    const { client, socket } = await connectBrowser(control);
    const iterator = await client.events.watch();
    await iterator.next();
    socket.terminate();
    await stream.ended;
  });

  it('does not run ahead of a tab that reads slowly', async () => {
    const control = await startControl();
    const stream = countingStream({ padding: 64 * 1024 });
    control.fake.stub('events', 'watch', stream.open);
    const { client, socket } = await connectBrowser(control);
    await client.events.watch();
    socket.pause();
    // It continues until the system's buffers are full, which are some megabytes, and then waits.
    await stream.stalled();
    expect(stream.produced()).toBeLessThan(2_000);
  });

  it('receives an error for an unknown procedure', async () => {
    const control = await startControl();
    const { client } = await connectBrowser(control);
    const unknown = client as unknown as { pets: { paint(): Promise<unknown> } };
    expect((await safe(unknown.pets.paint())).error).toMatchObject({ code: 'not_found', status: 404 });
  });
});

describe('a WebSocket is refused', () => {
  it.each<[string, Parameters<typeof openBrowserSocket>[1], number]>([
    ['without a token', { protocols: ['vivarium'] }, 401],
    ['with a wrong token', { protocols: ['vivarium', 'token.wrong'] }, 401],
    ['without the protocol’s name', { protocols: [`token.${CONTROL_TOKEN}`] }, 401],
    ['with the token in the address only', { protocols: ['vivarium'], path: `/rpc?token=${CONTROL_TOKEN}` }, 401],
    ['to a foreign page', { origin: 'http://evil.example' }, 403],
    ['to a page without an origin', { origin: 'null' }, 403],
    ['to a page on another port', { origin: 'http://127.0.0.1:8080' }, 403],
    ['under a rebound name', { headers: { Host: 'evil.example' } }, 403],
    ['on another path', { path: '/socket' }, 404],
  ])('%s', async (_what, options, status) => {
    const control = await startControl();
    expect(await refusedStatus(openBrowserSocket(control, options))).toBe(status);
    expect(control.server.clients()).toBe(0);
  });

  it('when there are too many tabs, until one is closed', async () => {
    const control = await startControl();
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
  it.each(['nonsense', '{}', '[]', '{"i":"1","p":{}}', 'null', Buffer.from([0xff, 0x00])])(
    'when it sends %j, which is not a message',
    async (message) => {
      const control = await startControl();
      const socket = openBrowserSocket(control);
      await once(socket, 'open');
      socket.send(message);
      expect((await once(socket, 'close'))[0]).toBe(1008);
    },
  );

  it('only once, however many invalid messages it sends', async () => {
    const control = await startControl();
    const socket = openBrowserSocket(control);
    await once(socket, 'open');
    for (let count = 0; count < 20; count++) socket.send('nonsense');
    await once(socket, 'close');
    expect(control.lines.filter(({ message }) => message.includes('violates the protocol'))).toHaveLength(1);
  });

  it('when it has too many open calls', async () => {
    const control = await startControl();
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
