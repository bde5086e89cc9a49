// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import {
  BREAK_FOR_DEFAULT,
  type BreakEntry,
  type RunningBreak,
  DRILL_ENTRY,
} from '../../../../../main/contract/breaks.ts';
import { hostnamesOf } from '../../../../../renderer/pages/break/break-form.ts';
import {
  breakForm,
  type BreakValues,
  narrowingOf,
  placesFor,
  wholeOf,
} from '../../../../../renderer/pages/break/break-form.ts';
import { Breaks, countOf, covers, DRILL, placeOf } from '../../../../../renderer/shared/session/breaks.svelte.ts';
import { fakeClient, refuses } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';
import { makeBreak as running } from '../../../../support/page/page-world.ts';

const entry = (id: string, change: Partial<BreakEntry> = {}): BreakEntry => ({
  id,
  family: 'http',
  title: 'Empty response',
  cause: 'The process crashed.',
  symptoms: { curl: '`(52) Empty reply from server`' },
  remedy: 'Restart it.',
  selectors: ['hostname', 'path', 'method', 'header'],
  at: 'request',
  parameters: [],
  ...change,
});

describe('the list of breaks', () => {
  async function setUp(...first: RunningBreak[]) {
    let list = first;
    const parts = pageParts({
      'breaks.list': () => list,
      'breaks.start': (input: object) => running('brk_new', input),
      'breaks.stop': ({ id }: { id: string }) => {
        const stopped = list.find((one) => one.id === id);
        list = list.filter((one) => one.id !== id);
        return stopped;
      },
      'breaks.stopAll': () => list.splice(0),
    });
    const clock = { nowMs: Date.parse('2026-11-20T09:04:00.000Z') };
    const breaks = new Breaks({ ...parts.source, clock });
    await settle();
    return { ...parts, breaks, clock };
  }

  it('is sorted by end, soonest first, and is read again after changes', async () => {
    const late = running('late', { until: '2026-11-20T10:00:00.000Z' });
    const { breaks, calls, tell } = await setUp(late, running('soon'));
    expect(breaks.running.map(({ id }) => id)).toEqual(['soon', 'late']);
    await tell('traffic.changed');
    expect(calls).toHaveLength(1);
    await tell('breaks.changed');
    expect(calls).toHaveLength(2);
  });

  it('repairs one, and Undo starts the same break again for its remaining time', async () => {
    const { breaks, calls, toasts, undo } = await setUp(
      running('one', { rate: 0.5, nth: 3, first: 3, struck: 1, after: 5, seen: 4 }),
      running('other'),
    );
    await breaks.repair(toasts, ...breaks.running.slice(0, 1));
    expect(breaks.running.map(({ id }) => id)).toEqual(['other']);
    await undo();
    const { entry: id, on, seed, parameters } = running('one');
    expect(calls.at(-1)).toEqual({
      procedure: 'breaks.start',
      input: { entry: id, on, first: 2, after: 1, nth: 3, rate: 0.5, seed, parameters, for: 'PT6M' },
    });
  });

  it('repairs everything, and Undo does not restart what would have ended by now', async () => {
    const other = running('other', { until: '2026-11-20T10:00:00.000Z' });
    const { breaks, asked, clock, toasts, said, undo } = await setUp(running('one'), other);
    await breaks.repair(toasts, ...breaks.running);
    expect(breaks.running).toEqual([]);
    expect(said()).toEqual(['Repaired 2 breaks.']);
    clock.nowMs = Date.parse('2026-11-20T09:30:00.000Z');
    await undo();
    expect(asked('breaks.start')).toHaveLength(1);
  });

  it('repairs the others where one cannot be, and says both', async () => {
    const { breaks, answers, toasts, said } = await setUp(running('one'), running('other'));
    const stop = answers['breaks.stop'] as (input: { id: string }) => RunningBreak;
    answers['breaks.stop'] = (input: { id: string }) =>
      input.id === 'one' ? refuses('conflict', 'No.')() : stop(input);
    await breaks.repair(toasts, ...breaks.running);
    expect(breaks.running.map(({ id }) => id)).toEqual(['one']);
    expect(said()).toEqual(['Repaired: dns.servfail title.', '1 break is not repaired. No.']);
  });

  it('ends a drill, which Undo does not restart', async () => {
    const { breaks, asked, toasts, said, undo } = await setUp(running('one'), running('drill', { entry: DRILL }));
    await breaks.repair(toasts, ...breaks.running);
    expect(said()).toEqual(['The drill has ended.', 'Repaired: dns.servfail title.']);
    await undo();
    expect(asked('breaks.start')).toHaveLength(1);
    expect(DRILL).toBe(DRILL_ENTRY);
  });

  it('of a project are its own, and those of everything', async () => {
    const { breaks } = await setUp(
      running('all', { on: {} }),
      running('own', { projectId: 'prj_1' }),
      running('other', { projectId: 'prj_2' }),
      running('free', { on: { hostname: 'free.test' } }),
    );
    expect(breaks.of('prj_1').map(({ id }) => id)).toEqual(['all', 'own']);
  });

  it('marks the records whose answers are broken, but not those of breaks that act later', async () => {
    const { breaks } = await setUp(
      running('dns', { on: { hostname: 'shop.acme.test', type: 'AAAA' } }),
      running('http', { entry: 'http.garbage', on: { hostname: 'www.acme.test' } }),
    );
    expect(breaks.ofRecord('shop.acme.test', 'AAAA')?.id).toBe('dns');
    expect(breaks.ofRecord('shop.acme.test', 'A')).toBeUndefined();
    expect(breaks.ofRecord('www.acme.test', 'CNAME')).toBeUndefined();
  });

  it.each([
    ['shop.acme.test', 'shop.acme.test', true],
    ['shop.acme.test', 'api.shop.acme.test', false],
    ['*.acme.test', 'api.shop.acme.test', true],
    ['*.acme.test', 'acme.test', false],
    ['*.acme.test', 'badacme.test', false],
    [undefined, 'acme.test', true],
  ])('a break for %s strikes %s: %s', (hostname, asked, expected) => {
    expect(covers(hostname === undefined ? {} : { hostname }, asked)).toBe(expected);
    const on = { projectId: 'prj_1' };
    expect([covers(on, asked, 'prj_1'), covers(on, asked)]).toEqual([true, false]);
  });

  it.each([
    [{ on: {} }, 'everything', ''],
    [{ on: { hostname: 'a.test', method: 'POST', path: '/v1/*' } }, 'POST · /v1/* · a.test', ''],
    [{ on: { projectId: 'prj_1', method: 'GET' }, project: 'Demo' }, 'GET · all of Demo’s hostnames', ''],
    [{ on: { type: 'AAAA' }, rate: 0.1, seen: 40, struck: 4 }, 'AAAA', '10 % · 4 of 40 struck'],
    [{ rate: 0.125, nth: 3 }, 'shop.acme.test', '1 in 3, 12.5 % of these'],
    [{ first: 2, seen: 2, struck: 2, done: true as const }, 'shop.acme.test', '2 of 2 struck · done'],
  ])('of %j tells where and how often', (change, where, count) => {
    expect([placeOf(running('one', change)), countOf(running('one', change))]).toEqual([where, count]);
  });
});

