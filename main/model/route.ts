import type { Plan, PlanLimits, TargetSetting } from '../contract/projects.ts';
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

/** The built-in API, or an upstream with everything decided that the project's setting may leave open. */
export type RouteTarget = { kind: 'api' } | UpstreamDestination;

/** Where one hostname leads. */
export interface Route {
  hostname: string;
  projectId: string;
  projectName: string;
  environment: Environment;
  plan: Plan;
  limits: PlanLimits;
  target: RouteTarget;
}

/** An upstream is asked by its own name, unlimited, with a certificate that is checked, unless the project's setting says otherwise. */
export const routeTarget = (target: TargetSetting): RouteTarget =>
  target.kind === 'api'
    ? target
    : {
        kind: 'upstream',
        url: target.url,
        host: target.host ?? 'rewrite',
        limited: target.limited ?? false,
        verifyCertificate: target.verifyCertificate ?? true,
      };

/** Whether two routes lead to the same place in the same way. */
export function sameTarget(one: RouteTarget, other: RouteTarget): boolean {
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

/** An API key that is not revoked, as it is stored. */
export interface ActiveKey {
  id: string;
  projectId: string;
  /** SHA-256 of the secret, in hex. */
  hash: string;
}

/**
 * Everything that the data plane knows of the control plane, as one immutable value: each publish makes a new one.
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
