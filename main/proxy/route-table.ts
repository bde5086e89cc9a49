import { isWildcard, wildcardOver } from '../contract/wildcards.ts';
import type { ApiKeyOwner, Redirect, Route, Snapshot } from '../model/route.ts';

/** The snapshot, indexed for constant-time lookups. */
export interface RouteTable {
  /** The hostname's own route, else that of a matching wildcard. */
  route(hostname: string): Route | undefined;
  redirect(hostname: string): Redirect | undefined;
  apiKey(secretHash: string): ApiKeyOwner | undefined;
  /** Whether `hostname` has a route or a redirect. */
  knows(hostname: string): boolean;
  /**
   * Up to `max` hostnames with a route, except wildcards, in alphabetical order, and their total number; null in a view
   * for clients that must not see them.
   */
  served(max: number): { hostnames: string[]; total: number } | null;
  /** This table for clients that are served only some hostnames. */
  within(serves: (hostname: string) => boolean): RouteTable;
  /**
   * Whether `next` no longer contains a hostname that this table has, or contains it for another project or dataset.
   */
  isLostIn(next: RouteTable, hostname: string): boolean;
}

export function buildRouteTable(snapshot: Snapshot): RouteTable {
  const routes = new Map<string, Route>();
  for (const route of snapshot.routes) routes.set(route.hostname, route);
  const { redirects, apiKeys } = snapshot;
  let sorted: string[] | null = null;

  const table: RouteTable = {
    route: (hostname) => routes.get(hostname) ?? routes.get(wildcardOver(hostname)),
    redirect: (hostname) => redirects.get(hostname),
    apiKey: (secretHash) => apiKeys.get(secretHash),
    knows: (hostname) => table.route(hostname) !== undefined || redirects.has(hostname),
    served(max) {
      // Sorted on first use: only error pages need it.
      sorted ??= [...routes.keys()].filter((hostname) => !isWildcard(hostname)).sort();
      return { hostnames: sorted.slice(0, max), total: sorted.length };
    },
    within: (serves) => ({
      ...table,
      route: (hostname) => (serves(hostname) ? table.route(hostname) : undefined),
      redirect: (hostname) => (serves(hostname) ? redirects.get(hostname) : undefined),
      knows: (hostname) => serves(hostname) && table.knows(hostname),
      served: () => null,
    }),
    isLostIn(next, hostname) {
      const route = table.route(hostname);
      if (redirects.has(hostname) && !next.knows(hostname)) return true;
      return route !== undefined && !continuesIn(next, hostname, route);
    },
  };
  return table;
}

function continuesIn(next: RouteTable, hostname: string, route: Route): boolean {
  const other = next.route(hostname);
  if (other === undefined) return next.redirect(hostname) !== undefined;
  return other.projectId === route.projectId && other.environment === route.environment;
}
