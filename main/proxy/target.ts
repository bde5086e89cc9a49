import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpExchange, HttpRequest, HttpResponse } from '../base/http/message.ts';
import type { Problem } from '../model/problem.ts';
import type { RateState } from '../model/rate-decision.ts';
import type { UpstreamDestination } from '../model/route.ts';
import type { TargetContext } from '../model/target-context.ts';
import type { ForwardedFrom } from './upstream/forwarded-headers.ts';

/** Where a route leads, mounted in-process. `request.url` is in origin form by now (RFC 9112 §3.2.1). */
export interface Target {
  /** Whether `request` is a CORS preflight that this target answers without a key; it is not counted. */
  isPreflight(request: HttpRequest): boolean;
  /** Answers the request. An error that it throws (or rejects with) is logged and answered with 500. */
  handle(exchange: HttpExchange, context: TargetContext): void | Promise<void>;
  /** Answers with a problem of the proxy's (429) in the target's own form. */
  refuse(exchange: HttpExchange, context: TargetContext, problem: Problem): void;
}

/** What the stages found out about a request that is passed on, and how its end is told. */
export interface UpstreamContext {
  response: HttpResponse;
  destination: UpstreamDestination;
  /** The connection that the request came on. */
  from: ForwardedFrom;
  /** For the rate headers; null where the project's limits do not hold for its upstream. */
  rate: RateState | null;
  /** Tells a client that waits for it to send its body (100); null for one that sends it unasked. */
  sendContinue: (() => void) | null;
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
  isPreflight(request: HttpRequest): boolean;
  /** Whether this Vivarium has passed `request` on before it came here. */
  hasPassedThroughHere(request: HttpRequest): boolean;
  handle(request: HttpRequest, context: UpstreamContext): void;
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, context: UpgradeContext): void;
}
