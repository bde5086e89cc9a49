import type { Plan } from '../contract/plans.ts';
import { type ProviderId, simulated } from '../contract/provider-table.ts';
import type { PlanLimits, TargetSetting } from '../contract/projects.ts';
import type { Environment } from '../contract/values.ts';
import type { Authority, Scheme } from '../base/text/hostname.ts';
import type { RateState } from './rate-decision.ts';

export interface UpstreamDestination {
  kind: 'upstream';
  /** `http:` or `https:`; its path is prepended to that of the request. */
  url: string;
  /** The `Host` sent to it: its own, or the client's. */
  host: 'rewrite' | 'keep';
  /** Whether callers are counted and limited. */
  limited: boolean;
  /** The limits of callers without a valid API key: those of Free, or of the project's plan. */
  withoutKey: 'free' | 'plan';
  verifyCertificate: boolean;
}

/** The emulated API of a hosting provider; which project it is for, the token of a request says. */
export interface ProviderDestination {
  kind: 'provider';
  provider: ProviderId;
}

/** The built-in API, a provider's API, or an upstream with all optional settings filled in. */
export type RouteTarget = { kind: 'api' } | ProviderDestination | UpstreamDestination;

/** The target of one hostname. */
export interface Route {
  hostname: string;
  projectId: string;
  projectName: string;
  /** The project's part of its platform hostnames. */
  slug: string;
  environment: Environment;
  plan: Plan;
  limits: PlanLimits;
  target: RouteTarget;
}

/** The route of a host of a provider's API, which is of no project until a token names one. */
export const providerRoute = (hostname: string, provider: ProviderId): Route => ({
  hostname,
  projectId: '',
  projectName: simulated(provider),
  slug: provider,
  environment: 'production',
  plan: 'free',
  limits: { perMinute: 0, perDay: 0 },
  target: { kind: 'provider', provider },
});

/** Defaults for an upstream: its own Host, no limits, and a verified certificate. */
export const routeTarget = (target: TargetSetting): RouteTarget =>
  target.kind === 'api'
    ? target
    : {
        kind: 'upstream',
        url: target.url,
        host: target.host ?? 'rewrite',
        limited: target.limited ?? false,
        withoutKey: target.withoutKey ?? 'free',
        verifyCertificate: target.verifyCertificate ?? true,
      };

/** Whether two routes have the same destination and options. */
export function sameTarget(one: RouteTarget, other: RouteTarget): boolean {
  if (one.kind !== 'upstream' || other.kind !== 'upstream') return one.kind === other.kind;
  return one.url === other.url && one.host === other.host && one.verifyCertificate === other.verifyCertificate;
}

/** Who calls a provider's emulated API. */
export interface ProviderCaller {
  /** That of the first project of its account; null without a valid token. */
  route: Route | null;
  /** The id of its connection. */
  keyId: string | null;
  /** Whether it calls an emulated operation; only then is its body recorded. */
  isEmulated: boolean;
  /** Why it has no route; null if it has. */
  refused: 'missing_token' | 'foreign_token' | 'unknown_token' | null;
}

/** Redirects one hostname. Path and query are kept. */
export interface Redirect {
  /** A hostname; the redirected one itself only if `secure`. */
  to: string;
  status: 301 | 302 | 307 | 308;
  /** Whether it leads to HTTPS; otherwise scheme and port are kept. */
  secure: boolean;
  /** Whether answers over HTTPS have `Strict-Transport-Security` (RFC 6797). */
  hsts: boolean;
}

export interface ApiKeyOwner {
  keyId: string;
  projectId: string;
}

/** An API key that is not revoked, as stored. */
export interface ActiveKey {
  id: string;
  projectId: string;
  /** SHA-256 of the secret, in hex. */
  hash: string;
}

/**
 * The control plane's state for the data plane, as one immutable value per publish. Hostnames are in normal form
 * (`base/hostname.ts`). A redirect takes precedence over a route, and does not need one.
 */
export interface Snapshot {
  routes: readonly Route[];
  /** By hostname. */
  redirects: ReadonlyMap<string, Redirect>;
  /** By the SHA-256 of the secret, in hex. Revoked keys are absent. */
  apiKeys: ReadonlyMap<string, ApiKeyOwner>;
}

export const EMPTY_SNAPSHOT: Snapshot = { routes: [], redirects: new Map(), apiKeys: new Map() };

/** The stages' results for a request that reaches the built-in API. */
export interface TargetContext {
  route: Route;
  /** The valid API key of this project in the request, or null. */
  keyId: string | null;
  /** The values of the rate headers. */
  rate: RateState;
  /** Whether this is a CORS preflight, which is not counted and needs no API key. */
  preflight: boolean;
  scheme: Scheme;
  /** Host and port as the client wrote them. */
  authority: Authority;
  /** `scheme://host[:port]` as the client wrote it, for absolute links: `https://demo.vivarium.localhost:8443`. */
  origin: string;
}
