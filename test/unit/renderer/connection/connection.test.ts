// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import {
  BACKOFF_MS_MAX,
  backoffMs,
  Connection,
  type Change,
} from '../../../../renderer/connection/connection.svelte.ts';
import { BEAT_ANSWER_MS_MAX, BEAT_INTERVAL_MS, SILENCE_MS_MAX } from '../../../../renderer/connection/pulse.ts';
import { RESEND_MS_MAX } from '../../../../renderer/connection/submits.svelte.ts';
import { ConnectionLostError, OutcomeUnknownError } from '../../../../renderer/connection/transport.ts';
import { createFakeClock, settle } from '../../../support/fake-clock.ts';
import { createFakeTransport, type FakeTransport } from '../../../support/page/page-link.ts';

function setUp() {
  const time = createFakeClock();
  const transport = createFakeTransport();
  const connection = new Connection({ transport, time, pulse: async (client) => void (await client.clock.get()) });
  const changes: Change['type'][] = [];
  connection.subscribe(({ type }) => changes.push(type));
  return { time, transport, connection, changes };
}

async function open() {
  const world = setUp();
  world.connection.start();
  await settle();
  return world;
}

describe('the connection', () => {
  it('opens, follows changes, and has everything read', async () => {
    const { connection, transport, changes } = setUp();
    expect([connection.phase, connection.following]).toEqual(['connecting', false]);
    connection.start();
    await settle();
    expect([connection.phase, connection.following, connection.wasOpen]).toEqual(['open', true, true]);
    transport.tell({ type: 'pets.changed' });
    await settle();
    expect(changes).toEqual(['everything', 'pets.changed']);
  });

  it('has everything read again after it lagged', async () => {
    const { transport, changes } = await open();
    transport.tell({ type: 'lagged' });
    await settle();
    expect(changes).toEqual(['everything', 'everything']);
  });

  it('shows at once that it is lost, and recovers by itself', async () => {
    const { time, connection, transport, changes } = await open();
    transport.drop();
    await settle();
    expect([connection.phase, connection.following]).toEqual(['lost', false]);
    await time.pass(backoffMs(1));
    expect(connection.phase).toBe('open');
    expect(changes).toEqual(['everything', 'everything']);
  });

  it('keeps trying at longer and longer intervals, up to a bound', async () => {
    const { time, connection, transport } = setUp();
    transport.becomes('unreachable');
    connection.start();
    await settle();
    expect(connection.phase).toBe('lost');
    await time.pass(60_000);
    const before = transport.opened;
    await time.pass(10 * BACKOFF_MS_MAX);
    expect(transport.opened - before).toBe(10);
    transport.becomes('reachable');
    await time.pass(BACKOFF_MS_MAX);
    expect(connection.phase).toBe('open');
  });

  it('tries at once on request', async () => {
    const { time, connection, transport } = setUp();
    transport.becomes('unreachable');
    connection.start();
    await time.pass(60_000);
    transport.becomes('reachable');
    connection.retryNow();
    await settle();
    expect(connection.phase).toBe('open');
  });

  it('stops trying when the token is refused', async () => {
    const { time, connection, transport } = setUp();
    transport.becomes('refusing');
    connection.start();
    await time.pass(60_000);
    expect([connection.phase, transport.opened]).toEqual(['refused', 1]);
  });

  it('shows within two seconds that answers are missing, and that they have resumed', async () => {
    const { time, connection, transport } = await open();
    const silence = Promise.withResolvers<unknown>();
    transport.stub('clock.get', () => silence.promise);
    await time.pass(1_999);
    expect(connection.phase).toBe('silent');
    silence.resolve({});
    await settle();
    expect(connection.phase).toBe('open');
  });

  it('abandons a silent engine after a while, and reconnects', async () => {
    const { time, connection, transport } = await open();
    transport.stub('clock.get', () => new Promise(() => undefined));
    await time.pass(SILENCE_MS_MAX + 2_000);
    expect(transport.opened).toBe(2);
    connection.stop();
  });

  it('counts an error as a sign of life', async () => {
    const { time, connection, transport } = setUp();
    transport.stub('clock.get', () => Promise.reject(new Error('broken')));
    connection.start();
    await time.pass(10_000);
    expect(connection.phase).toBe('open');
  });

  it('rejects calls without a connection, and interrupted ones, with the same error', async () => {
    const { connection, transport } = setUp();
    await expect(connection.client.status.get()).rejects.toBeInstanceOf(ConnectionLostError);
    connection.start();
    await settle();
    transport.stub('status.get', () => new Promise(() => undefined));
    const broken = expect(connection.client.status.get()).rejects.toBeInstanceOf(ConnectionLostError);
    transport.drop();
    await broken;
  });

  it('repeats a change whose answer was lost: sends it again under its key when it is connected again', async () => {
    const { time, connection, transport } = await open();
    const lost = Promise.withResolvers<unknown>();
    transport.stub('projects.create', () => lost.promise);
    const created = connection.client.projects.create({ name: 'Shop' });
    transport.drop();
    await settle();
    expect([connection.phase, connection.unanswered]).toEqual(['lost', 1]);
    transport.stub('projects.create', () => ({ id: 'prj_1' }));
    await time.pass(backoffMs(1));
    expect(await created).toEqual({ id: 'prj_1' });
    const keys = transport.calls.filter(({ procedure }) => procedure === 'projects.create').map(({ key }) => key);
    expect([keys.length, new Set(keys).size, keys.includes(undefined)]).toEqual([2, 1, false]);
    await connection.client.projects.create({ name: 'Shop' });
    expect(transport.calls.at(-1)?.key).not.toBe(keys[0]);
    expect(connection.unanswered).toBe(0);
  });

  it.each([
    ['another process of the engine answers', (transport: FakeTransport) => transport.restart()],
    ['the engine refuses the token', (transport: FakeTransport) => transport.becomes('refusing')],
    ['no connection comes within minutes', (transport: FakeTransport) => transport.becomes('unreachable')],
  ])('reports that the outcome of a change is unknown, and sends nothing again, when %s', async (_what, happens) => {
    const { time, connection, transport } = await open();
    transport.stub('projects.create', () => new Promise(() => undefined));
    const created = expect(connection.client.projects.create({ name: 'Shop' })).rejects;
    happens(transport);
    transport.drop();
    const said = created.toBeInstanceOf(OutcomeUnknownError);
    await time.pass(RESEND_MS_MAX);
    await said;
    expect(transport.asked('projects.create')).toBe(1);
    connection.stop();
  });

  it('waits for the outcomes of running changes, but not for ever', async () => {
    const { time, connection, transport } = await open();
    const answer = Promise.withResolvers<unknown>();
    transport.stub('projects.create', () => answer.promise);
    const happened: string[] = [];
    void connection.client.projects.create({ name: 'Shop' }).then(() => happened.push('created'));
    void connection.answered(5_000).then(() => happened.push('answered'));
    void connection.answered(1_000).then(() => happened.push('waited'));
    await time.pass(1_000);
    expect(happened).toEqual(['waited']);
    answer.resolve({ id: 'prj_1' });
    await settle();
    await time.pass(0);
    expect(happened).toEqual(['waited', 'created', 'answered']);
    void connection.answered(1_000).then(() => happened.push('at once'));
    await settle();
    await time.pass(0);
    expect(happened.at(-1)).toBe('at once');
  });

  it('does not send later what could not be sent at once', async () => {
    const { time, connection, transport } = setUp();
    const refused = connection.client.projects.create({ name: 'Shop' }).catch((error: unknown) => error);
    connection.start();
    await time.pass(1_000);
    expect(await refused).not.toBeInstanceOf(OutcomeUnknownError);
    expect(await refused).toBeInstanceOf(ConnectionLostError);
    expect(transport.asked('projects.create')).toBe(0);
  });

  it('does nothing once stopped', async () => {
    const { time, connection, transport, changes } = await open();
    connection.stop();
    await time.pass(60_000);
    expect([connection.phase, transport.opened, changes.length]).toEqual(['stopped', 1, 1]);
  });
});

it.each([
  [0, 250],
  [1, 250],
  [2, 500],
  [4, 2_000],
  [5, BACKOFF_MS_MAX],
  [7, BACKOFF_MS_MAX],
  [1_000, BACKOFF_MS_MAX],
])('the wait before another attempt after %d failures is %d ms', (attempt, ms) => {
  expect(backoffMs(attempt)).toBe(ms);
});

it('the pulse shows silence within two seconds, with time to spare for drawing', () => {
  expect(BEAT_INTERVAL_MS + BEAT_ANSWER_MS_MAX).toBeLessThanOrEqual(1_800);
});
