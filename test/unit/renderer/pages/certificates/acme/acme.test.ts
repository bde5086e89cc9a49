// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AcmeOrderInfo } from '../../../../../../main/contract/acme.ts';
import type { CaaVerdict } from '../../../../../../main/contract/certificates.ts';
import type { ZoneInfo } from '../../../../../../main/contract/zones.ts';
import { formatPlace } from '../../../../../../renderer/shared/navigation/places.ts';
import { clientTexts } from '../../../../../../renderer/pages/certificates/acme/acme-clients.ts';
import {
  attemptPlace,
  commandIn,
  fullestOf,
  recordPlace,
  titleOf,
  wordsOf,
} from '../../../../../../renderer/pages/certificates/acme/acme-order.ts';
import {
  AcmePage,
  ORDERS_STEP,
  orderQuery,
} from '../../../../../../renderer/pages/certificates/acme/acme-page.svelte.ts';
import { refuses } from '../../../../../support/fake-client.ts';
import { settle } from '../../../../../support/fake-clock.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';

const zone = (name: string) => ({ name }) as ZoneInfo;
const ZONES = [zone('acme.test'), zone('shop.acme.test')];
const verdict = (foundAt?: string) => ({ ...(foundAt !== undefined && { foundAt }) }) as CaaVerdict;

describe('a deciding record', () => {
  test.each<[string | undefined, string | undefined]>([
    ['acme.test', '/dns/acme.test?record=%40+CAA'],
    ['a.b.acme.test', '/dns/acme.test?record=a.b+CAA'],
    ['shop.acme.test', '/dns/shop.acme.test?record=%40+CAA'],
    ['example.com', undefined],
    [undefined, undefined],
  ])('found at %s is linked to %s', (foundAt, expected) => {
    const place = recordPlace(verdict(foundAt), ZONES);
    expect(place === undefined ? undefined : formatPlace(place)).toBe(expected);
  });
});

describe('the link of an attempt', () => {
  const places = { ports: [8080, 8443], projectOf: (name: string) => (name === 'shop.test' ? 'shop' : undefined) };
  const request = (hostname: string, port: number) => ({ request: { hostname, path: '/.well-known/x', port } });
  test.each([
    ['a question', { question: { name: 'a.test', type: 'TXT' } }, '/dns?ask=a.test+TXT'],
    [
      'a request to a project',
      request('shop.test', 8080),
      '/projects/shop/traffic?filter=host%3Ashop.test+path%3A%2F.well-known%2Fx',
    ],
    ['a request to the client’s own server', request('shop.test', 5002), undefined],
    ['a request to no project', request('other.test', 8080), undefined],
    ['a handshake', {}, undefined],
  ])('%s', (_what, more, expected) => {
    const found = attemptPlace({ what: '', found: '', ...more }, places);
    expect(found === undefined ? undefined : formatPlace(found.place)).toBe(expected);
  });
});

describe('the wording', () => {
  test.each([
    ['There are too many. To forget them: vivarium acme reset-limits', 'vivarium acme reset-limits'],
    ['To permit it: vivarium ca extend acme.com', 'vivarium ca extend acme.com'],
    ['x is in no local zone. Create one: vivarium zone create x', 'vivarium zone create x'],
    ['a: vivarium ca extend acme.com; b: no', 'vivarium ca extend acme.com'],
    ['The CSR is refused.', undefined],
  ])('of the command in "%s"', (detail, command) => expect(commandIn(detail)).toBe(command));

  test.each([
    ['rateLimited', 'rate limited'],
    ['rejectedIdentifier', 'rejected identifier'],
    ['badCSR', 'bad CSR'],
    ['caa', 'caa'],
  ])('of the problem %s', (type, words) => expect(wordsOf(type)).toBe(words));

  test.each([
    [['a.test'], 'a.test'],
    [['a.test', 'b.test', 'c.test'], 'a.test and 2 more'],
  ])('of the names %j', (names, title) => expect(titleOf(names)).toBe(title));
});

