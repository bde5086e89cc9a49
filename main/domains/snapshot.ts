import { platformHostname } from '../base/config.ts';
import type { Plan, PlanLimits, Project, TargetSetting } from '../contract/projects.ts';
import { environment, type Environment } from '../contract/values.ts';

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

export interface PublishedRoute {
  hostname: string;
  projectId: string;
  projectName: string;
  environment: Environment;
  plan: Plan;
  limits: PlanLimits;
  target: { kind: 'api' };
}

/** The value that the control plane hands to the data plane; it never changes once it is made. */
export interface PublishedSnapshot {
  routes: readonly PublishedRoute[];
  redirects: ReadonlyMap<string, { to: string; status: 301 | 302 | 307 | 308 }>;
  apiKeys: ReadonlyMap<string, { keyId: string; projectId: string }>;
}

/**
 * The only translator from what is stored to what is served. Each project has its two platform hostnames. A project
 * whose target this version cannot serve has no routes.
 */
export function buildSnapshot(
  projects: readonly PublishedProject[],
  keys: Iterable<ActiveKey>,
  limitsOf: (project: PublishedProject) => PlanLimits,
): PublishedSnapshot {
  const redirects = new Map<string, { to: string; status: 301 | 302 | 307 | 308 }>();
  for (const project of projects) {
    for (const { from, to, status } of project.redirects) redirects.set(from, { to, status });
  }
  const apiKeys = new Map<string, { keyId: string; projectId: string }>();
  for (const key of keys) apiKeys.set(key.hash, { keyId: key.id, projectId: key.projectId });
  return { routes: projects.flatMap((project) => routesOf(project, limitsOf(project))), redirects, apiKeys };
}

function routesOf(project: PublishedProject, limits: PlanLimits): PublishedRoute[] {
  if (project.target.kind !== 'api') return [];
  return environment.options.map((name) => ({
    hostname: platformHostname(project.slug, name),
    projectId: project.id,
    projectName: project.name,
    environment: name,
    plan: project.plan,
    limits,
    target: { kind: 'api' },
  }));
}
