import { isDeepStrictEqual } from 'node:util';
import { platformHostname, providerHostname } from '../base/config.ts';
import type { Plan } from '../contract/plans.ts';
import type { PlanLimits, Project, TargetSetting } from '../contract/projects.ts';
import type { ProviderId } from '../contract/provider-table.ts';
import { environment, type Environment } from '../contract/values.ts';
import { limitsOf } from '../model/rate-decision.ts';
import {
  type ActiveKey,
  type ApiKeyOwner,
  providerRoute,
  type Redirect,
  type Route,
  routeTarget,
  type Snapshot,
} from '../model/route.ts';
import { HTTPS_PREFIX } from './redirects.ts';
import { isServed, type HostnameState } from './hostname-machine.ts';

/** The stored fields of a project that the data plane needs. */
export interface PublishedProject {
  id: string;
  name: string;
  slug: string;
  plan: Plan;
  target: TargetSetting;
  redirects: Project['redirects'];
  /** Only with a plan whose limits are agreed. */
  limits: PlanLimits | null;
}

export type PublishedDomain = HostnameState & { hostname: string; projectId: string };

/** The immutable value that the control plane publishes to the data plane. */
export interface PublishedSnapshot extends Snapshot {
  /** The names in the platform's zone that need addresses because a project is served there. */
  platformHostnames: readonly string[];
}

export interface SnapshotSource {
  projects: readonly PublishedProject[];
  keys: Iterable<ActiveKey>;
  domains: Iterable<PublishedDomain>;
  /** Those whose emulated API has connections. */
  providers?: Iterable<ProviderId>;
}

type Base = Omit<Route, 'hostname'>;

/** The routes of earlier snapshots, to reuse those of thousands of unchanged domains. */
export interface RouteCache {
  /** By project. */
  readonly bases: Map<string, Base>;
  readonly routes: WeakMap<PublishedDomain, { base: Base; route: Route }>;
}

export const createRouteCache = (): RouteCache => ({ bases: new Map(), routes: new WeakMap() });

/**
 * Translates stored projects and domains into the served snapshot; no other code does. Each project has two platform
 * hostnames; its custom domains serve production from verification until removal or suspension. Redirects apply only to
 * served domains. With an upstream, both platform hostnames lead to it.
 */
export function buildSnapshot(
  { projects, keys, domains, providers = [] }: SnapshotSource,
  cache: RouteCache = createRouteCache(),
): PublishedSnapshot {
  const routes: Route[] = [];
  const platformHostnames: string[] = [];
  const production = new Map<string, Base>();
  for (const project of projects) {
    const limits = limitsOf(project);
    for (const name of environment.options) {
      const route = routeOf(project, limits, name);
      const hostname = platformHostname(project.slug, name);
      if (name === 'production') {
        const before = cache.bases.get(project.id);
        production.set(project.id, before !== undefined && isDeepStrictEqual(before, route) ? before : route);
      }
      platformHostnames.push(hostname);
      routes.push({ hostname, ...route });
    }
  }
  cache.bases.clear();
  for (const [projectId, base] of production) cache.bases.set(projectId, base);
  const redirected = new Set(projects.flatMap((project) => project.redirects.map(({ from }) => from)));
  const servedBy = new Map<string, string>();
  for (const domain of domains) {
    const base = production.get(domain.projectId);
    if (base === undefined || !isServed(domain)) continue;
    if (redirected.has(domain.hostname)) servedBy.set(domain.hostname, domain.projectId);
    let known = cache.routes.get(domain);
    if (known?.base !== base) {
      known = { base, route: { hostname: domain.hostname, ...base } };
      cache.routes.set(domain, known);
    }
    routes.push(known.route);
  }
  for (const provider of providers) {
    const hostname = providerHostname(provider);
    platformHostnames.push(hostname);
    routes.push(providerRoute(hostname, provider));
  }
  const redirects = new Map<string, Redirect>();
  for (const project of projects) {
    for (const { from, to, status, hsts = false } of project.redirects) {
      if (servedBy.get(from) !== project.id) continue;
      const secure = to.startsWith(HTTPS_PREFIX);
      redirects.set(from, { to: secure ? to.slice(HTTPS_PREFIX.length) : to, status, secure, hsts });
    }
  }
  const apiKeys = new Map<string, ApiKeyOwner>();
  for (const key of keys) apiKeys.set(key.hash, { keyId: key.id, projectId: key.projectId });
  return { routes, redirects, apiKeys, platformHostnames };
}

const routeOf = (project: PublishedProject, limits: PlanLimits, environment: Environment): Base => ({
  projectId: project.id,
  projectName: project.name,
  slug: project.slug,
  environment,
  plan: project.plan,
  limits,
  target: routeTarget(project.target),
});
