import type { Plan, PlanLimits } from '../contract/projects.ts';
import type { Environment } from '../contract/values.ts';

/** An HTTP server that requests are passed on to. */
export interface UpstreamDestination {
  kind: 'upstream';
  /** `http:` or `https:`; its path comes before that of the request. */
  url: string;
  /** The `Host` that it sees: its own, or the client's. */
  host: 'rewrite' | 'keep';
  /** Whether callers are counted and held to limits. */
  limited: boolean;
  verifyCertificate: boolean;
}

/** Where one hostname leads. */
export interface Route {
  hostname: string;
  projectId: string;
  projectName: string;
  environment: Environment;
  plan: Plan;
  limits: PlanLimits;
  target: { kind: 'api' } | UpstreamDestination;
}

/** Whether two routes lead to the same place in the same way. */
export function sameTarget(one: Route['target'], other: Route['target']): boolean {
  if (one.kind === 'api' || other.kind === 'api') return one.kind === other.kind;
  return one.url === other.url && one.host === other.host && one.verifyCertificate === other.verifyCertificate;
}

/** Where requests for one hostname are sent on to. `to` is a hostname; scheme, listener port, path and query are kept. */
export interface Redirect {
  to: string;
  status: 301 | 302 | 307 | 308;
}

export interface ApiKeyOwner {
  keyId: string;
  projectId: string;
}

/**
 * Everything that the data plane knows of the control plane, as one immutable value: whoever publishes makes a new one.
 * Hostnames are in normal form (`base/hostname.ts`). A hostname with a redirect needs no route; the redirect wins.
 */
export interface Snapshot {
  routes: readonly Route[];
  /** By hostname. */
  redirects: ReadonlyMap<string, Redirect>;
  /** By the SHA-256 of the secret, in hex. Revoked keys are absent. */
  apiKeys: ReadonlyMap<string, ApiKeyOwner>;
}

export const EMPTY_SNAPSHOT: Snapshot = { routes: [], redirects: new Map(), apiKeys: new Map() };
