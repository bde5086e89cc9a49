import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Dataset } from '../base/dataset.ts';
import type { Decision } from '../model/rate-decision.ts';

/** A request of HTTP/1.1, or of HTTP/2 through node's compatibility layer. */
export type ApiRequest = IncomingMessage | Http2ServerRequest;
export type ApiResponse = ServerResponse | Http2ServerResponse;

/** What the stages before the API found out about a request. */
export interface ApiRequestContext {
  dataset: Dataset;
  /** Whether a valid, unrevoked API key of this project came with the request. */
  authorized: boolean;
  /** The rate state for the X-RateLimit headers; with a refusal, the request is answered 429 and nothing else happens. */
  decision: Decision;
  /** Where the client reaches this dataset, with `/v1` and without a slash at the end: `http://demo.vivarium.localhost:8080/v1`. */
  baseUrl: string;
}

/** One request on its way to its answer. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly response: ApiResponse;
  readonly context: ApiRequestContext;
}

/** HTTP/2 has no Connection header and no reset of a whole connection for one request (RFC 9113 §8.2.2). */
export function isHttp2(request: ApiRequest): request is Http2ServerRequest {
  return request.httpVersionMajor >= 2;
}
