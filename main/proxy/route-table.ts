import type { ApiKeyOwner, Redirect, Route, Snapshot } from '../model/route.ts';

/** The snapshot, indexed for constant-time lookups. */
export interface RouteTable {
  route(hostname: string): Route | undefined;
  redirect(hostname: string): Redirect | undefined;
  apiKey(secretHash: string): ApiKeyOwner | undefined;
  /** Whether `hostname` has a route or a redirect. */
  knows(hostname: string): boolean;
  /** Up to `max` hostnames with a route, in alphabetical order, and their total number. */
  served(max: number): { hostnames: string[]; total: number };
  /** The hostnames that `next` no longer contains, or contains for another project or dataset. */
  lostIn(next: RouteTable): Set<string>;
}

export function buildRouteTable(snapshot: Snapshot): RouteTable {
  const routes = new Map(snapshot.routes.map((route) => [route.hostname, route]));
  const { redirects, apiKeys } = snapshot;
  let sorted: string[] | null = null;

  const table: RouteTable = {
    route: (hostname) => routes.get(hostname),
    redirect: (hostname) => redirects.get(hostname),
    apiKey: (secretHash) => apiKeys.get(secretHash),
    knows: (hostname) => routes.has(hostname) || redirects.has(hostname),
    served(max) {
      // Sorted on first use: only error pages need it.
      sorted ??= [...routes.keys()].sort();
      return { hostnames: sorted.slice(0, max), total: sorted.length };
    },
    lostIn(next) {
      const lost = new Set<string>();
      for (const route of routes.values()) if (!continuesIn(next, route)) lost.add(route.hostname);
      for (const hostname of redirects.keys()) if (!next.knows(hostname)) lost.add(hostname);
      return lost;
    },
  };
  return table;
}

function continuesIn(next: RouteTable, route: Route): boolean {
  const other = next.route(route.hostname);
  if (other === undefined) return next.redirect(route.hostname) !== undefined;
  return other.projectId === route.projectId && other.environment === route.environment;
}
