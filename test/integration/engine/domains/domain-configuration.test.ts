import { describe, expect } from 'vitest';
import { type DomainsEngine, domainsTest as it, ZONE } from '../../../support/engine-test.ts';

const WWW = `www.${ZONE}`;
const SHOP = `shop.${ZONE}`;

const CONFIGURATION = { domains: [WWW, SHOP], primary: WWW, redirects: [{ from: SHOP, to: WWW, status: 308 }] };

const bring = (engine: DomainsEngine, configuration: unknown) =>
  engine.call('domains.import', { projectId: engine.projectId, configuration });
const take = (engine: DomainsEngine) => engine.call('domains.export', { projectId: engine.projectId });

describe('the configuration of a project’s domains', () => {
  it('is exported as it was imported, and importing it again changes nothing', async ({ engine, call, projectId }) => {
    expect(await take(engine)).toEqual({ domains: [], primary: null, redirects: [] });
    expect(await bring(engine, CONFIGURATION)).toEqual(CONFIGURATION);
    expect(await take(engine)).toEqual(CONFIGURATION);
    expect(await bring(engine, CONFIGURATION)).toEqual(CONFIGURATION);
    expect(await call('projects.get', { projectId })).toMatchObject({
      primary: WWW,
      redirects: CONFIGURATION.redirects,
    });
  });

  it('has normalised hostnames, each once, and status 301 by default', async ({ engine }) => {
    const typed = { domains: ['WWW.Acme.TEST.', WWW, SHOP], redirects: [{ from: 'Shop.acme.test', to: WWW }] };
    expect(await bring(engine, typed)).toEqual({
      domains: [WWW, SHOP],
      primary: null,
      redirects: [{ from: SHOP, to: WWW, status: 301 }],
    });
  });

  it('leaves unnamed settings unchanged', async ({ engine }) => {
    await bring(engine, CONFIGURATION);
    expect(await bring(engine, { primary: null })).toEqual({ ...CONFIGURATION, primary: null });
    expect(await bring(engine, { redirects: [] })).toEqual({ ...CONFIGURATION, primary: null, redirects: [] });
    expect(await bring(engine, {})).toEqual({ ...CONFIGURATION, primary: null, redirects: [] });
  });

  it.for([
    [{ domains: [WWW, 'a_b.test'] }, 'hostname_invalid', ['domains[1]']],
    [{ domains: [WWW, 'taken.acme.test', 'shop.vivarium.localhost'] }, 'in_use', ['domains[1]', 'domains[2]']],
    [{ domains: [WWW], primary: SHOP }, 'invalid_request', ['primary']],
    [{ domains: [WWW], primary: 'a b' }, 'invalid_request', ['primary']],
    [{ domains: [WWW], redirects: [{ from: SHOP, to: WWW }] }, 'invalid_request', ['redirects[0].from']],
    [{ domains: [WWW], redirects: [{ from: WWW, to: WWW }] }, 'invalid_request', ['redirects[0].to']],
    [{ domains: [WWW], redirects: [{ from: WWW, to: SHOP, status: 300 }] }, 'invalid_request', ['redirects[0].status']],
    [{ domains: [WWW], redirect: [] }, 'invalid_request', ['redirect']],
    [{ domains: Array.from({ length: 1_001 }, (_, index) => `s${index}.acme.test`) }, 'invalid_request', ['domains']],
  ] as const)(
    'is refused with every fault if it is wrong, and changes nothing: %#',
    async ([configuration, code, paths], { engine, call }) => {
      const other = await call('projects.create', { name: 'Other', plan: 'pro' });
      await call('deploys.create', { projectId: other.id });
      await call('domains.attach', { projectId: other.id, hostname: 'taken.acme.test' });
      await expect(bring(engine, configuration)).rejects.toMatchObject({
        code,
        issues: paths.map((path) => ({ path: `configuration.${path}` })),
      });
      expect(await take(engine)).toEqual({ domains: [], primary: null, redirects: [] });
    },
  );

  it('is refused with each sentence once', async ({ call }) => {
    const { id: projectId } = await call('projects.create', { name: 'New', plan: 'pro' });
    const domains = Array.from({ length: 1_000 }, (_, index) => `s${index}.acme.test`);
    await expect(call('domains.import', { projectId, configuration: { domains } })).rejects.toThrow(
      /^configuration\.domains\[0\]: The project "New" has no successful deploy, .*`\. The same for 999 more: s1\.acme\.test, s2\.acme\.test, .*s5\.acme\.test, …\.$/,
    );
    const wrong = Array.from({ length: 9 }, (_, index) => `a_${index}.test`);
    await expect(call('domains.import', { projectId, configuration: { domains: wrong } })).rejects.toThrow(
      /domains\[4\]: [^[]* And 4 more faults\.$/,
    );
  });
});
