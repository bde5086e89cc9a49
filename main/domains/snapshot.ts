import { platformHostname } from '../base/config.ts';
import type { Plan, PlanLimits, Project, TargetSetting } from '../contract/projects.ts';
import { environment, type Environment } from '../contract/values.ts';
import { isServed, type HostnameStanding } from './hostname-machine.ts';

/** What is stored of a project, as far as the data plane needs it. */
export interface PublishedProject {
  id: string;
  name: string;
  slug: string;
  plan: Plan;
  target: TargetSetting;
  redirects: Project['redirects'];
  /** Set with Enterprise only. */
  limits: PlanLimits | null;
}

/** An API key that is not revoked. */
export interface ActiveKey {
  id: string;
  projectId: string;
  /** SHA-256 of the secret, in hex. */
  hash: string;
}

/** A domain, as far as the data plane needs it. */
export type PublishedDomain = HostnameStanding & { hostname: string; projectId: string };

/** Where a route leads, with everything decided that the setting may leave open. */
export type PublishedTarget =
  | { kind: 'api' }
  | { kind: 'upstream'; url: string; host: 'rewrite' | 'keep'; limited: boolean; verifyCertificate: boolean };

export interface PublishedRoute {
  hostname: string;
  projectId: string;
  projectName: string;
  environment: Environment;
  plan: Plan;
  limits: PlanLimits;
  target: PublishedTarget;
}

/** The value that the control plane hands to the data plane; it never changes once it is made. */
export interface PublishedSnapshot {
  routes: readonly PublishedRoute[];
  redirects: ReadonlyMap<string, { to: string; status: 301 | 302 | 307 | 308 }>;
  apiKeys: ReadonlyMap<string, { keyId: string; projectId: string }>;
  /** The names of the platform's own zone that have addresses because a project is served at them. */
  platformHostnames: readonly string[];
}

export interface SnapshotSource {
  projects: readonly PublishedProject[];
  keys: Iterable<ActiveKey>;
  domains: Iterable<PublishedDomain>;
  limitsOf: (project: PublishedProject) => PlanLimits;
}

/**
 * The only translator from what is stored to what is served. Each project has its two platform hostnames; its custom
 * domains serve production, from the moment they were verified until they are removed or suspended. A redirect leads
 * away only from a domain that is served. Both platform hostnames of a project with an upstream lead there.
 */
export function buildSnapshot({ projects, keys, domains, limitsOf }: SnapshotSource): PublishedSnapshot {
  const routes: PublishedRoute[] = [];
  const platformHostnames: string[] = [];
  const production = new Map<string, Omit<PublishedRoute, 'hostname'>>();
  for (const project of projects) {
    const limits = limitsOf(project);
    for (const name of environment.options) {
      const route = routeOf(project, limits, name);
      const hostname = platformHostname(project.slug, name);
      if (name === 'production') production.set(project.id, route);
      platformHostnames.push(hostname);
      routes.push({ hostname, ...route });
    }
  }
  const servedBy = new Map<string, string>();
  for (const domain of domains) {
    const route = production.get(domain.projectId);
    if (route === undefined || !isServed(domain)) continue;
    servedBy.set(domain.hostname, domain.projectId);
    routes.push({ hostname: domain.hostname, ...route });
  }
  const redirects = new Map<string, { to: string; status: 301 | 302 | 307 | 308 }>();
  for (const project of projects) {
    for (const { from, to, status } of project.redirects) {
      if (servedBy.get(from) === project.id) redirects.set(from, { to, status });
    }
  }
  const apiKeys = new Map<string, { keyId: string; projectId: string }>();
  for (const key of keys) apiKeys.set(key.hash, { keyId: key.id, projectId: key.projectId });
  return { routes, redirects, apiKeys, platformHostnames };
}

const routeOf = (
  project: PublishedProject,
  limits: PlanLimits,
  environment: Environment,
): Omit<PublishedRoute, 'hostname'> => ({
  projectId: project.id,
  projectName: project.name,
  environment,
  plan: project.plan,
  limits,
  target: publishedTarget(project.target),
});

/** An upstream is asked for by its own name, unlimited and with a certificate to be trusted, unless the project says otherwise. */
export const publishedTarget = (target: TargetSetting): PublishedTarget =>
  target.kind === 'api'
    ? target
    : {
        kind: 'upstream',
        url: target.url,
        host: target.host ?? 'rewrite',
        limited: target.limited ?? false,
        verifyCertificate: target.verifyCertificate ?? true,
      };
