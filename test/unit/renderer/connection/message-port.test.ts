import { createORPCClient, safe } from '@orpc/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../../main/base/log.ts';
import { upgradeMessagePort } from '../../../../main/rpc/session.ts';
import { createRouter } from '../../../../main/rpc/router.ts';
import { createMessagePortTransport } from '../../../../renderer/connection/message-port.ts';
import type { Client } from '../../../../renderer/connection/transport.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { createFakeServices, SAMPLE_PET, SAMPLE_PROJECT } from '../../../support/rpc/rpc-fake-services.ts';
import { countingStream } from '../../../support/rpc/rpc-streams.ts';

/** A page's transport, and what the main process does with the ports that it receives. */
function setUp() {
  const fake = createFakeServices();
  const router = createRouter(fake.services, { log: silentLog, clock: createFakeClock() });
  const cutOff: (() => void)[] = [];
  const transport = createMessagePortTransport({
    transferPort(port) {
      const close = upgradeMessagePort(router, port);
      cutOff.push(close);
      onTestFinished(close);
    },
  });
  return { fake, transport, cutOff };
}

async function openClient({ transport }: ReturnType<typeof setUp>) {
  const opened = await transport.open();
  onTestFinished(() => opened.close());
  return { opened, client: createORPCClient<Client>(opened.link) };
}

describe('a message port to the engine', () => {
  it('carries calls and streams', async () => {
    const world = setUp();
    world.fake.stub('projects', 'list', () => [SAMPLE_PROJECT]);
    world.fake.stub('events', 'watch', countingStream().open);
    const { client } = await openClient(world);
    expect(await client.projects.list()).toEqual([SAMPLE_PROJECT]);
    for await (const event of await client.events.watch()) {
      expect(event.projectId).toBe('1');
      break;
    }
  });

  it('carries the idempotency key of a change', async () => {
    const world = setUp();
    let created = 0;
    world.fake.stub('pets', 'create', () => ({ ...SAMPLE_PET, id: `${(created += 1)}` }));
    const { opened } = await openClient(world);
    const create = (idempotencyKey: string) =>
      opened.link.call(
        ['pets', 'create'],
        { projectId: 'p', name: 'Ada', categoryId: '1' },
        {
          context: { idempotencyKey },
        },
      );
    expect(await create('a')).toEqual(await create('a'));
    await create('b');
    expect(created).toBe(2);
  });

  it('is closed when the main process closes it, and can be opened again', async () => {
    const world = setUp();
    world.fake.stub('projects', 'list', () => [SAMPLE_PROJECT]);
    const { opened } = await openClient(world);
    world.cutOff[0]?.();
    await opened.closed;
    const again = await openClient(world);
    expect(await again.client.projects.list()).toEqual([SAMPLE_PROJECT]);
  });

  it('ends running calls when it is closed from here', async () => {
    const world = setUp();
    const stream = countingStream({ pauseAfter: 1 });
    world.fake.stub('events', 'watch', stream.open);
    world.fake.stub('status', 'get', () => new Promise<never>(() => undefined));
    const { opened, client } = await openClient(world);
    const unanswered = safe(client.status.get());
    await (await client.events.watch()).next();
    opened.close();
    await opened.closed;
    expect((await unanswered).error).not.toBeNull();
    await stream.ended;
  });
});
