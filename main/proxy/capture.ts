import type { ServerResponse } from 'node:http';
import type { Exchange } from './exchange.ts';
import { hasBody } from './message-body.ts';
import type { ProxyRequest, ProxyResponse } from './target.ts';

/** How much of a body is kept; what is larger is rarely read, and seldom as a whole. */
export const BODY_BYTES_MAX = 64 * 1024;

/** What passes by of a message: its first bytes, and how many there were. */
export interface CapturedBody {
  chunks: (Buffer | string)[];
  bytes: number;
}

/** What is noted of an exchange while it goes on, for the traffic log. */
export interface Capture {
  /** Whether the bodies' first bytes are kept, and not only counted. */
  bodies: boolean;
  request: CapturedBody;
  response: CapturedBody;
  /** Monotonic; null until the first byte of the answer. */
  firstByteMs: number | null;
  monotonic: () => number;
}

/*
 * A recorder must not change what it watches: adding a listener for data would begin to read a body that its target is
 * not ready for. So the two functions that every byte passes through are covered by ones of this file, which look their
 * capture up on the object: no closure is made for a request.
 */
const CAPTURE = Symbol('capture');

interface Watched {
  [CAPTURE]?: Capture;
}

/** Begins to note what passes. Before anybody reads or writes. */
export function watch(exchange: Exchange, bodies: boolean, monotonic: () => number): Capture {
  const capture: Capture = {
    bodies,
    request: { chunks: [], bytes: 0 },
    response: { chunks: [], bytes: 0 },
    firstByteMs: null,
    monotonic,
  };
  const { request, response } = exchange;
  if (hasBody(request)) {
    const watched = request as ProxyRequest & Watched;
    watched[CAPTURE] = capture;
    watched.push = push;
  }
  const watched = asHttp1(response) as ServerResponse & Watched;
  watched[CAPTURE] = capture;
  watched.write = write as ServerResponse['write'];
  watched.end = end as ServerResponse['end'];
  return capture;
}

function push(this: ProxyRequest & Watched, chunk: unknown, encoding?: BufferEncoding): boolean {
  const capture = this[CAPTURE];
  if (capture !== undefined && Buffer.isBuffer(chunk)) take(capture.request, chunk, capture.bodies);
  // The prototype's own: what an instance property covers.
  return (Object.getPrototypeOf(this) as ProxyRequest).push.call(this, chunk, encoding);
}

type Rest = [encodingOrCallback?: unknown, callback?: unknown];

function write(this: ServerResponse & Watched, chunk: unknown, ...rest: Rest): boolean {
  note(this, chunk);
  return (prototypeOf(this).write as (...args: unknown[]) => boolean).call(this, chunk, ...rest);
}

function end(this: ServerResponse & Watched, chunk?: unknown, ...rest: Rest): ServerResponse {
  // Of HTTP/2, `end` hands its chunk to `write`, where it is noted.
  note(this, 'stream' in this ? undefined : chunk);
  return (prototypeOf(this).end as (...args: unknown[]) => ServerResponse).call(this, chunk, ...rest);
}

const prototypeOf = (response: ServerResponse): ServerResponse => Object.getPrototypeOf(response) as ServerResponse;

function note(response: ServerResponse & Watched, chunk: unknown): void {
  const capture = response[CAPTURE];
  if (capture === undefined) return;
  capture.firstByteMs ??= capture.monotonic();
  if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) take(capture.response, chunk, capture.bodies);
}

function take(body: CapturedBody, chunk: Buffer | string, keep: boolean): void {
  const missing = BODY_BYTES_MAX - body.bytes;
  if (keep && missing > 0) {
    // A copy: the buffer may be a slice of a larger one that would be held with it, or be written to again.
    body.chunks.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk.subarray(0, missing)));
  }
  body.bytes += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length;
}

/** The header fields of a response as they were sent: name, value, name, value, … */
export function sentFields(response: ProxyResponse): string[] {
  if ('stream' in response) return Object.entries(response.getHeaders()).flatMap(flatField);
  // Of fields that were handed to `writeHead`, Node keeps nothing but this text.
  const { _header: text } = response as ServerResponse & { _header?: string | null };
  if (typeof text !== 'string') return Object.entries(response.getHeaders()).flatMap(flatField);
  return text
    .split('\r\n')
    .slice(1)
    .filter((line) => line !== '')
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
}

function flatField([name, value]: [string, unknown]): string[] {
  if (value === undefined) return [];
  return [value].flat().flatMap((each) => [name, String(each)]);
}

/* The compatibility layer of HTTP/2 has the same members; only the types do not unite. */
const asHttp1 = (response: ProxyResponse): ServerResponse => response as ServerResponse;
