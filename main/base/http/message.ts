import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Timer } from '../clock.ts';

/** A request over HTTP/1.x, or over HTTP/2 through Node's compatibility layer, which has the same members. */
export type BodiedRequest = IncomingMessage | Http2ServerRequest;
export type HttpRequest = BodiedRequest | BodilessRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

export interface HttpExchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
}

/** A request over HTTP/2 whose header section ends it. Node's own would be a second stream, which nobody reads. */
export class BodilessRequest {
  readonly httpVersion = '2.0';
  readonly complete = true;
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
  readonly method: string | undefined;
  url: string | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]) {
    this.stream = stream;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.method = headers[':method'];
    this.url = headers[':path'];
  }

  get destroyed(): boolean {
    return this.stream.destroyed;
  }
}

/** Checks for the stream, which only HTTP/2 has, because the HTTP/1.x parser can also report version 2.0. */
export const isHttp2 = (request: HttpRequest): request is Http2ServerRequest | BodilessRequest => 'stream' in request;

/** HTTP/2's compatibility layer has the same methods; only their overloads are not compatible. */
export const asHttp1 = (response: HttpResponse): ServerResponse => response as ServerResponse;

/**
 * Whether `request` has a body, by its header section (RFC 9112 §6.3, RFC 9113 §8.1). An empty body counts if it was
 * announced by chunked encoding or an open HTTP/2 stream.
 */
export function hasBody(request: HttpRequest): request is BodiedRequest {
  if (isHttp2(request)) return !request.stream.endAfterHeaders;
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * The name-value pairs of a flat list (name, value, …), such as Node's raw headers. Allocates an array per field, so
 * code on the hot path loops over the flat list instead.
 */
export function pairsOf(fields: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) pairs.push([fields[index] ?? '', fields[index + 1] ?? '']);
  return pairs;
}

/** A flat list without the fields whose lower-case name is unwanted; keeps spelling and order. */
export function withoutFields(fields: readonly string[], isUnwanted: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] as string;
    if (!isUnwanted(name.toLowerCase())) kept.push(name, fields[index + 1] as string);
  }
  return kept;
}

/** `auth-scheme 1*SP token68` (RFC 9110 §11.4); the scheme is case-insensitive (§11.1). */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** The bearer token (RFC 6750 §2.1) of an `Authorization` field, or null. */
export const readBearerToken = (authorization: string | undefined): string | null =>
  BEARER.exec(authorization ?? '')?.[1] ?? null;

/** Whether an `Authorization` field uses the scheme Bearer, well-formed or not. */
export const hasBearerCredentials = (authorization: string | undefined): boolean =>
  /^bearer +\S/i.test(authorization ?? '');

/** Smaller ones are not worth the call. */
const RELEASED_BYTES_MIN = 16 * 1024;

/**
 * Frees a large chunk that nothing reads any more, if it is the only view of its memory. That lies outside V8's heap, and
 * each few megabytes of it that have not been freed make V8 collect the whole heap.
 */
export function release({ buffer, length }: Buffer): void {
  if (length > RELEASED_BYTES_MIN && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/**
 * Header fields of one connection rather than of the message (RFC 9110 §7.6.1), in addition to those named in
 * `Connection`. `Proxy-Authenticate` and `Proxy-Authorization` concern a client and its own proxy (§11.7).
 */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  // Part of the h2c upgrade, which is never forwarded.
  'http2-settings',
]);

/** The field names listed in `Connection`, in lower case. */
export function namedByConnection(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return NONE;
  return new Set(connection.split(',').map((option) => option.trim().toLowerCase()));
}

const NONE: ReadonlySet<string> = new Set();

/** The text without percent-encoding; as it is where that is malformed. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether the field with this lower-case name is hop-by-hop. */
export const isHopByHop = (name: string, named: ReadonlySet<string>): boolean =>
  HOP_BY_HOP.has(name) || named.has(name);

/** `rawHeaders` (name, value, …) without hop-by-hop fields, and without `unwanted` ones; keeps spelling and order. */
export function endToEndFields(
  rawHeaders: readonly string[],
  connection: string | undefined,
  unwanted: ReadonlySet<string> = NONE,
): string[] {
  const named = namedByConnection(connection);
  return withoutFields(rawHeaders, (name) => isHopByHop(name, named) || unwanted.has(name));
}

/** Limits on draining a body after its request was answered. */
export interface DrainBounds {
  bytesMax: number;
  /** Calls `onTime` at the time limit; null if the caller enforces one itself. */
  timer: ((onTime: () => void) => Timer) | null;
}

/** How a drain ended: at the end of the body, at a limit, or because the client disconnected. */
type DrainEnd = 'complete' | 'bound' | 'gone';

/** Whether part of the body has not arrived yet. */
export const hasUnreadBody = (request: HttpRequest): request is BodiedRequest =>
  hasBody(request) && !request.complete && !request.destroyed;

/**
 * Discards the rest of the body, within the limits; calls `onEnd` once. Many HTTP clients write their whole body before
 * reading the answer; closing at once would replace the answer with a connection reset.
 */
export function drain(request: BodiedRequest, { bytesMax, timer }: DrainBounds, onEnd: (end: DrainEnd) => void): void {
  let bytes = 0;
  let ended = false;

  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > bytesMax) finish('bound');
  };
  const onComplete = (): void => finish('complete');
  const onClose = (): void => finish('gone');
  const running = timer?.(() => finish('bound'));

  function finish(end: DrainEnd): void {
    if (ended) return;
    ended = true;
    running?.cancel();
    request.off('data', onData).off('end', onComplete).off('close', onClose);
    onEnd(end);
  }

  // Kept after the drain, when a reset is expected and must not be an uncaught error.
  request.on('error', () => finish('gone'));
  request.on('data', onData).once('end', onComplete).once('close', onClose);
  request.resume();
}

/** The response to a sent request; a failure after it ends the response instead. @throws the connection's error */
export const responseTo = (sent: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      sent.on('error', (error) => response.destroy(error));
      resolve(response);
    });
  });

/** The body of a response; of one with more than `bytesMax`, one byte more, and the rest is cut off. */
export async function bodyUpTo(bytesMax: number, response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax + 1);
}

/** Ends an exchange after an incomplete drain: the connection or, in HTTP/2, the stream (RFC 9113 §8.1: NO_ERROR). */
export function cutOff(request: HttpRequest): void {
  if (isHttp2(request)) request.stream.close();
  else request.socket.destroy();
}
