import { describe, expect, it } from 'vitest';
import {
  buildSnapshot,
  createRouteCache,
  type PublishedDomain,
  type PublishedProject,
} from '../../../main/domains/snapshot.ts';

const project = (changes: Partial<PublishedProject> = {}): PublishedProject => ({
  id: 'p',
  name: 'P',
  slug: 'p',
  plan: 'pro',
  target: { kind: 'api' },
  redirects: [],
  limits: null,
  ...changes,
});
const domain = (hostname: string, changes: Partial<PublishedDomain> = {}): PublishedDomain => ({
  hostname,
  projectId: 'p',
  state: 'verified',
  stateBefore: null,
  verifiedAtMs: 1,
  ...changes,
});

function built(projects: PublishedProject[], domains: PublishedDomain[]) {
  const snapshot = buildSnapshot({ projects, domains, keys: [] });
  return {
    routes: snapshot.routes.map(({ hostname, environment }) => `${hostname} ${environment}`),
    redirects: [...snapshot.redirects.keys()],
    platform: snapshot.platformHostnames,
  };
}

const PLATFORM = ['p.vivarium.localhost production', 'p-staging.vivarium.localhost staging'];

describe('the snapshot', () => {
  it('contains the domains that are, or were, verified, and serves production at them', () => {
    const domains = [
      domain('verified.test'),
      domain('pending.test', { state: 'pending', verifiedAtMs: null }),
      domain('wrong.test', { state: 'misconfigured', verifiedAtMs: null }),
      domain('moved.test', { state: 'misconfigured' }),
      domain('suspended.test', { state: 'suspended', stateBefore: 'verified' }),
      domain('orphan.test', { projectId: 'gone' }),
    ];
    expect(built([project()], domains)).toEqual({
      routes: [...PLATFORM, 'verified.test production', 'moved.test production'],
      redirects: [],
      platform: ['p.vivarium.localhost', 'p-staging.vivarium.localhost'],
    });
  });

  it('redirects only from served domains of the project', () => {
    const redirects = ['verified.test', 'pending.test', 'foreign.test', 'none.test'].map((from) => ({
      from,
      to: 'x.test',
      status: 301 as const,
    }));
    const domains = [
      domain('verified.test'),
      domain('pending.test', { state: 'pending', verifiedAtMs: null }),
      domain('foreign.test', { projectId: 'q' }),
    ];
    expect(built([project({ redirects }), project({ id: 'q', slug: 'q' })], domains).redirects).toEqual([
      'verified.test',
    ]);
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
    const upstream = project({ target: { kind: 'upstream', url: 'http://127.0.0.1:3000', limited: true } });
    const { routes } = buildSnapshot({
      projects: [upstream],
      keys: [],
      domains: [domain('verified.test')],
    });
    expect(routes.map(({ hostname }) => hostname)).toEqual([
      'p.vivarium.localhost',
      'p-staging.vivarium.localhost',
      'verified.test',
    ]);
    expect(new Set(routes.map(({ target }) => JSON.stringify(target)))).toEqual(
      new Set([
        JSON.stringify({
          kind: 'upstream',
          url: 'http://127.0.0.1:3000',
          host: 'rewrite',
          limited: true,
          withoutKey: 'free',
          verifyCertificate: true,
        }),
      ]),
    );
  });
});
