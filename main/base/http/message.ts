import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** A request over HTTP/1.x, or over HTTP/2 through Node's compatibility layer, which has the same members. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** One request and its response. */
export interface HttpExchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
}

/** The parser of HTTP/1.x can report a version of 2.0, so this asks for the stream that only HTTP/2 has. */
export const isHttp2 = (request: HttpRequest): request is Http2ServerRequest => 'stream' in request;

/** The compatibility layer of HTTP/2 has the same methods; only their overloads do not unite. */
export const asHttp1 = (response: HttpResponse): ServerResponse => response as ServerResponse;

/**
 * Whether a body belongs to `request`, as its header section says (RFC 9112 §6.3, RFC 9113 §8.1). An empty body that is
 * announced by chunks, or by an HTTP/2 stream that stays open, is one.
 */
export function hasBody(request: HttpRequest): boolean {
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
