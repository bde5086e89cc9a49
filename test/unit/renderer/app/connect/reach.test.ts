// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { ReachSnippets } from '../../../../../main/contract/reach.ts';
import { Reach } from '../../../../../renderer/app/connect/reach.svelte.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { noViews, pageParts } from '../../../../support/page/page-parts.ts';

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

function setUp() {
  const views = noViews();
  const parts = pageParts({
    'reach.snippets': ({ scheme = 'https' }: { scheme?: string }) => ({ ...TEXTS, url: `${scheme}://${HOST}/` }),
    'reach.browser': () => ({ browser: 'Chromium', program: '/usr/bin/chromium', opened: 0, preview: true }),
  });
  const make = () => new Reach({ ...parts.source, views, hostname: HOST });
  return { ...parts, reach: make(), make };
}

describe('the ways to a hostname', () => {
  it('begin with curl; another is chosen once for all hostnames', async () => {
    const { reach, make } = setUp();
    await settle();
    expect(reach.snippet?.text).toBe('curl');
    reach.choose('node');
    expect(reach.snippet?.text).toBe('get');
    const next = make();
    await settle();
    expect(next.snippet?.id).toBe('node');
    // Not in the answer.
    next.choose('java');
    expect(next.snippet?.id).toBe('curl');
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
    const { reach, tell, asked } = setUp();
    await settle();
    await tell('limits.changed');
    expect(asked('reach.snippets')).toHaveLength(1);
    await tell('certificates.changed');
    expect(asked('reach.snippets')).toHaveLength(2);
    reach.close();
  });
});
