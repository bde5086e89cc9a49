// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import type { ReachSnippets } from '../../../../../main/contract/reach.ts';
import { Reach } from '../../../../../renderer/shared/reach/reach.svelte.ts';
import { Toasts } from '../../../../../renderer/shared/session/toasts.svelte.ts';
import { fakeChanges, fakeClient, type Answers } from '../../../../support/fake-client.ts';
import { createFakeClock, settle } from '../../../../support/fake-clock.ts';

const HOST = 'www.acme.test';

const TEXTS: ReachSnippets = {
  hostname: HOST,
  url: `https://${HOST}/`,
  direct: `https://${HOST}:8443/`,
  secure: true,
  proxyUrl: 'http://127.0.0.1:8080',
  pacUrl: 'http://127.0.0.1:4780/proxy.pac',
  dohUrl: 'https://localhost:8443/dns-query',
  snippets: [
    { id: 'curl', title: 'curl', language: 'sh', text: 'curl' },
    { id: 'node', title: 'Node', language: 'js', text: 'get' },
  ],
  pac: { title: 'PAC', note: '', commands: 'set', undo: 'unset' },
};

function setUp(answers: Answers = {}) {
  const time = createFakeClock();
  const changes = fakeChanges();
  const toasts = new Toasts(time);
  const fake = fakeClient({
    'reach.snippets': ({ scheme = 'https' }: { scheme?: string }) => ({ ...TEXTS, url: `${scheme}://${HOST}/` }),
    'reach.browser': () => ({ browser: 'Chromium', program: '/usr/bin/chromium', opened: 0, preview: true }),
    'reach.lookup': () => ({ hostname: HOST, addresses: [] }),
    'reach.open': () => ({ url: TEXTS.url, browser: 'Chromium', trust: 'root' }),
    ...answers,
  });
  const reach = new Reach({ client: fake.client, changes, time, toasts, hostname: HOST });
  const asked = (procedure: string) => fake.calls.filter((call) => call.procedure === procedure).length;
  return { ...fake, reach, changes, time, asked, texts: () => toasts.list.map(({ text }) => text) };
}

describe('the ways to a hostname', () => {
  it('begin with curl; another can be chosen', async () => {
    const { reach } = setUp();
    await settle();
    expect(reach.snippet?.text).toBe('curl');
    reach.choose('node');
    expect(reach.snippet?.text).toBe('get');
    // Not in the answer.
    reach.choose('java');
    expect(reach.snippet).toBeUndefined();
  });

  it('use HTTPS if that is served, until HTTP is chosen', async () => {
    const { reach, calls } = setUp();
    await settle();
    expect(reach.scheme).toBe('https');
    reach.over('http');
    await settle();
    expect(reach.scheme).toBe('http');
    expect(calls.at(-1)?.input).toEqual({ hostname: HOST, scheme: 'http' });
  });

  it('are read again when a certificate or a zone changes, but not with every request', async () => {
    const { reach, changes, time, asked } = setUp();
    await settle();
    const tell = async (type: 'certificates.changed' | 'limits.changed') => {
      changes.tell({ type, at: '2026-11-20T09:00:00.000Z' });
      await time.pass(10_000);
      await settle();
    };
    await tell('limits.changed');
    expect(asked('reach.snippets')).toBe(1);
    await tell('certificates.changed');
    expect(asked('reach.snippets')).toBe(2);
    reach.close();
  });
});

describe('a system that resolves to another address', () => {
  it('is reported until a change of the machine has fixed it', async () => {
    const elsewhere = { message: 'There.', effect: 'Programs.', fix: 'Remove line 3.' };
    let answer: object = { hostname: HOST, addresses: ['192.0.2.1'], elsewhere };
    const { reach, changes, time } = setUp({ 'reach.lookup': () => answer });
    await settle();
    expect(reach.elsewhere).toEqual(elsewhere);
    answer = { hostname: HOST, addresses: ['127.0.0.1'] };
    changes.tell({ type: 'machine.changed', at: '2026-11-20T09:00:00.000Z' });
    await time.pass(10_000);
    await settle();
    expect(reach.elsewhere).toBeUndefined();
    reach.close();
  });
});

describe('Open in browser', () => {
  it('reports what was opened, and what it trusts', async () => {
    const { reach, texts } = setUp();
    await settle();
    await reach.opening.start();
    expect(texts()).toEqual([
      `Opened https://${HOST}/: Chromium with a profile that trusts the root, and is deleted when it closes.`,
    ]);
  });

  it('that fails keeps the engine’s reason, and looks again for a browser', async () => {
    const { reach, asked, texts } = setUp({
      'reach.open': () => {
        throw new ORPCError('unavailable', { message: 'No Chrome, Chromium, Edge or Brave was found.' });
      },
    });
    await settle();
    await reach.opening.start();
    expect(reach.opening.failure).toContain('No Chrome, Chromium, Edge or Brave was found.');
    expect(texts()).toEqual([]);
    expect(asked('reach.browser')).toBeGreaterThanOrEqual(1);
  });
});
