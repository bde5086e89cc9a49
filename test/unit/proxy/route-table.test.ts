import { describe, expect, test } from 'vitest';
import { buildRouteTable } from '../../../main/proxy/route-table.ts';
import { EMPTY_SNAPSHOT, type Snapshot } from '../../../main/model/route.ts';
import { DEMO, MOVED, routeFor, SHOP, STAGING, testSnapshot } from '../../support/proxy/proxy-harness.ts';

const table = buildRouteTable(testSnapshot());
const { routes, redirects } = testSnapshot();
const without = (hostname: string) => routes.filter((route) => route.hostname !== hostname);

test('finds the hostnames with a route or a redirect, and only by their whole name', () => {
  const found = [DEMO, STAGING, SHOP, MOVED];
  const unknown = ['localhost', '127.0.0.1', '[::1]', 'x.acme.test', 'acme.test', '__proto__', ''];
  expect([...found, ...unknown].filter((name) => table.knows(name))).toEqual(found);
});

test('lists the served hostnames in alphabetical order, bounded, with the total', () => {
  expect(table.served(2)).toEqual({ hostnames: [STAGING, DEMO], total: 3 });
  expect(buildRouteTable(EMPTY_SNAPSHOT).served(2)).toEqual({ hostnames: [], total: 0 });
});

describe('what a new snapshot removes', () => {
  const shop = (...more: Parameters<typeof routeFor>) =>
    testSnapshot({ routes: [...without(SHOP), routeFor(...more)] });
  const redirected = new Map([...redirects, [SHOP, { to: DEMO, status: 308, secure: false, hsts: false }] as const]);
  test.each<[string, Snapshot, string[]]>([
    ['nothing, when it is the same', testSnapshot(), []],
    ['nothing, when a plan changes', testSnapshot({ routes: routes.map((route) => ({ ...route, plan: 'free' })) }), []],
    ['nothing, when a key is removed', testSnapshot({ apiKeys: new Map() }), []],
    ['a hostname without a route', testSnapshot({ routes: without(SHOP) }), [SHOP]],
    ['nothing, when a route becomes a redirect', testSnapshot({ routes: without(SHOP), redirects: redirected }), []],
    ['a redirect that ends', testSnapshot({ redirects: new Map() }), [MOVED]],
    ['a hostname of another project now', shop(SHOP, 'prj_demo'), [SHOP]],
    ['a hostname of the other dataset now', shop(SHOP, 'prj_shop', { environment: 'staging' }), [SHOP]],
    ['everything', EMPTY_SNAPSHOT, [DEMO, STAGING, SHOP, MOVED]],
  ])('%s', (_, next, expected) => {
    const after = buildRouteTable(next);
    expect([DEMO, STAGING, SHOP, MOVED].filter((hostname) => table.isLostIn(after, hostname))).toEqual(expected);
  });
});

describe('a wildcard', () => {
  const wild = (projectId: string) => routeFor('*.acme.test', projectId);
  const own = routeFor('own.acme.test', 'prj_shop');
  const tableOf = (...all: ReturnType<typeof wild>[]) => buildRouteTable({ ...EMPTY_SNAPSHOT, routes: all });
  const both = tableOf(wild('prj_demo'), own);

  test('covers names one label below, except those with a route of their own', () => {
    expect(both.route('www.acme.test')?.projectId).toBe('prj_demo');
    expect(both.route('own.acme.test')?.projectId).toBe('prj_shop');
    expect(['acme.test', 'a.www.acme.test', 'acme', 'xacme.test'].map(both.knows)).toEqual(Array(4).fill(false));
    expect(both.served(5)).toEqual({ hostnames: ['own.acme.test'], total: 1 });
  });

  test('is removed with what it covered, and nothing else', () => {
    const names = ['www.acme.test', 'own.acme.test', 'other.test'];
    const lost = (next: typeof both) => names.filter((hostname) => both.isLostIn(next, hostname));
    expect(lost(tableOf(own))).toEqual(['www.acme.test']);
    expect(lost(tableOf(wild('prj_other'), own))).toEqual(['www.acme.test']);
    expect(lost(tableOf(wild('prj_demo')))).toEqual(['own.acme.test']);
    expect(lost(tableOf(wild('prj_demo'), own, routeFor('www.acme.test', 'prj_shop')))).toEqual(['www.acme.test']);
  });
});
