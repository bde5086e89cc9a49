import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { cutOff, drain } from '../../base/http/drain.ts';
import { withoutFields } from '../../base/http/fields.ts';
import { asHttp1, isHttp2 as isHttp2Request, type HttpRequest, type HttpResponse } from '../../base/http/message.ts';
import { rateFields } from '../../model/problem.ts';
import type { RateState } from '../../model/rate-decision.ts';
import { countPassedBytes } from '../../base/heap.ts';
import { endToEndFields, isRateField } from './hop-by-hop.ts';
import { type Carrier, type Forwarding, FORWARDING } from './forwarding.ts';
import { addTrailers } from './trailers.ts';

/**
 * Writes the status and header section of `incoming` to `response`.
 * @throws Error if Node or the client's protocol cannot represent them; nothing has been sent then.
 */
export function relayHead(response: HttpResponse, incoming: IncomingMessage, rate: RateState | null): void {
  const coding = incoming.headers['transfer-encoding'];
  // Other transfer codings remain applied to the body, and the client would not know (RFC 9112 §6.1).
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Error(`its Transfer-Encoding is ${coding}, but only chunked is supported`);
  const status = incoming.statusCode ?? 0;
  // HTTP versions treat other status codes differently, and none as the sender intended (RFC 9110 §15).
  if (status < 100 || status > 599) throw new Error(`its status is ${status}, outside 100 to 599`);
  let fields = endToEndFields(incoming.rawHeaders, incoming.headers.connection);
  // A 204 with Content-Length is invalid (RFC 9110 §8.6), and HTTP/2 would drop the whole response.
  if (status === 204) fields = withoutFields(fields, (name) => name === 'content-length');
  if (rate !== null) {
    fields = withoutFields(fields, isRateField);
    fields.push(...rateFields(rate));
  }
  if (isHttp2(response)) {
    response.writeHead(status, toHttp2(fields));
    return;
  }
  // For Node, Trailer promises trailers, which require chunked encoding.
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
 * Relays the body and trailers of `incoming` with back pressure; an incomplete body aborts the client's response.
 * (`pipe` covers only the back pressure, and costs more than the rest of the forwarding.)
 */
export function relayBody(incoming: IncomingMessage, forwarding: Forwarding): void {
  (incoming as IncomingMessage & Carrier)[FORWARDING] = forwarding;
  forwarding.incoming = incoming;
  incoming.on('data', onData);
  incoming.on('end', onEnd);
  incoming.on('close', onClose);
  if (!isHttp2(forwarding.context.response)) deferHead(forwarding);
}

/** Responses whose head waits for the first chunk of the body. */
let deferred: Forwarding[] = [];

/**
 * Node delays the head until the body starts, which can take minutes for an event stream. This flushes it at the end of
 * the turn, together with any body data received so far.
 */
function deferHead(forwarding: Forwarding): void {
  if (deferred.push(forwarding) === 1) setImmediate(sendHeads);
}

function sendHeads(): void {
  const forwardings = deferred;
  deferred = [];
  for (const { incoming, context } of forwardings) {
    const { response } = context;
    if (incoming === null || incoming.readableDidRead || incoming.complete) continue;
    if (!response.destroyed && !isHttp2(response)) response.flushHeaders();
  }
}

/** Above this size, copying costs more than a second buffer in the same write. */
const WHOLE_BYTES_MAX = 16 * 1024;

/** Whether `chunk` is a complete small body. */
const isWhole = ({ length }: Buffer, { headers }: IncomingMessage): boolean =>
  length <= WHOLE_BYTES_MAX && headers['content-length'] === String(length);

function onData(this: IncomingMessage & Carrier, chunk: Buffer): void {
  const forwarding = this[FORWARDING] as Forwarding;
  const { response } = forwarding.context;
  countPassedBytes(chunk.length);
  if (isWhole(chunk, this) && !isHttp2(response)) {
    forwarding.phase = 'answered';
    // Node concatenates a string with the header section: one copy and one system call.
    response.end(chunk.toString('latin1'), 'latin1');
    return;
  }
  if (asHttp1(response).write(chunk)) return;
  this.pause();
  asHttp1(response).once('drain', onDrain);
}

function onDrain(this: HttpResponse & Carrier): void {
  this[FORWARDING]?.incoming?.resume();
}

function onEnd(this: IncomingMessage & Carrier): void {
  const forwarding = this[FORWARDING] as Forwarding;
  if (forwarding.phase === 'answered') return;
  forwarding.phase = 'answered';
  const { response } = forwarding.context;
  if (this.rawTrailers.length > 0) addTrailers(response, this.rawTrailers);
  asHttp1(response).end();
}

/** An aborted response is better than a truncated one that looks complete. */
function onClose(this: IncomingMessage & Carrier): void {
  if (!this.complete) this[FORWARDING]?.context.cut();
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

/** An interim response (1xx), as reported by Node. */
export type Interim = Pick<IncomingMessage, 'rawHeaders' | 'headers'> & { statusCode: number };

/** Forwards 102 and 103 (RFC 9110 §15.2); 100 concerns only the upstream connection, 101 is an upgrade. */
export function relayInterim({ statusCode, rawHeaders, headers }: Interim, response: HttpResponse): void {
  if (response.headersSent || response.destroyed || response.req.httpVersion === '1.0') return;
  if (statusCode === 103) {
    const fields = toHttp2(endToEndFields(rawHeaders, headers.connection));
    if (fields['link'] === undefined) return;
    try {
      response.writeEarlyHints({ ...fields, link: headers['link'] ?? fields['link'] });
    } catch {
      // Hints are optional, so those that Node rejects are dropped.
    }
  } else if (statusCode === 102 && !isHttp2(response)) response.writeProcessing();
}

/** HTTP/2 requires lower-case field names, and Node groups values by name (RFC 9113 §8.2). */
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

const isHttp2 = (response: HttpResponse): response is Http2ServerResponse => 'stream' in response;
