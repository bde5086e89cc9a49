import { platformHostname } from '../base/config.ts';
import { originOf } from '../base/hostname.ts';
import type { PlanLimits, Project } from '../contract/projects.ts';
import type { ProjectRow } from './dependencies.ts';

/** The listeners' ports, once they are bound. */
export interface ListenerPorts {
  http: number;
  https: number;
}

/** The contract's view of a project: its row, limits and addresses. */
export function presentProject(row: ProjectRow, limits: PlanLimits, ports: ListenerPorts): Project {
  // Custom domains serve production; staging keeps the platform's hostname.
  const production = row.primary ?? platformHostname(row.slug, 'production');
  const staging = platformHostname(row.slug, 'staging');
  // The built-in API's addresses include the version; an upstream chooses its own paths.
  const path = row.target.kind === 'api' ? '/v1' : '';
  const addresses = (scheme: 'http' | 'https') => ({
    production: originOf(scheme, production, ports[scheme]) + path,
    staging: originOf(scheme, staging, ports[scheme]) + path,
  });
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    plan: row.plan,
    limits,
    target: row.target,
    baseUrl: addresses('http'),
    secureBaseUrl: addresses('https'),
    primary: row.primary,
    redirects: row.redirects,
    persona: row.persona,
    createdAt: new Date(row.createdAtMs).toISOString(),
  };
}
