import type { ApiKeyOwner, Redirect, Route, Snapshot } from '../model/route.ts';

/** The snapshot in the form that requests look things up in; every lookup costs the same however many routes there are. */
export interface RouteTable {
  route(hostname: string): Route | undefined;
  redirect(hostname: string): Redirect | undefined;
  apiKey(secretHash: string): ApiKeyOwner | undefined;
  /** Whether anything answers for `hostname`. */
  knows(hostname: string): boolean;
  /** The hostnames with a route in alphabetical order, at most `max`, and how many there are in all. */
  served(max: number): { hostnames: string[]; total: number };
  /** The hostnames that answer here and in `next` no more, or for another project or dataset. */
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
      // Only an error page asks, so a snapshot that nobody gets lost in is never sorted.
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
