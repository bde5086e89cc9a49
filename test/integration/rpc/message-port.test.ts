import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { createORPCClient, safe } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { upgradeMessagePort } from '../../../main/rpc/session.ts';
import { createRouter } from '../../../main/rpc/router.ts';
import type { ContractClient } from '../../support/rpc/rpc-browser.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createFakeServices, SAMPLE_PROJECT } from '../../support/rpc/rpc-fake-services.ts';
import { countingStream } from '../../support/rpc/rpc-streams.ts';

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
  it('calls procedures', async () => {
    const { fake, client } = connectWindow();
    fake.stub('projects', 'list', () => [SAMPLE_PROJECT]);
    expect(await client.projects.list()).toEqual([SAMPLE_PROJECT]);
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
