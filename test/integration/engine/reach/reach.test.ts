import { runInNewContext } from 'node:vm';
import { describe, expect } from 'vitest';
import { demoTest as it } from '../../../support/engine-test.ts';
import { curl } from '../../../support/command.ts';

const findProxy = (pac: string, host: string): unknown =>
  runInNewContext(`${pac}\nFindProxyForURL("https://x/", ${JSON.stringify(host)})`, {});

describe('the PAC file', () => {
  it('is public, with its own media type, but not for a foreign page', async ({ engine, call }) => {
    const { pacUrl, url } = await call('reach.proxy');
    expect(engine.app.runtime.proxy).toEqual({ url, pacUrl });
    const response = await fetch(pacUrl);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/x-ns-proxy-autoconfig');
    expect(findProxy(await response.text(), 'demo.vivarium.localhost')).toBe(`PROXY ${new URL(url).host}`);
    expect((await fetch(pacUrl, { headers: { origin: 'https://evil.test' } })).status).toBe(403);
  });

  it('is always up to date: routes that come and go, redirects, suspended domains', async ({ call }) => {
    const { pacUrl, url } = await call('reach.proxy');
    const mapped = async (host: string) => findProxy(await (await fetch(pacUrl)).text(), host);
    const through = `PROXY ${new URL(url).host}`;
    const { projectId } = await call('domains.get', { hostname: 'www.happypaws.test' });

    expect(await mapped('www.happypaws.test')).toBe(through);
    // Attached and never verified.
    expect(await mapped('shop.happypaws.test')).toBe('DIRECT');
    await call('projects.update', { projectId, plan: 'free' });
    expect(await mapped('www.happypaws.test')).toBe('DIRECT');
    await call('projects.update', { projectId, plan: 'pro' });
    expect(await mapped('www.happypaws.test')).toBe(through);
    await call('domains.remove', { hostname: 'www.happypaws.test' });
    expect(await mapped('www.happypaws.test')).toBe('DIRECT');
    const before = (await call('reach.proxy')).hostnames;
    await call('projects.create', { name: 'Aquarium' });
    expect(await mapped('aquarium-staging.vivarium.localhost')).toBe(through);
    expect((await call('reach.proxy')).hostnames).toBe(before + 2);
  });
});

it('the proxy connects to a domain over verified HTTPS at port 443, and to nothing else', async ({ engine, call }) => {
  const { url } = await call('reach.proxy');
  const { caFile } = engine.app.runtime;
  const through = (target: string) => curl('--noproxy', '', '--proxy', url, '--cacert', caFile, target);
  expect((await through('https://www.happypaws.test/v1/openapi.json')).stdout).toContain('"openapi":"3.1.');
  expect((await through('http://www.happypaws.test/v1/openapi.json')).stdout).toContain('"openapi":"3.1.');
  const refused = await through('https://example.com/');
  expect(refused.stdout).toMatch(/^HTTP\/1\.1 403 Forbidden/);
  await call('domains.remove', { hostname: 'www.happypaws.test' });
  expect((await through('https://www.happypaws.test/')).stdout).toMatch(/^HTTP\/1\.1 403 Forbidden/);
});
