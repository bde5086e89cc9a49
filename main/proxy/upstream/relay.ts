import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import type { RateState } from '../../base/decision.ts';
import type { ProxyRequest, ProxyResponse, UpstreamContext } from '../target.ts';
import { endToEndFields } from './hop-by-hop.ts';
import { isRateField, rateFields } from './rate-fields.ts';
import { addTrailers } from './trailers.ts';

/**
 * Writes the status and header section of `incoming` as those of `response`.
 * @throws Error when Node, or the client's protocol, cannot carry them; then nothing has been sent.
 */
export function relayHead(response: ProxyResponse, incoming: IncomingMessage, rate: RateState | null): void {
  const coding = incoming.headers['transfer-encoding'];
  // What else it is coded in has been left in the body, and the client would never hear of it (RFC 9112 §6.1).
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Error('A transfer coding that is not chunked.');
  const status = incoming.statusCode ?? 502;
  let fields = endToEndFields(incoming.rawHeaders, incoming.headers.connection);
  if (rate !== null) {
    fields = withoutFields(fields, isRateField);
    fields.push(...Object.entries(rateFields(rate)).flat());
  }
  if (isHttp2(response)) {
    response.writeHead(status, toHttp2(fields));
    return;
  }
  // Node takes it for a promise of trailers, which only chunks can keep.
  if (incoming.headers.trailer !== undefined && !goesInChunks(response, incoming, status))
    fields = withoutFields(fields, (name) => name === 'trailer');
  response.writeHead(status, incoming.statusMessage, fields);
}

const goesInChunks = ({ req }: ServerResponse, { headers }: IncomingMessage, status: number): boolean =>
  req.httpVersion === '1.1' &&
  req.method !== 'HEAD' &&
  headers['content-length'] === undefined &&
  status !== 204 &&
  status !== 304;

/**
 * Passes the body of `incoming` on as it comes, and its trailers; one that breaks off cuts the client off, too. `onEnd`
 * is told when all of it has come.
 */
export function relayBody(incoming: IncomingMessage, { response, cut }: UpstreamContext, onEnd: () => void): void {
  incoming.once('end', () => {
    onEnd();
    if (incoming.rawTrailers.length > 0) addTrailers(response, incoming.rawTrailers);
  });
  // A response that only looks whole would be worse than none. (`stream.pipeline` knows that, and costs more than all else here.)
  incoming.once('close', () => {
    if (!incoming.complete) cut();
  });
  incoming.pipe(response as ServerResponse);
}

/**
 * Reads away what still comes of a request that has been answered, at most `bytesMax`, so that its client gets to read
 * the answer and can go on. An HTTP/2 client is told to keep the rest (RFC 9113 §8.1).
 */
export function readAway(request: ProxyRequest, bytesMax: number, cut: () => void): void {
  if ('stream' in request) {
    request.stream.close(constants.NGHTTP2_NO_ERROR);
    return;
  }
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) cut();
  });
  request.resume();
}

/** 102 and 103 are passed on (RFC 9110 §15.2); 100 is between us and the upstream, 101 is an upgrade. */
export function relayInterim(
  { statusCode, rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'> & { statusCode: number },
  response: ProxyResponse,
): void {
  if (response.headersSent || response.destroyed || response.req.httpVersion === '1.0') return;
  if (statusCode === 103) {
    const fields = toHttp2(endToEndFields(rawHeaders, headers.connection));
    if (fields['link'] === undefined) return;
    try {
      response.writeEarlyHints({ ...fields, link: headers['link'] ?? fields['link'] });
    } catch {
      // Hints are optional; one that Node does not take for a link is not worth an error.
    }
  } else if (statusCode === 102 && !isHttp2(response)) response.writeProcessing();
}

function withoutFields(fields: readonly string[], unwanted: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] as string;
    if (!unwanted(name.toLowerCase())) kept.push(name, fields[index + 1] as string);
  }
  return kept;
}

/** Field names of HTTP/2 are lower case, and those of one name stand together (RFC 9113 §8.2). */
function toHttp2(fields: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] as string).toLowerCase();
    const value = fields[index + 1] as string;
    const before = headers[name];
    headers[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return headers;
}

const isHttp2 = (response: ProxyResponse): response is Http2ServerResponse => 'stream' in response;
