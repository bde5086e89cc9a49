import { isDeepStrictEqual } from 'node:util';
import { platformHostname, providerHostname } from '../base/config.ts';
import type { Plan } from '../contract/plans.ts';
import type { PlanLimits, Project, TargetSetting } from '../contract/projects.ts';
import type { ProviderId } from '../contract/provider-table.ts';
import { environment, type Environment } from '../contract/values.ts';
import { limitsOf } from '../model/rate-decision.ts';
import { providerRoute, routeTarget } from '../model/route.ts';
import type { ActiveKey, ApiKeyOwner, Redirect, Route, Snapshot } from '../model/route.ts';
import { HTTPS_PREFIX } from './redirects.ts';
import { isServed, type HostnameState } from './hostname-machine.ts';
import type { SecureContext } from 'node:tls';
import type { ClockState } from '../base/clock.ts';
import { DAY_MS } from '../contract/duration.ts';
import { createSecureContexts } from '../base/secure-contexts.ts';
import { VivariumError } from '../contract/errors.ts';
import { wildcardOver } from '../contract/hostnames.ts';
import type { AttachedDomain } from './domain-set.ts';
import type { Leaf } from '../model/leaf.ts';
import type { CertificateIssuer } from './issue.ts';

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
interface PublishedSnapshot extends Snapshot {
  /** The names in the platform's zone that need addresses because a project is served there. */
  platformHostnames: readonly string[];
}

interface SnapshotSource {
  projects: readonly PublishedProject[];
  keys: Iterable<ActiveKey>;
  domains: Iterable<PublishedDomain>;
  /** Those whose emulated API has connections. */
  providers?: Iterable<ProviderId>;
}

type Base = Omit<Route, 'hostname'>;

/** The routes of earlier snapshots, to reuse those of thousands of unchanged domains. */
interface RouteCache {
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

/** How long before its wire expiry a leaf is replaced when the app's clock has not advanced. */
const WIRE_LEFT_MS = DAY_MS;

/** The TLS contexts of custom domains: only leaves that were issued and stored. */
export function createServedLeaves(options: {
  find: (hostname: string) => AttachedDomain | null;
  leaf: (hostname: string) => Leaf | null;
  /** Stores a leaf with new wire dates. */
  keepLeaf: (hostname: string, leaf: Leaf) => void;
  issuer: Pick<CertificateIssuer, 'issue'>;
  /** As in `createSecureContexts`. */
  chainOf?: (certificatePem: string) => readonly string[];
  clock: { state(): Pick<ClockState, 'realNow'> };
}) {
  const { find, chainOf, clock } = options;
  const contexts = createSecureContexts<Leaf>({ clock, chainOf });

  function hold(hostname: string): SecureContext | null {
    const leaf = contexts.leafOf(hostname) ?? options.leaf(hostname);
    return leaf === null ? null : contexts.contextFor(hostname, onTheWire(hostname, leaf));
  }

  /** Real time advances while the app's clock is frozen: renews the wire dates without the app's dates. */
  function onTheWire(hostname: string, leaf: Leaf): Leaf {
    const { realNow } = clock.state();
    if (realNow >= leaf.wireNotBeforeMs && realNow < leaf.wireNotAfterMs - WIRE_LEFT_MS) return leaf;
    try {
      const { notBeforeMs, notAfterMs } = leaf;
      const renewed = { ...options.issuer.issue(hostname), notBeforeMs, notAfterMs };
      options.keepLeaf(hostname, renewed);
      return renewed;
    } catch (error) {
      if (!(error instanceof VivariumError)) throw error;
      return leaf;
    }
  }

  /** A hostname's own domain takes precedence over a wildcard. */
  const servedAt = (hostname: string): AttachedDomain | undefined =>
    [hostname, wildcardOver(hostname)].map(find).find((domain) => domain !== null && isServed(domain)) ?? undefined;

  return {
    /** The TLS context for a custom domain, by SNI; null without a valid certificate. */
    contextFor(hostname: string): SecureContext | null {
      const domain = servedAt(hostname);
      return domain?.certificate.state === 'issued' ? hold(domain.hostname) : null;
    },
    /** The stored leaf of the domain whose certificate is used for `hostname`. */
    held: (hostname: string): Leaf | null => options.leaf(servedAt(hostname)?.hostname ?? hostname),
    drop: contexts.drop,
    dropAll: contexts.clear,
  };
}
