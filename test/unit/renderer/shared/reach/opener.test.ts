// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { Connecting } from '../../../../../renderer/shared/reach/connecting.svelte.ts';
import { Opener } from '../../../../../renderer/shared/reach/opener.svelte.ts';
import { type Answers, refuses } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';

const HOST = 'www.acme.test';
const URL = `https://${HOST}:8443`;

async function setUp(answers: Answers = {}) {
  const connecting = new Connecting();
  const parts = pageParts({
    'reach.lookup': ({ hostname }: { hostname: string }) => ({ hostname, path: '/v1', addresses: ['127.0.0.1'] }),
    'reach.browser': () => ({ opened: 0, preview: false }),
    'reach.open': () => ({ url: `https://${HOST}/`, browser: 'The browser', trust: 'root' }),
    'ca.trustStatus': () => [
      { store: 'system', state: 'trusted', handshake: 'verified' },
      { store: 'nss:user', state: 'unavailable' },
    ],
    ...answers,
  });
  const shown: string[] = [];
  const opener = new Opener({
    ...{ ...parts.source, toasts: parts.toasts, connecting },
    port: () => 8080,
    show: (url) => void shown.push(url),
  });
  const leave = opener.look(HOST);
  await settle();
  return { ...parts, opener, connecting, shown, leave, asked: (procedure: string) => parts.asked(procedure).length };
}

const looked = (of: object) => ({ 'reach.lookup': () => ({ hostname: HOST, path: '/', addresses: [], ...of }) });
const stores = (...of: object[]) => ({ 'ca.trustStatus': () => of });
const elsewhere = { message: 'There.', effect: '', fix: '' };

describe('an address', () => {
  it.each<[string, Answers, string | undefined]>([
    ['this system resolves and trusts', {}, `${URL}/v1`],
    ['it does not know', looked({}), undefined],
    ['it resolves to another machine', looked({ addresses: ['192.0.2.1'], elsewhere }), undefined],
    ['one of its stores does not trust', stores({ store: 'a', state: 'untrusted' }), undefined],
    ['a client refused', stores({ store: 'a', state: 'trusted', handshake: 'refused' }), undefined],
    ['no store is known for', stores(), undefined],
  ])('that %s', async (_what, answers, plain) => {
    const { opener } = await setUp(answers);
    expect(opener.plainUrl(HOST, URL)).toBe(plain);
  });

  it('over HTTP needs no trust, and under localhost no resolver', async () => {
    const { opener } = await setUp({ ...looked({ hostname: 'demo.vivarium.localhost' }), ...stores() });
    const leave = opener.look('demo.vivarium.localhost');
    await settle();
    const plain = () => opener.plainUrl('demo.vivarium.localhost', 'http://demo.vivarium.localhost:8080');
    expect(plain()).toBe('http://demo.vivarium.localhost:8080/');
    leave();
    expect(plain()).toBeUndefined();
  });

  it('is asked about once while parts of the page show it, and again when the machine changes', async () => {
    const { opener, leave, asked, tell } = await setUp();
    const leaveToo = opener.look(HOST);
    await settle();
    expect([asked('reach.lookup'), asked('ca.trustStatus')]).toEqual([1, 1]);
    leave();
    await tell('machine.changed');
    expect(asked('reach.lookup')).toBe(2);
    leaveToo();
    await tell('machine.changed');
    expect([asked('reach.lookup'), asked('ca.trustStatus')]).toEqual([2, 1]);
  });
});

describe('Open', () => {
  it('reports what was opened, and what it trusts', async () => {
    const { opener, asked, said } = await setUp();
    const opening = opener.open(HOST);
    expect(opener.isOpening(HOST)).toBe(true);
    await opener.open(HOST);
    await opening;
    expect([asked('reach.open'), opener.isOpening(HOST)]).toEqual([1, false]);
    expect(said()).toEqual([
      `Opened https://${HOST}/: the browser with a profile that trusts the root, and is deleted when it closes.`,
    ]);
  });

  it('that fails reports the engine’s reason', async () => {
    const { opener, said } = await setUp({
      'reach.open': refuses('unavailable', 'No Chrome, Edge or Brave was found.'),
    });
    await opener.open(HOST);
    expect(said()).toEqual(['No browser was opened. No Chrome, Edge or Brave was found.']);
  });
});

it('offers the other ways to a hostname where no browser can be opened', async () => {
  const problem = refuses('unavailable', 'There is no display here.');
  const { opener, toasts, connecting } = await setUp({ 'reach.open': problem });
  await opener.open(HOST);
  expect(toasts.list.map(({ instead }) => instead?.label)).toEqual(['Connect…']);
  toasts.list[0]?.instead?.run();
  expect(connecting.hostname).toBe(HOST);
});

it('knows why nothing can open an address, unless a link can', async () => {
  const { opener } = await setUp({ ...looked({}), 'reach.browser': () => ({ problem: 'No display.' }) });
  expect(opener.problemOf(HOST, URL)).toBe('No display.');
  const leave = opener.look('demo.vivarium.localhost');
  await settle();
  expect(opener.problemOf('demo.vivarium.localhost', 'https://demo.vivarium.localhost:8443')).toBeUndefined();
  leave();
  const { opener: known } = await setUp({ 'reach.browser': () => ({ problem: 'No display.' }) });
  expect(known.problemOf(HOST, URL)).toBeUndefined();
});

it('opens a name below localhost in this browser, over HTTP, where no other can be opened', async () => {
  const { opener, toasts, shown, asked } = await setUp({ 'reach.browser': () => ({ problem: 'No display.' }) });
  const leave = opener.look('demo.vivarium.localhost');
  await settle();
  await opener.open('demo.vivarium.localhost');
  expect([shown, asked('reach.open')]).toEqual([['http://demo.vivarium.localhost:8080/v1'], 0]);
  expect(toasts.list).toMatchObject([{ tone: 'done', instead: { label: 'Connect…' } }]);
  expect(opener.overHttp(HOST)).toBeUndefined();
  leave();
});
