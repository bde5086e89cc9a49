// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import { Connecting } from '../../../../../renderer/shared/reach/connecting.svelte.ts';
import { Opener } from '../../../../../renderer/shared/reach/opener.svelte.ts';
import { Toasts } from '../../../../../renderer/shared/session/toasts.svelte.ts';
import { fakeChanges, fakeClient, type Answers } from '../../../../support/fake-client.ts';
import { createFakeClock, settle } from '../../../../support/fake-clock.ts';

const HOST = 'www.acme.test';
const URL = `https://${HOST}:8443`;

async function setUp(answers: Answers = {}) {
  const time = createFakeClock();
  const changes = fakeChanges();
  const toasts = new Toasts(time);
  const connecting = new Connecting();
  const fake = fakeClient({
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
    ...{ client: fake.client, changes, time, toasts, connecting },
    port: () => 8080,
    show: (url) => void shown.push(url),
  });
  const leave = opener.look(HOST);
  await settle();
  const asked = (procedure: string) => fake.calls.filter((call) => call.procedure === procedure).length;
  return {
    opener,
    toasts,
    connecting,
    shown,
    leave,
    asked,
    changes,
    time,
    texts: () => toasts.list.map(({ text }) => text),
  };
}

describe('an address', () => {
  it.each<[string, Answers, string | undefined]>([
    ['this system resolves and trusts', {}, `${URL}/v1`],
    ['it does not know', { 'reach.lookup': () => ({ hostname: HOST, path: '/', addresses: [] }) }, undefined],
    [
      'it resolves to another machine',
      {
        'reach.lookup': () => ({
          hostname: HOST,
          path: '/',
          addresses: ['192.0.2.1'],
          elsewhere: { message: 'There.', effect: '', fix: '' },
        }),
      },
      undefined,
    ],
    ['one of its stores does not trust', { 'ca.trustStatus': () => [{ store: 'a', state: 'untrusted' }] }, undefined],
    [
      'a client refused',
      { 'ca.trustStatus': () => [{ store: 'a', state: 'trusted', handshake: 'refused' }] },
      undefined,
    ],
    ['no store is known for', { 'ca.trustStatus': () => [] }, undefined],
  ])('that %s', async (_what, answers, plain) => {
    const { opener } = await setUp(answers);
    expect(opener.plainUrl(HOST, URL)).toBe(plain);
  });

  it('over HTTP needs no trust, and under localhost no resolver', async () => {
    const { opener } = await setUp({
      'reach.lookup': ({ hostname }: { hostname: string }) => ({ hostname, path: '/', addresses: [] }),
      'ca.trustStatus': () => [],
    });
    const leave = opener.look('demo.vivarium.localhost');
    await settle();
    const plain = () => opener.plainUrl('demo.vivarium.localhost', 'http://demo.vivarium.localhost:8080');
    expect(plain()).toBe('http://demo.vivarium.localhost:8080/');
    leave();
    expect(plain()).toBeUndefined();
  });

  it('is asked about once while parts of the page show it, and again when the machine changes', async () => {
    const { opener, leave, asked, changes, time } = await setUp();
    const leaveToo = opener.look(HOST);
    await settle();
    expect([asked('reach.lookup'), asked('ca.trustStatus')]).toEqual([1, 1]);
    leave();
    changes.tell({ type: 'machine.changed', at: '2026-11-20T09:00:00.000Z' });
    await time.pass(10_000);
    await settle();
    expect(asked('reach.lookup')).toBe(2);
    leaveToo();
    changes.tell({ type: 'machine.changed', at: '2026-11-20T09:00:01.000Z' });
    await time.pass(10_000);
    expect([asked('reach.lookup'), asked('ca.trustStatus')]).toEqual([2, 1]);
  });
});

describe('Open', () => {
  it('reports what was opened, and what it trusts', async () => {
    const { opener, asked, texts } = await setUp();
    const opening = opener.open(HOST);
    expect(opener.isOpening(HOST)).toBe(true);
    await opener.open(HOST);
    await opening;
    expect([asked('reach.open'), opener.isOpening(HOST)]).toEqual([1, false]);
    expect(texts()).toEqual([
      `Opened https://${HOST}/: the browser with a profile that trusts the root, and is deleted when it closes.`,
    ]);
  });

  it('that fails reports the engine’s reason', async () => {
    const { opener, texts } = await setUp({
      'reach.open': () => {
        throw new ORPCError('unavailable', { message: 'No Chrome, Chromium, Edge or Brave was found.' });
      },
    });
    await opener.open(HOST);
    expect(texts()).toEqual(['No browser was opened. No Chrome, Chromium, Edge or Brave was found.']);
  });
});

it('offers the other ways to a hostname where no browser can be opened', async () => {
  const { opener, toasts, connecting } = await setUp({
    'reach.open': () => {
      throw new ORPCError('unavailable', { message: 'There is no display here.' });
    },
  });
  await opener.open(HOST);
  expect(toasts.list.map(({ instead }) => instead?.label)).toEqual(['Connect…']);
  toasts.list[0]?.instead?.run();
  expect(connecting.hostname).toBe(HOST);
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
