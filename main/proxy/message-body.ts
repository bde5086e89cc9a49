import type { ProxyRequest } from './target.ts';

/**
 * Whether a body belongs to `request`, as its header section says (RFC 9112 §6.3, RFC 9113 §8.1). A body of no bytes that
 * is announced by chunks, or by an HTTP/2 stream that stays open, is one.
 */
export function hasBody(request: ProxyRequest): boolean {
  if ('stream' in request) return !request.stream.endAfterHeaders;
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
