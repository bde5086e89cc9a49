import { isWildcard, wildcardOver } from '../contract/hostnames.ts';
import type {
  ApiKeyOwner,
  ProviderCaller,
  ProviderDestination,
  Redirect,
  Route,
  Snapshot,
  UpstreamDestination,
  TargetContext,
} from '../model/route.ts';
import type { ProviderId } from '../contract/provider-table.ts';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpExchange, HttpRequest, HttpResponse } from '../base/http/message.ts';
import type { Problem } from '../model/problem.ts';
import type { Decision, RateState } from '../model/rate-decision.ts';
import type { ForwardedFrom } from './forwarded.ts';

/**
 * An in-process destination of routes. `request.url` is in origin form (RFC 9112 §3.2.1). Over HTTP/1.1, a request
 * without a body has ended already, and emits no stream events.
 */
export interface Target {
  /** Whether `request` is a CORS preflight that this target answers without a key; it is not counted. */
  isPreflight(request: HttpRequest): boolean;
  /** Answers the request. Errors that it throws or rejects with are logged and answered with 500. */
  handle(exchange: HttpExchange, context: TargetContext): void | Promise<void>;
  /** The header fields without which pages of other origins cannot read an answer. */
  corsFields(request: HttpRequest): readonly string[];
  /** Answers with a problem found by the proxy (429), in the target's own format. */
  refuse(exchange: HttpExchange, context: TargetContext, problem: Problem): void;
}

/** The emulated APIs of providers, which refuse in their own form. */
export interface ProviderTarget {
  /** Whether a text, such as a field or a URL, has the host of one of these APIs. */
  isNamedIn(text: string): boolean;
  /** Overwrites the credentials of others in a request. */
  guard(request: HttpRequest): void;
  /** Who calls, by the token. */
  identify(request: HttpRequest, destination: ProviderDestination): ProviderCaller;
  /** Counts the request; null without a valid token. */
  decide(caller: ProviderCaller, request: HttpRequest): Decision | null;
  /** Answers the request, or refuses it for lack of a token or by its decision. Never rejects. */
  handle(exchange: HttpExchange, caller: ProviderCaller, decision: Decision | null, provider: ProviderId): void;
  /** Answers with a problem found by the proxy. */
  refuse(exchange: HttpExchange, problem: Problem, provider: ProviderId): void;
}

/** The results of the stages for a forwarded request, and ways to end it. */
export interface UpstreamContext {
  response: HttpResponse;
  destination: UpstreamDestination;
  from: ForwardedFrom;
  /** For the rate headers; null if the project's limits do not apply to its upstream. */
  rate: RateState | null;
  /** Sends 100 (Continue); null if the client does not wait for it. */
  sendContinue: (() => void) | null;
  /** Sends the proxy's own answer. For an upgrade, writes it to the bare socket and closes the socket. */
  answer(problem: Problem): void;
  /** Aborts the response, which shows the client that it is incomplete. */
  cut(): void;
}

export interface UpgradeContext extends UpstreamContext {
  /** Called after the upstream has switched protocols; the connection is then a tunnel to its socket. */
  opened(upstream: Socket, answer: IncomingMessage): void;
}

/** The destination of routes to upstreams. Refused requests never reach it. */
export interface UpstreamTarget {
  /** Whether `request` is a CORS preflight; it is forwarded and not counted. */
  isPreflight(request: HttpRequest): boolean;
  /** Whether this Vivarium has already forwarded `request`. */
  hasPassedThroughHere(request: HttpRequest): boolean;
  handle(request: HttpRequest, context: UpstreamContext): void;
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, context: UpgradeContext): void;
}

/** The snapshot, indexed for constant-time lookups. */
export interface RouteTable {
  /** The hostname's own route, else that of a matching wildcard. */
  route(hostname: string): Route | undefined;
  redirect(hostname: string): Redirect | undefined;
  apiKey(secretHash: string): ApiKeyOwner | undefined;
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