describe('the catalogue', () => {
  it('offers the hostnames of the chosen project first, with its served domains at the top', () => {
    const projects = [
      { id: 'prj_1', slug: 'demo' },
      { id: 'prj_2', slug: 'shop' },
    ];
    const domains = [
      { hostname: 'new.acme.test', projectId: 'prj_2', serving: { http: false, https: false } },
      { hostname: 'shop.acme.test', projectId: 'prj_2', serving: { http: true, https: false } },
    ];
    expect(hostnamesOf(domains, projects, 'v.localhost', 'prj_2')).toEqual([
      'shop.acme.test',
      'new.acme.test',
      'shop.v.localhost',
      'shop-staging.v.localhost',
      'demo.v.localhost',
      'demo-staging.v.localhost',
    ]);
  });

  it.each<[Partial<BreakEntry>, string[]]>([
    [{ selectors: ['hostname', 'projectId'] }, ['project prj_1', 'a.test', '']],
    [{ selectors: ['hostname', 'type'], at: 'question' }, ['a.test', '']],
    [{ selectors: ['hostname'], at: 'state' }, ['a.test']],
  ])('offers a whole project first, then hostnames, then everything, as far as %j takes it', (change, values) => {
    const places = placesFor(entry('x', change), ['a.test'], { id: 'prj_1', name: 'Demo' });
    expect(places.map(({ value }) => value)).toEqual(values);
  });
});

