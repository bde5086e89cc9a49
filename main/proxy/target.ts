import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { Decision, RateState } from '../model/rate-decision.ts';
import type { Authority, Scheme } from '../base/hostname.ts';
import type { Problem } from './problem.ts';
import type { Route, UpstreamDestination } from '../model/route.ts';
import type { ForwardedFrom } from './upstream/forwarding.ts';

/** A request over HTTP/1.x, or over HTTP/2 through Node's compatibility layer, which has the same members. */
export type ProxyRequest = IncomingMessage | Http2ServerRequest;
export type ProxyResponse = ServerResponse | Http2ServerResponse;

/** What the stages found out about a request that reaches its target. */
export interface TargetContext {
  route: Route;
  /** The API key of this project that came with the request; null when there was none, or not a valid one. */
  keyId: string | null;
  /** The target renders the refusal, if there is one, and the rate headers. A preflight is never refused. */
  decision: Decision;
  scheme: Scheme;
  /** Host and port as the client wrote them. */
  authority: Authority;
  /** `scheme://host[:port]` as the client wrote it, for absolute links: `https://demo.vivarium.localhost:8443`. */
  origin: string;
}

/** Where a route leads, mounted in-process. `request.url` is in origin form by now (RFC 9112 §3.2.1). */
export interface Target {
  /** Whether `request` is a CORS preflight that this target answers without a key; it is not counted. */
  isPreflight(request: ProxyRequest): boolean;
  /** Answers `request`. Whatever it throws (or rejects with) is logged and answered with 500. */
  handle(request: ProxyRequest, response: ProxyResponse, context: TargetContext): void | Promise<void>;
}

/** What the stages found out about a request that is passed on, and how its end is told. */
export interface UpstreamContext {
  response: ProxyResponse;
  destination: UpstreamDestination;
  /** The connection that the request came on. */
  from: ForwardedFrom;
  /** For the rate headers; null where the project's limits do not hold for its upstream. */
  rate: RateState | null;
  /** Tells a client that waits for it to send its body (100); null for one that sends it unasked. */
  goOn: (() => void) | null;
  /** Answers in the proxy's own words, instead of the upstream. Of an upgrade, on the bare socket, which is closed. */
  answer(problem: Problem): void;
  /** Ends the exchange in the middle of its response, so that the client sees that it is not whole. */
  cut(): void;
}

export interface UpgradeContext extends UpstreamContext {
  /** Told when the upstream has switched protocols: what follows is a tunnel to its socket. */
  opened(upstream: Socket): void;
}

/** Where routes to upstreams lead. A refused request never comes here. */
export interface UpstreamTarget {
  /** Whether `request` is a CORS preflight; it is passed on and not counted. */
  isPreflight(request: ProxyRequest): boolean;
  /** Whether this Vivarium has passed `request` on before it came here. */
  wasHere(request: ProxyRequest): boolean;
  handle(request: ProxyRequest, context: UpstreamContext): void;
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, context: UpgradeContext): void;
}
