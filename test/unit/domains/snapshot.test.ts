import { describe, expect, it } from 'vitest';
import { buildSnapshot, createRouteCache } from '../../../main/domains/snapshot.ts';
import type { PublishedDomain, PublishedProject } from '../../../main/domains/snapshot.ts';

const project = (changes: Partial<PublishedProject> = {}): PublishedProject => ({
  ...{ id: 'p', name: 'P', slug: 'p', plan: 'pro', target: { kind: 'api' }, redirects: [], limits: null },
  ...changes,
});
const domain = (hostname: string, changes: Partial<PublishedDomain> = {}): PublishedDomain => ({
  ...{ hostname, projectId: 'p', state: 'verified', stateBefore: null, verifiedAtMs: 1 },
  ...changes,
});
const PENDING = domain('pending.test', { state: 'pending', verifiedAtMs: null });

function built(projects: PublishedProject[], domains: PublishedDomain[]) {
  const snapshot = buildSnapshot({ projects, domains, keys: [] });
  return {
    routes: snapshot.routes.map(({ hostname, environment }) => `${hostname} ${environment}`),
    redirects: [...snapshot.redirects.keys()],
    platform: snapshot.platformHostnames,
  };
}

const HOSTS = ['p.vivarium.localhost', 'p-staging.vivarium.localhost'];
const PLATFORM = [`${HOSTS[0]} production`, `${HOSTS[1]} staging`];

describe('the snapshot', () => {
  it('contains the domains that are, or were, verified, and serves production at them', () => {
    const domains = [
      domain('verified.test'),
      PENDING,
      domain('wrong.test', { state: 'misconfigured', verifiedAtMs: null }),
      domain('moved.test', { state: 'misconfigured' }),
      domain('suspended.test', { state: 'suspended', stateBefore: 'verified' }),
      domain('orphan.test', { projectId: 'gone' }),
    ];
    expect(built([project()], domains)).toEqual({
      routes: [...PLATFORM, 'verified.test production', 'moved.test production'],
      redirects: [],
      platform: HOSTS,
    });
  });

  it('redirects only from served domains of the project', () => {
    const redirects = ['verified.test', 'pending.test', 'foreign.test', 'none.test'].map(
      (from) => ({ from, to: 'x.test', status: 301 }) as const,
    );
    const domains = [domain('verified.test'), PENDING, domain('foreign.test', { projectId: 'q' })];
    const both = [project({ redirects }), project({ id: 'q', slug: 'q' })];
    expect(built(both, domains).redirects).toEqual(['verified.test']);
  });

  it('keeps the routes of unchanged domains while their project is unchanged', () => {
    const cache = createRouteCache();
    const domains = [domain('kept.test'), domain('checked.test')];
    const routesOf = (plan: PublishedProject['plan']) =>
      buildSnapshot({ projects: [project({ plan })], keys: [], domains }, cache).routes.slice(2);
    const first = routesOf('pro');
    domains[1] = domain('checked.test', { verifiedAtMs: 2 });
    const again = routesOf('pro');
    expect(again).toEqual(first);
    expect([again[0] === first[0], again[1] === first[1]]).toEqual([true, false]);
    expect(routesOf('business').map(({ plan }) => plan)).toEqual(['business', 'business']);
  });

  it('leads to the upstream of a project, with every default of the setting resolved', () => {
    const set = { kind: 'upstream', url: 'http://127.0.0.1:3000', limited: true } as const;
    const projects = [project({ target: set })];
    const { routes } = buildSnapshot({ projects, keys: [], domains: [domain('verified.test')] });
    expect(routes.map(({ hostname }) => hostname)).toEqual([...HOSTS, 'verified.test']);
    const target = { ...set, host: 'rewrite', withoutKey: 'free', verifyCertificate: true };
    for (const route of routes) expect(route.target).toEqual(target);
  });
});
