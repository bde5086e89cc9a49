import { createClock, type AdjustableClock } from '../../main/base/clock.ts';
import { formatDuration } from '../../main/base/duration.ts';
import { createEventBus, type EventBus } from '../../main/base/events.ts';
import { silentLog } from '../../main/base/log.ts';
import type { ClockReading } from '../../main/contract/clock.ts';
import { VivariumError } from '../../main/contract/errors.ts';
import { createRouter } from '../../main/rpc/router.ts';
import { createControlServer } from '../../main/rpc/server.ts';
import { makePets, type World } from './page-world.ts';
import { createFakeServices, type FakeServices } from './rpc-fake-services.ts';

export const PAGE_TOKEN = 'T0ken_of-the-page';

/** How long a stop waits for what is under way. */
const STOP_MS = 1_000;

/** A control server as the real one is, over a world made of values. */
export interface PageEngine {
  world: World;
  clock: AdjustableClock;
  bus: EventBus;
  fake: FakeServices;
  url: string;
  /** The link that signs in. */
  link: string;
  /** Makes this procedure fail until it is healed. */
  fail(procedure: string, message: string): void;
  /** From now on nothing is answered, until the returned function is called. */
  hush(): () => void;
  heal(): void;
  stop(): Promise<void>;
  /** Starts anew on the same port, with the same token unless another is given. */
  restart(token?: string): Promise<void>;
}

export async function startPageEngine(world: World, assetsDir: string): Promise<PageEngine> {
  const clock = createClock();
  const failing = new Map<string, string>();
  let silence: Promise<void> | null = null;
  let bus = createEventBus(clock);
  const fake = createFakeServices();

  function readClock(): ClockReading {
    const { now, realNow, offsetMs, frozen } = clock.state();
    return {
      now: new Date(now).toISOString(),
      realNow: new Date(realNow).toISOString(),
      offset: formatDuration(offsetMs),
      frozen,
    };
  }

  /** Answers unless hushed or made to fail. */
  function answer<Input, Output>(procedure: string, give: (input: Input) => Output): (input: Input) => Promise<Output> {
    return async (input) => {
      await silence;
      const message = failing.get(procedure);
      if (message !== undefined) throw new VivariumError('internal_error', message);
      return give(input);
    };
  }

  const of = <Value>(byProject: Record<string, Value>, projectId: string): Value => {
    const value = byProject[projectId];
    if (value === undefined) throw new VivariumError('not_found', `There is no project "${projectId}".`);
    return value;
  };

  fake.teach(
    'status',
    'get',
    answer('status.get', () => world.status),
  );
  fake.teach(
    'projects',
    'list',
    answer('projects.list', () => world.projects),
  );
  fake.teach(
    'keys',
    'list',
    answer('keys.list', ({ projectId }) => of(world.keys, projectId)),
  );
  fake.teach(
    'limits',
    'usage',
    answer('limits.usage', ({ projectId }) => of(world.usage, projectId)),
  );
  fake.teach(
    'deploys',
    'list',
    answer('deploys.list', ({ projectId }) => world.deploys[projectId] ?? []),
  );
  fake.teach(
    'status',
    'rates',
    answer('status.rates', () => world.rates),
  );
  fake.teach(
    'domains',
    'list',
    answer('domains.list', (input) => world.domains.filter(({ projectId }) => projectId === input?.projectId)),
  );
  fake.teach('clock', 'get', answer('clock.get', readClock));
  fake.teach('clock', 'reset', async () => {
    await clock.reset();
    bus.emit('clock.changed');
    return { ...readClock(), happened: [] };
  });
  fake.teach(
    'pets',
    'list',
    answer('pets.list', ({ projectId, environment, limit }) => {
      const pets = of(world.pets, projectId)[environment];
      return { items: pets.slice(0, limit), total: pets.length };
    }),
  );
  fake.teach(
    'pets',
    'seed',
    answer('pets.seed', ({ projectId, environment, count }) => {
      of(world.pets, projectId)[environment] = makePets(count);
      bus.emit('pets.changed', { projectId, environment });
      return { created: count, rejected: [], rejectedTotal: 0 };
    }),
  );
  fake.teach('events', 'watch', (_input, { signal }) => bus.watch(signal));

  const serve = (token: string, port: number) =>
    createControlServer({
      clock,
      log: silentLog,
      router: createRouter(fake.services, { log: silentLog }),
      token,
      port,
      assetsDir,
      version: world.status.version,
    });
  let server = serve(PAGE_TOKEN, 0);
  const { port, url } = await server.start();

  async function stop(): Promise<void> {
    bus.close();
    await server.stop(STOP_MS);
  }

  return {
    world,
    clock,
    get bus() {
      return bus;
    },
    fake,
    url,
    link: `${url}/#token=${PAGE_TOKEN}`,
    fail: (procedure, message) => void failing.set(procedure, message),
    hush() {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      silence = promise;
      return () => {
        silence = null;
        resolve(undefined);
      };
    },
    heal: () => failing.clear(),
    stop,
    async restart(token = PAGE_TOKEN) {
      bus = createEventBus(clock);
      server = serve(token, port);
      await server.start();
    },
  };
}
