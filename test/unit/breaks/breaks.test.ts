import { expect, it, vi } from 'vitest';
import type { StateBreak } from '../../../main/breaks/state-break.ts';
import { placesOf } from '../../../main/contract/break-words.ts';
import { BREAKS_MAX } from '../../../main/contract/breaks.ts';
import { emptyAnswer } from '../../../main/dns/wire/record.ts';
import { markedAs } from '../../../main/dns/server/wrong-answers.ts';
import { nameOf } from '../../../main/model/fault.ts';
import { breaksOn, type Parts, request } from './parts.ts';

const SHOP = { hostname: 'shop.acme.test' };
const hitBy = ({ breaks }: Parts, more: Parameters<typeof request>[0] = {}) =>
  breaks.faults.request?.(request(more))?.entry ?? null;

const NONE = { request: null, delay: null, question: null, handshake: null, named: null };

it('consults no rule while nothing of its kind is broken', async () => {
  const parts = breaksOn();
  expect(parts.breaks.faults).toMatchObject(NONE);
  const { id } = await parts.start('dns.servfail', { on: SHOP });
  expect(parts.breaks.faults).toMatchObject({ request: null, handshake: null });
  const drawn = { breakId: id, entry: 'dns.servfail', parameters: {}, draw: expect.any(Number) as number };
  expect(parts.breaks.faults.question?.({ name: 'shop.acme.test', type: 'A' })).toEqual(drawn);
  await parts.breaks.stop(id);
  expect(parts.breaks.faults).toMatchObject(NONE);
});

const POST = { method: 'POST' };
const KEY = { keyId: 'key_here' };
const RUN = { header: { name: 'X-Run', value: '7' } };
const OF_SHOP = { projectId: 'prj_Shop' };
const DEMO = { hostname: 'demo.vivarium.localhost' };
it.each([
  [{}, {}, true],
  [SHOP, {}, true],
  [SHOP, DEMO, false],
  [{ hostname: '*.tenants.acme.test' }, { hostname: 'a.b.tenants.acme.test' }, true],
  [{ hostname: '*.tenants.acme.test' }, { hostname: 'tenants.acme.test' }, false],
  [OF_SHOP, {}, true],
  [OF_SHOP, DEMO, false],
  [OF_SHOP, { hostname: 'a.tenants.acme.test' }, true],
  [{ ...OF_SHOP, path: '/v1/*' }, {}, true],
  [{ ...OF_SHOP, path: '/v2' }, {}, false],
  [{ path: '/v1/pets' }, {}, true],
  [{ path: '/v1/pets' }, { path: '/v1/pets/7' }, false],
  [{ path: '/v1/*' }, { path: '/v1/pets/7' }, true],
  [{ path: '/v2*' }, {}, false],
  [POST, {}, false],
  [POST, POST, true],
  [KEY, {}, false],
  [KEY, KEY, true],
  [RUN, {}, false],
  [RUN, { headers: { 'x-run': '7' } }, true],
  [{ header: { name: 'x-run', value: '7' } }, { headers: { 'x-run': '77' } }, false],
])('a rule on %j selects a request with %j: %s', async (on, facts, selects) => {
  const parts = breaksOn();
  await parts.start('api.unavailable', { on });
  expect(hitBy(parts, facts)).toBe(selects ? 'api.unavailable' : null);
  expect(parts.breaks.list()).toMatchObject([{ seen: selects ? 1 : 0, struck: selects ? 1 : 0 }]);
});

it('for a project strikes handshakes of all its hostnames, is named with it, and ends with it', async () => {
  const { breaks, start } = breaksOn();
  await start('connection.reset-on-accept', { on: OF_SHOP });
  const struck = (hostname: string) => breaks.faults.handshake?.(hostname)?.entry !== undefined;
  expect(['shop.acme.test', 'a.tenants.acme.test', 'demo.vivarium.localhost'].map(struck)).toEqual([true, true, false]);
  expect(breaks.list().map(placesOf)).toEqual([['all of Shop’s hostnames']]);
  expect(await breaks.endOf(['shop.acme.test'])).toEqual([]);
  expect(await breaks.endOf([], 'prj_Shop')).toMatchObject([{ title: 'connection.reset-on-accept', project: 'Shop' }]);
});