test('the most exhausted limits come first, in five gauges', () => {
  const used = [4, 0, 3, 2, 5, 1].map((left) => ({ of: `left ${left}`, left, fullAt: '1970-01-01T00:00:01.000Z' }));
  const gauges = fullestOf({ limit: 'x', what: 'x', count: 5, period: 'PT1H', used });
  expect(gauges.map(({ of }) => of)).toEqual(['left 0', 'left 1', 'left 2', 'left 3', 'left 4']);
  expect(gauges[0]?.gauge).toEqual({ limit: 5, used: 5, level: 'exhausted', resetsAtMs: 1_000 });
});

test('each client gets the directory, the root and the port where it answers', () => {
  const directory = 'https://localhost:8443/acme/classic/directory';
  const texts = clientTexts({ directory, root: "/a b/root's.pem", httpPort: 5002, tlsPort: 5001, hostname: 'w.test' });
  const { other, ...rest } = texts;
  expect(other).toBe(`${directory}\n/a b/root's.pem`);
  for (const text of Object.values(rest))
    for (const part of [directory, '5002', 'w.test']) expect(text).toContain(part);
  for (const name of ['certbot', 'lego', 'acme.sh'] as const) expect(texts[name]).toContain(`'/a b/root'"'"'s.pem'`);
  expect(texts.Caddy).toContain(`acme_ca_root "/a b/root's.pem"`);
});

describe('the list of orders', () => {
  const COUNT = 450;
  const ALL = { search: '', state: '' };
  const order = (number: number) => ({ id: `o${number}` }) as AcmeOrderInfo;
  function openPage() {
    const { source, asked } = pageParts({
      'acme.orders': ({ after, limit }: { after?: string; limit: number }) => {
        const from = after === undefined ? 0 : Number(after.slice(1)) + 1;
        return Array.from({ length: Math.min(limit, COUNT - from) }, (_, index) => order(from + index));
      },
      'acme.accounts': () => [],
      'acme.refusals': () => [],
      'acme.limits': () => ({ enforced: false, limits: [] }),
      'zones.list': () => [],
      'domains.list': () => [],
      'runs.list': () => [],
    });
    const page = new AcmePage(source, ALL);
    onTestFinished(() => page.close());
    return { page, inputs: () => asked('acme.orders') };
  }

  test('is read in pages, one more order than it shows, and grows on request', async () => {
    const { page, inputs } = openPage();
    await expect.poll(() => page.orders.value?.length).toBe(ORDERS_STEP + 1);
    for (let count = 0; count < 4; count += 1) {
      page.showMore();
      await settle();
    }
    await expect.poll(() => page.orders.value?.length).toBe(COUNT);
    expect(page.shown).toBe(5 * ORDERS_STEP);
    expect(inputs().slice(-3)).toEqual([
      { search: '', limit: 200 },
      { search: '', after: 'o199', limit: 200 },
      { search: '', after: 'o399', limit: 101 },
    ]);
  });

  test('can be filtered, is then read from the start, and ignores an unknown state', async () => {
    const { page, inputs } = openPage();
    await settle();
    page.showMore();
    await settle();
    page.narrow({ search: ' shop ', state: 'invalid' });
    await expect.poll(() => inputs().at(-1)).toEqual({ search: 'shop', state: 'invalid', limit: 101 });
    await settle();
    page.narrow({ ...ALL, state: 'gone' });
    page.narrow({ ...ALL, state: 'gone' });
    await settle();
    expect(inputs().slice(-2)).toMatchObject([{ state: 'invalid' }, { search: '', limit: 101 }]);
  });
});

test('an order that is no longer kept is null', async () => {
  const { source } = pageParts({ 'acme.explain': refuses('not_found', 'There is no order.') });
  const query = orderQuery(source, 'x');
  onTestFinished(() => query.close());
  await expect.poll(() => query.value).toBeNull();
});
