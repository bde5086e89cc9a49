import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import {
  cutOff,
  drain,
  withoutFields,
  isHttp2 as isHttp2Request,
  pairsOf,
  type HttpRequest,
  type HttpResponse,
  endToEndFields,
  isHopByHop,
} from '../../base/http/message.ts';
import { RATE_FIELDS, rateFields } from '../../model/problem.ts';
import type { RateState } from '../../model/rate-decision.ts';

type Headers = Record<string, string | string[] | undefined>;

/** The status line and header section of an upstream's response. */
export interface ResponseHead {
  status: number;
  /** Empty over HTTP/2. */
  reason: string;
  /** By lower-case name. */
  headers: Headers;
  /** Name, value, …: as they were sent. */
  fields: readonly string[];
}

/** Fields as a flat list of text (name, value, …). Undici has bytes for HTTP/1.1, and an object for HTTP/2. */
export function flatFields(raw: readonly (Buffer | string)[] | Headers | null | undefined): string[] {
  if (raw === null || raw === undefined) return [];
  if (!isList(raw))
    return Object.entries(raw).flatMap(([name, value]) => [value ?? []].flat().flatMap((each) => [name, each]));
  const fields = new Array<string>(raw.length);
  // Iterating over the entries would allocate a pair for each.
  for (let index = 0; index < raw.length; index++) fields[index] = (raw[index] as Buffer | string).toString('latin1');
  return fields;
}

const isList = (raw: readonly (Buffer | string)[] | Headers): raw is readonly Buffer[] => Array.isArray(raw);

/** The value of a field that may occur several times (RFC 9110 §5.3). */
const joined = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;

/** What Node accepts as a reason phrase; undici decodes it as UTF-8. */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Writes the status and header section of an upstream's response to `response`. If it is all of it
 * (`isOver`), it ends a response over HTTP/2.
 * @throws Error if Node or the client's protocol cannot represent them; nothing has been sent then.
 */
export function relayHead(response: HttpResponse, head: ResponseHead, rate: RateState | null, isOver: boolean): void {
  const { status, headers } = head;
  const coding = joined(headers['transfer-encoding']);
  // Other transfer codings remain applied to the body, and the client would not know (RFC 9112 §6.1).
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Error(`its Transfer-Encoding is ${coding}, but only chunked is supported`);
  // HTTP versions treat other status codes differently, and none as the sender intended (RFC 9110 §15).
  if (status < 100 || status > 599) throw new Error(`its status is ${status}, outside 100 to 599`);
  let fields = endToEndFields(head.fields, joined(headers['connection']), rate === null ? undefined : RATE_FIELDS);
  // A 204 with Content-Length is invalid (RFC 9110 §8.6), and HTTP/2 would drop the whole response.
  if (status === 204) fields = withoutFields(fields, (name) => name === 'content-length');
  if (rate !== null) fields.push(...rateFields(rate));
  if (isHttp2(response)) {
    if (isOver) endWithHead(response, status, fields);
    else response.writeHead(status, toHttp2(fields));
    return;
  }
  // For Node, Trailer promises trailers, which require chunked encoding.
  if (headers['trailer'] !== undefined && !goesInChunks(response, head))
    fields = withoutFields(fields, (name) => name === 'trailer');
  if (head.reason === '' || !REASON.test(head.reason)) response.writeHead(status, fields);
  else response.writeHead(status, head.reason, fields);
}

/** Sends a header section that ends its stream, as of a failed gRPC call; Node's `writeHead` leaves the stream open. */
export function endWithHead(response: Http2ServerResponse, status: number, fields: readonly string[]): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(toHttp2(fields))) response.setHeader(name, value);
  response.end();
}

const goesInChunks = ({ req }: ServerResponse, { headers, status }: ResponseHead): boolean =>
  req.httpVersion === '1.1' &&
  req.method !== 'HEAD' &&
  headers['content-length'] === undefined &&
  status !== 204 &&
  status !== 304;

/** A response whose header section waits for the first chunk of the body. */
interface Deferred {
  readonly isHeadPending: boolean;
  readonly context: { readonly response: HttpResponse };
}

let deferred: Deferred[] = [];

/**
 * Node delays the head until the body starts, which can take minutes for an event stream. This flushes it at the end of
 * the turn, together with any body data received so far.
 */
export function flushSoon(forwarding: Deferred): void {
  if (deferred.push(forwarding) === 1) setImmediate(sendHeads);
}

function sendHeads(): void {
  const forwardings = deferred;
  deferred = [];
  for (const { isHeadPending, context } of forwardings) {
    const { response } = context;
    if (isHeadPending && !response.destroyed && !isHttp2(response)) response.flushHeaders();
  }
}

/**
 * Drains up to `bytesMax` of an answered request, which lets the client read the answer and reuse the connection. An
 * HTTP/2 client is asked to stop sending instead (RFC 9113 §8.1).
 */
export function drainRest(request: HttpRequest, bytesMax: number, cut: () => void): void {
  if (isHttp2Request(request)) return cutOff(request);
  drain(request, { bytesMax, timer: null }, (end) => {
    if (end === 'bound') cut();
  });
}

/** Forwards 102 and 103 (RFC 9110 §15.2); 100 is only for the upstream connection, 101 is an upgrade. */
export function relayInterim({ status, fields, headers }: ResponseHead, response: HttpResponse): void {
  if (response.headersSent || response.destroyed) return;
  if (!isHttp2(response) && response.req.httpVersion === '1.0') return;
  if (status === 103) {
    const hints = toHttp2(endToEndFields(fields, joined(headers['connection'])));
    if (hints['link'] === undefined) return;
    try {
      response.writeEarlyHints({ ...hints, link: headers['link'] ?? hints['link'] });
    } catch {
      // Hints are optional, so those that Node rejects are dropped.
    }
  } else if (status === 102 && !isHttp2(response)) response.writeProcessing();
}

/** HTTP/2 requires lower-case field names, and Node groups values by name (RFC 9113 §8.2). */
export function toHttp2(fields: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] as string).toLowerCase();
    const value = fields[index + 1] as string;
    const before = headers[name];
    headers[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return headers;
}

const isHttp2 = (response: HttpResponse): response is Http2ServerResponse => 'stream' in response;

/**
 * Fields that must be known before the body, or that affect framing and routing, are not allowed as trailers (RFC 9110
 * §6.5.1): merging them into the header section would be a security risk.
 */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'authorization',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'max-forwards',
  'set-cookie',
  'trailer',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
]);

const NONE: ReadonlySet<string> = new Set();

/** Adds the permitted fields of `rawTrailers` (name, value, …) as trailers of `message`. */
export function addTrailers(
  message: { addTrailers(trailers: Record<string, string>): void },
  rawTrailers: readonly string[],
): void {
  const trailers: Record<string, string> = {};
  for (const [field, value] of pairsOf(rawTrailers)) {
    const name = field.toLowerCase();
    if (FORBIDDEN.has(name) || isHopByHop(name, NONE)) continue;
    trailers[name] = name in trailers ? `${trailers[name]}, ${value}` : value;
  }
  message.addTrailers(trailers);
}
