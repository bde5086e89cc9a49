import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** A request over HTTP/1.x, or over HTTP/2 through Node's compatibility layer, which has the same members. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** A request and its response. */
export interface HttpExchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
}

/** Checks for the stream, which only HTTP/2 has, because the HTTP/1.x parser can also report version 2.0. */
export const isHttp2 = (request: HttpRequest): request is Http2ServerRequest => 'stream' in request;

/** HTTP/2's compatibility layer has the same methods; only their overloads are not compatible. */
export const asHttp1 = (response: HttpResponse): ServerResponse => response as ServerResponse;

/**
 * Whether `request` has a body, by its header section (RFC 9112 §6.3, RFC 9113 §8.1). An empty body counts if it was
 * announced by chunked encoding or an open HTTP/2 stream.
 */
export function hasBody(request: HttpRequest): boolean {
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
