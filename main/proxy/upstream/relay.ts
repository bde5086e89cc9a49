import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { cutOff, drain } from '../../base/http/drain.ts';
import { withoutFields } from '../../base/http/fields.ts';
import { asHttp1, isHttp2 as isHttp2Request, type HttpRequest, type HttpResponse } from '../../base/http/message.ts';
import { rateFields } from '../../model/problem.ts';
import type { RateState } from '../../model/rate-decision.ts';
import { countPassedBytes } from './passed-bytes.ts';
import { endToEndFields } from './hop-by-hop.ts';
import { type Carrier, type Forwarding, FORWARDING } from './forwarding.ts';
import { isRateField } from './rate-fields.ts';
import { addTrailers } from './trailers.ts';

/**
 * Writes the status and header section of `incoming` as those of `response`.
 * @throws Error when Node, or the client's protocol, cannot carry them; then nothing has been sent.
 */
export function relayHead(response: HttpResponse, incoming: IncomingMessage, rate: RateState | null): void {
  const coding = incoming.headers['transfer-encoding'];
  // What else it is coded in has been left in the body, and the client would never hear of it (RFC 9112 §6.1).
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Error(`its Transfer-Encoding is ${coding}, and only chunked is read`);
  const status = incoming.statusCode ?? 0;
  // What the versions of HTTP make of another one differs, and none of it is what was meant (RFC 9110 §15).
  if (status < 100 || status > 599) throw new Error(`its status is ${status}, and there are only 100 to 599`);
  let fields = endToEndFields(incoming.rawHeaders, incoming.headers.connection);
  // It announces a body that there is not (RFC 9110 §8.6), for which HTTP/2 drops the whole response.
  if (status === 204) fields = withoutFields(fields, (name) => name === 'content-length');
  if (rate !== null) {
    fields = withoutFields(fields, isRateField);
    fields.push(...rateFields(rate));
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
 * Passes the body of `incoming` on as it comes and is taken, and its trailers; one that breaks off cuts the client off,
 * too. (`pipe` would do the first half, and costs more than everything else here.)
 */
export function relayBody(incoming: IncomingMessage, forwarding: Forwarding): void {
  (incoming as IncomingMessage & Carrier)[FORWARDING] = forwarding;
  forwarding.incoming = incoming;
  incoming.on('data', onData);
  incoming.on('end', onEnd);
  incoming.on('close', onClose);
  if (!isHttp2(forwarding.context.response)) deferHead(forwarding);
}

/** Heads of responses whose bodies are to come. */
let deferred: Forwarding[] = [];

/**
 * Node holds a head back until there is a body to send; the first event of a stream may be minutes away. So it is sent in
 * this turn, behind whatever has come of the body together with it.
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

/** Beyond it, copying costs more than a second piece in the same write. */
const WHOLE_BYTES_MAX = 16 * 1024;

/** Whether `chunk` is all of a small body. */
const isWhole = ({ length }: Buffer, { headers }: IncomingMessage): boolean =>
  length <= WHOLE_BYTES_MAX && headers['content-length'] === String(length);

function onData(this: IncomingMessage & Carrier, chunk: Buffer): void {
  const forwarding = this[FORWARDING] as Forwarding;
  const { response } = forwarding.context;
  countPassedBytes(chunk.length);
  if (isWhole(chunk, this) && !isHttp2(response)) {
    forwarding.phase = 'answered';
    // As text, Node writes it together with the header section: one copy and one call of the system.
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

/** A response that only looks whole would be worse than none. */
function onClose(this: IncomingMessage & Carrier): void {
  if (!this.complete) this[FORWARDING]?.context.cut();
}

/**
 * Reads away what still comes of a request that has been answered, at most `bytesMax`, so that its client gets to read
 * the answer and can go on. An HTTP/2 client is told to keep the rest (RFC 9113 §8.1).
 */
export function drainRest(request: HttpRequest, bytesMax: number, cut: () => void): void {
  if (isHttp2Request(request)) return cutOff(request);
  drain(request, { bytesMax, timer: null }, (end) => {
    if (end === 'bound') cut();
  });
}

/** An interim response (1xx), as Node tells of it. */
export type Interim = Pick<IncomingMessage, 'rawHeaders' | 'headers'> & { statusCode: number };

/** 102 and 103 are passed on (RFC 9110 §15.2); 100 is between us and the upstream, 101 is an upgrade. */
export function relayInterim({ statusCode, rawHeaders, headers }: Interim, response: HttpResponse): void {
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

const isHttp2 = (response: HttpResponse): response is Http2ServerResponse => 'stream' in response;
