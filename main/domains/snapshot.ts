import { platformHostname } from '../base/config.ts';
import type { Plan, PlanLimits, Project, TargetSetting } from '../contract/projects.ts';
import { environment, type Environment } from '../contract/values.ts';
import { limitsOf } from '../model/rate-decision.ts';
import {
  type ActiveKey,
  type ApiKeyOwner,
  type Redirect,
  type Route,
  routeTarget,
  type Snapshot,
} from '../model/route.ts';
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

/** A domain, as far as the data plane needs it. */
export type PublishedDomain = HostnameStanding & { hostname: string; projectId: string };

/** The value that the control plane hands to the data plane; it never changes once it is made. */
export interface PublishedSnapshot extends Snapshot {
  /** The names of the platform's own zone that have addresses because a project is served at them. */
  platformHostnames: readonly string[];
}

export interface SnapshotSource {
  projects: readonly PublishedProject[];
  keys: Iterable<ActiveKey>;
  domains: Iterable<PublishedDomain>;
}

/**
 * The only translator from what is stored to what is served. Each project has its two platform hostnames; its custom
 * domains serve production, from the moment they were verified until they are removed or suspended. A redirect leads
 * away only from a domain that is served. Both platform hostnames of a project with an upstream lead there.
 */
export function buildSnapshot({ projects, keys, domains }: SnapshotSource): PublishedSnapshot {
  const routes: Route[] = [];
  const platformHostnames: string[] = [];
  const production = new Map<string, Omit<Route, 'hostname'>>();
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
  const redirects = new Map<string, Redirect>();
  for (const project of projects) {
    for (const { from, to, status } of project.redirects) {
      if (servedBy.get(from) === project.id) redirects.set(from, { to, status });
    }
  }
  const apiKeys = new Map<string, ApiKeyOwner>();
  for (const key of keys) apiKeys.set(key.hash, { keyId: key.id, projectId: key.projectId });
  return { routes, redirects, apiKeys, platformHostnames };
}

const routeOf = (project: PublishedProject, limits: PlanLimits, environment: Environment): Omit<Route, 'hostname'> => ({
  projectId: project.id,
  projectName: project.name,
  environment,
  plan: project.plan,
  limits,
  target: routeTarget(project.target),
});
