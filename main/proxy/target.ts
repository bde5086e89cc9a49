import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Decision } from '../base/decision.ts';
import type { Authority } from '../base/hostname.ts';
import type { Route } from './snapshot.ts';

export type Scheme = 'http' | 'https';

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