it('respects the HTTP version, the environment and the scheme of an entry', async () => {
  const parts = breaksOn();
  await parts.start('http.refused-stream');
  await parts.start('api.staging-down');
  await parts.start('connection.reset-on-accept', { on: DEMO });
  expect(hitBy(parts, { http2: true })).toBe('http.refused-stream');
  expect(hitBy(parts, { environment: 'staging' })).toBe('api.staging-down');
  expect(hitBy(parts)).toBeNull();
  expect(hitBy(parts, DEMO)).toBe('connection.reset-on-accept');
  expect(hitBy(parts, { ...DEMO, scheme: 'https' })).toBeNull();
  expect(parts.breaks.faults.handshake?.(DEMO.hostname)?.entry).toBe('connection.reset-on-accept');
  expect(parts.breaks.faults.handshake?.(null)).toBeNull();
});

it('assigns a request to the oldest rule that hits it, and counts it for all rules that select it', async () => {
  const parts = breaksOn();
  await parts.start('api.unavailable', { nth: 2 });
  await parts.start('http.early-hints-flood', { on: SHOP });
  const hits = ['http.early-hints-flood', 'api.unavailable', 'http.early-hints-flood'];
  expect([hitBy(parts), hitBy(parts), hitBy(parts)]).toEqual(hits);
  expect(parts.breaks.list().map(({ seen, struck }) => [seen, struck])).toEqual([
    [3, 1],
    [3, 2],
  ]);
});

it('strikes the first N after those that it spares, then is done, and leaves the way free', async () => {
  const { breaks, start, again } = breaksOn();
  const first = await start('api.unavailable', { first: 2, after: 1 });
  await expect(start('api.unavailable', { first: 2, after: 1 })).rejects.toThrow('The same break is already running');
  for (const more of [{ first: 3, after: 1 }, { first: 2 }])
    await breaks.stop((await start('api.unavailable', more)).id);
  await start('dns.servfail', { first: 1 });
  await start('tls.expired', { first: 1 });
  await start('ca.renew-now', { first: 1 });
  const all = { ...request(), type: 'A', name: 'shop.acme.test' };
  const struck = Array.from({ length: 4 }, () => [
    breaks.faults.request?.(all)?.breakId === first.id,
    breaks.faults.question?.(all)?.entry,
    breaks.faults.handshake?.(all.hostname)?.entry,
    breaks.faults.named?.('ca.renew-now', [all.hostname])?.entry,
  ]);
  const spared = [undefined, undefined, undefined];
  expect(struck).toEqual([
    [false, 'dns.servfail', 'tls.expired', 'ca.renew-now'],
    [true, ...spared],
    [true, ...spared],
    [false, ...spared],
  ]);
  expect(breaks.faults).toMatchObject(NONE);
  const once = { seen: 1, struck: 1, done: true };
  expect(breaks.list()).toMatchObject([{ first: 2, after: 1, seen: 3, struck: 2, done: true }, once, once, once]);
  const next = await again();
  expect(next.breaks.faults).toMatchObject(NONE);
  // No twin: a done one strikes no more.
  expect(await next.start('api.unavailable', { first: 2, after: 1 })).not.toHaveProperty('done');
  expect(await next.breaks.stop(first.id)).toMatchObject({ done: true });
  await next.clock.pass(600_000);
  expect(next.breaks.list()).toEqual([]);
});

it('starts one of two equal breaks that are started at once', async () => {
  const { start } = breaksOn(edit().states);
  const [, second] = await Promise.allSettled([1, 2].map(() => start('domain.no-record', { on: SHOP })));
  expect(second).toMatchObject({ reason: { message: expect.stringMatching(/^The same break is already running/) } });
});

it('takes back a strike without effect, also the last of the first N', async () => {
  const parts = breaksOn();
  const { id } = await parts.start('api.unavailable', { first: 1 });
  expect(hitBy(parts)).toBe('api.unavailable');
  parts.breaks.faults.giveBack({ breakId: id });
  const [rule] = (await parts.again()).breaks.list();
  expect(rule).toMatchObject({ seen: 1, struck: 0 });
  expect(rule).not.toHaveProperty('done');
  expect([hitBy(parts), hitBy(parts)]).toEqual(['api.unavailable', null]);
  parts.breaks.faults.giveBack({ breakId: 'brk_gone' });
});

