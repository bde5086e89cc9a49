import { describe, expect, test } from 'vitest';
import { buildRouteTable } from '../../../main/proxy/route-table.ts';
import { EMPTY_SNAPSHOT } from '../../../main/model/route.ts';
import { DEMO, MOVED, routeFor, SHOP, STAGING, testSnapshot } from '../../support/proxy-harness.ts';

const table = buildRouteTable(testSnapshot());
const { routes, redirects } = testSnapshot();
const without = (hostname: string) => routes.filter((route) => route.hostname !== hostname);

test('knows the hostnames with a route or a redirect, and only by their whole name', () => {
  expect([DEMO, STAGING, SHOP, MOVED].map((name) => table.knows(name))).toEqual([true, true, true, true]);
  expect(['localhost', '127.0.0.1', '[::1]', 'x.acme.test', 'acme.test', '__proto__', ''].map(table.knows)).toEqual(
    Array(7).fill(false),
  );
});

test('lists what is served in alphabetical order, bounded, with the total', () => {
  expect(table.served(2)).toEqual({ hostnames: [STAGING, DEMO], total: 3 });
  expect(buildRouteTable(EMPTY_SNAPSHOT).served(2)).toEqual({ hostnames: [], total: 0 });
});

describe('what a new snapshot takes away', () => {
  test.each([
    ['nothing, when it is the same', testSnapshot(), []],
    ['nothing, when a plan changes', testSnapshot({ routes: routes.map((route) => ({ ...route, plan: 'free' })) }), []],
    ['nothing, when a key goes', testSnapshot({ apiKeys: new Map() }), []],
    ['a hostname without a route', testSnapshot({ routes: without(SHOP) }), [SHOP]],
    [
      'nothing, when a route becomes a redirect',
      testSnapshot({ routes: without(SHOP), redirects: new Map([...redirects, [SHOP, { to: DEMO, status: 308 }]]) }),
      [],
    ],
    ['a redirect that ends', testSnapshot({ redirects: new Map() }), [MOVED]],
    [
      'a hostname of another project now',
      testSnapshot({ routes: [...without(SHOP), routeFor(SHOP, 'prj_demo')] }),
      [SHOP],
    ],
    [
      'a hostname of the other dataset now',
      testSnapshot({ routes: [...without(SHOP), routeFor(SHOP, 'prj_shop', { environment: 'staging' })] }),
      [SHOP],
    ],
    ['everything', EMPTY_SNAPSHOT, [DEMO, STAGING, SHOP, MOVED]],
  ] as const)('%s', (_, next, expected) => {
    expect([...table.lostIn(buildRouteTable(next))]).toEqual(expected);
  });
});