describe('the form for a new break', () => {
  const { client, calls } = fakeClient({ 'breaks.start': (input: object) => running('new', input) });

  it('breaks everything of the hostname for ten minutes by default', async () => {
    const parameters = [{ name: 'delayMs', description: '', default: 3 }];
    const form = breakForm(client, entry('http.empty', { parameters }), 'a.test');
    await form.submit();
    form.values = { ...form.values, method: ' post', header: 'X-Run = 7', 'parameters.delayMs': '20' };
    await form.submit();
    const common = { entry: 'http.empty', for: BREAK_FOR_DEFAULT, after: 0, nth: 1, rate: 1 };
    const narrowed = { hostname: 'a.test', method: 'POST', header: { name: 'X-Run', value: '7' } };
    expect(calls.map(({ input }) => input)).toEqual([
      { ...common, on: { hostname: 'a.test' }, parameters: { delayMs: '3' } },
      { ...common, on: narrowed, parameters: { delayMs: '20' } },
    ]);
  });

  it('breaks all hostnames of a project', async () => {
    await breakForm(client, entry('http.empty'), wholeOf('prj_1')).submit();
    expect(calls.at(-1)?.input).toMatchObject({ on: { projectId: 'prj_1' } });
  });

  it.each<[BreakValues['often'], Partial<BreakValues>, object]>([
    ['always', { first: '2', nth: '3' }, {}],
    ['first', { first: '2', nth: '3' }, { first: 2 }],
    ['first', { first: '' }, { first: 0 }],
    ['after', { after: '5' }, { after: 5 }],
    ['nth', { nth: '3' }, { nth: 3 }],
    ['rate', { rate: '12.5' }, { rate: 0.125 }],
    ['several', { nth: '3' }, { nth: 3 }],
    ['several', { first: '2', after: '1', rate: '50' }, { first: 2, after: 1, rate: 0.5 }],
  ])('%s of %j sends only the numbers that are asked for', async (often, values, sent) => {
    const form = breakForm(client, entry('http.empty'), 'a.test');
    form.values = { ...form.values, often, ...values } as BreakValues;
    await form.submit();
    const common = { entry: 'http.empty', for: BREAK_FOR_DEFAULT, on: { hostname: 'a.test' }, parameters: {} };
    expect(calls.at(-1)?.input).toEqual({ ...common, after: 0, nth: 1, rate: 1, ...sent });
  });

  it('begins with the share of an entry that has one', () => {
    const { values } = breakForm(client, entry('ca.nonces', { rate: 0.05 }), '');
    expect(values).toMatchObject({ often: 'rate', rate: '5' });
  });

  it('narrows a single edit by nothing, and has no hostname if there is none to choose', async () => {
    const root = entry('ca.root-ends', { family: 'ca', selectors: [], at: 'state' });
    expect(narrowingOf(root)).toEqual([]);
    await breakForm(client, root, 'a.test').submit();
    expect(calls.at(-1)?.input).toMatchObject({ on: {}, rate: 1, nth: 1 });
  });
});