it('continues with the next number after a restart, however the engine ended', async () => {
  const whole = breaksOn();
  await whole.start('api.unavailable', { rate: 0.3, seed: 42 });
  const expected = Array.from({ length: 400 }, () => hitBy(whole) !== null);
  let parts = breaksOn();
  await parts.start('api.unavailable', { rate: 0.3, seed: 42 });
  const found: boolean[] = [];
  for (let part = 0; part < 4; part++) {
    for (let n = 0; n < 100; n++) found.push(hitBy(parts, { http2: n % 2 === 0 }) !== null);
    parts = await parts.again();
  }
  expect(found).toEqual(expected);
});

it('neither lists, names nor reveals what a drill has broken', async () => {
  const on = SHOP;
  const parts = breaksOn(edit().states);
  for (const id of ['api.unavailable', 'dns.servfail', 'domain.no-record'])
    await parts.start(id, { on, isHidden: true });
  const again = await parts.again();
  const { breaks, start } = again;
  expect([breaks.list(), breaks.edited(), await breaks.stopAll()]).toEqual([[], [], []]);
  const fault = breaks.faults.request?.(request()) ?? null;
  expect(fault === null ? null : nameOf(fault)).toEqual({ entry: 'drill', breakId: 'drill' });
  const asked = breaks.faults.question?.({ name: on.hostname, type: 'A' }) ?? null;
  expect(asked === null ? null : markedAs(asked, emptyAnswer('SERVFAIL', false)).detail?.text).toMatch(/: drill$/);
  for (const { id } of parts.store.breaks.list())
    await expect(breaks.stop(id)).rejects.toThrow('is running. To list running ones');
  await expect(start('domain.no-record', { on })).rejects.toThrow('A drill has broken this (text of shop');
  await start('api.unavailable', { on });
  await breaks.stopHidden();
  expect(breaks.list()).toMatchObject([{ entry: 'api.unavailable' }]);
  expect(again.store.breaks.list()).toHaveLength(1);
});

it('ends by the app’s clock: as it passes, when it is moved past the end, and when it is moved back', async () => {
  const { clock, breaks, start, again } = breaksOn();
  const started = async () => void (await start('api.unavailable', { forMs: 60_000 }));
  await started();
  await clock.pass(59_999);
  expect(breaks.list()).toHaveLength(1);
  await clock.pass(1);
  expect(breaks.list()).toEqual([]);
  await started();
  await clock.advance(86_400_000);
  expect(breaks.list()).toEqual([]);
  await started();
  await clock.set(clock.now() - 86_400_000);
  const next = await again();
  expect(next.breaks.list()).toHaveLength(1);
  await next.clock.pass(60_000);
  expect([next.breaks.list(), next.store.breaks.list()]).toEqual([[], []]);
});

it('finds a running break by its entry for the selected hostname, at its rate', async () => {
  const { breaks, start } = breaksOn();
  expect(await start('ca.bad-nonces', { rate: undefined })).toMatchObject({ rate: 0.05 });
  const { id } = await start('ca.renew-now', { on: { hostname: '*.acme.test' } });
  expect(breaks.faults.named?.('ca.renew-now', ['acme.test', 'app.acme.test'])).toMatchObject({ breakId: id });
  expect(breaks.faults.named?.('ca.renew-now', ['acme.test'])).toBeNull();
  expect(breaks.faults.named?.('ca.renew-now', [])).toBeNull();
  expect(breaks.list().map(({ seen }) => seen)).toEqual([0, 1]);
});

function edit() {
  const world = { text: 'whole' };
  const state: StateBreak = {
    prepare: ({ on }) => ({ edits: `text of ${on.hostname ?? 'all'}`, detail: world.text }),
    apply: vi.fn<StateBreak['apply']>(() => void (world.text = 'broken')),
    undo: vi.fn<StateBreak['undo']>(({ detail }) => void (world.text = String(detail))),
  };
  return { world, state, states: new Map([['domain.no-record', state]]) };
}

it.each(['stop', 'stopAll', 'expiry'] as const)('undoes an edit once: %s', async (way) => {
  const { world, state, states } = edit();
  const { clock, breaks, start } = breaksOn(states);
  const { id } = await start('domain.no-record', { on: SHOP });
  expect([world.text, breaks.edited()]).toEqual(['broken', ['domain.no-record']]);
  if (way === 'stop') await breaks.stop(id);
  else if (way === 'stopAll') await breaks.stopAll();
  else await clock.advance(600_000);
  expect(world.text).toBe('whole');
  expect(state.undo).toHaveBeenCalledTimes(1);
  expect(breaks.list()).toEqual([]);
});

it('stores what undoes an edit before it makes the edit, and undoes it after `kill -9`', async () => {
  const { world, state, states } = edit();
  const parts = breaksOn(states);
  vi.mocked(state.apply).mockImplementationOnce(() => {
    expect(parts.store.breaks.list()).toMatchObject([{ undo: { detail: 'whole' } }]);
    world.text = 'broken';
  });
  const { id } = await parts.start('domain.no-record');
  const next = await parts.again();
  expect(state.apply).toHaveBeenCalledTimes(2);
  await next.breaks.stop(id);
  expect(world.text).toBe('whole');

  await next.start('domain.no-record', { forMs: 1_000 });
  await next.clock.set(next.clock.now());
  const late = breaksOn(states, { store: next.store });
  await late.clock.advance(86_400_000);
  await late.breaks.resume();
  expect([world.text, late.breaks.list()]).toEqual(['whole', []]);
});

it('does not repeat an edit at the start after a repair in which the engine ended', async () => {
  const { world, state, states } = edit();
  const parts = breaksOn(states);
  const { id } = await parts.start('domain.no-record');
  const undone = new Promise<void>((resolve) => {
    vi.mocked(state.undo).mockImplementationOnce(() => {
      world.text = 'whole';
      resolve();
      return new Promise(() => undefined);
    });
  });
  void parts.breaks.stop(id);
  await undone;
  const next = await parts.again();
  expect(state.apply).toHaveBeenCalledTimes(1);
  expect([world.text, next.breaks.list(), next.store.breaks.list()]).toEqual(['whole', [], []]);
});

it('leaves nothing of an edit that fails, refuses a second one on the same place, and retries the undo', async () => {
  const { state, states } = edit();
  const fail = () => {
    throw new Error('no disk');
  };
  vi.mocked(state.apply).mockImplementationOnce(fail);
  vi.mocked(state.undo)
    .mockImplementationOnce(() => undefined)
    .mockImplementationOnce(fail);
  const { clock, breaks, start, store } = breaksOn(states);
  await expect(start('domain.no-record')).rejects.toThrow('no disk');
  expect([breaks.list(), store.breaks.list()]).toEqual([[], []]);
  const { id } = await start('domain.no-record');
  await expect(start('domain.no-record', { parameters: {}, forMs: 5 })).rejects.toThrow(
    'same break is already running',
  );
  await expect(breaks.stop(id)).rejects.toThrow('no disk');
  expect(breaks.list()).toHaveLength(1);
  await clock.advance(600_000);
  expect(breaks.list()).toEqual([]);
});

it('repairs an ended break again a minute after the repair failed', async () => {
  const { state, states } = edit();
  const { clock, breaks, start } = breaksOn(states);
  await start('domain.no-record', { forMs: 1_000 });
  vi.mocked(state.undo).mockRejectedValueOnce(new Error('no disk'));
  await clock.advance(1_000);
  await clock.advance(59_999);
  expect(breaks.list()).toHaveLength(1);
  await clock.advance(1);
  expect(breaks.list()).toEqual([]);
});

it('has one edit on the same place at a time', async () => {
  const { state } = edit();
  const records: StateBreak = { ...state, prepare: () => ({ edits: 'records', detail: 1 }) };
  const { start } = breaksOn(new Map([['domain.no-record', records]]));
  await start('domain.no-record', { on: SHOP });
  const refused = 'domain.no-record has already broken the same thing (records).';
  await expect(start('domain.no-record')).rejects.toThrow(refused);
});

it('runs at most a thousand breaks', async () => {
  const { breaks, start } = breaksOn();
  for (let n = 0; n < BREAKS_MAX; n++) await start('api.unavailable', { on: { path: `/v1/pets/${n}` } });
  await expect(start('api.unavailable')).rejects.toThrow('1000 breaks are already running');
  expect(breaks.faults.request?.(request({ path: '/v1/pets/999' }))?.entry).toBe('api.unavailable');
  expect(breaks.faults.request?.(request())).toBeNull();
  expect(await breaks.stopAll()).toHaveLength(BREAKS_MAX);
});
