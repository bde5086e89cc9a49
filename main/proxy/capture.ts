import { Buffer } from 'node:buffer';
import { ServerResponse } from 'node:http';
import { RECORDED_BODY_BYTES_MAX, type RecordedBody } from '../model/exchange-record.ts';
import { asHttp1, hasBody, type HttpExchange, type HttpRequest, type HttpResponse } from '../base/http/message.ts';

/** What passes by of a message: its first bytes, and how many there were. */
export interface CapturedBody extends RecordedBody {
  chunks: (Buffer | string)[];
  encoding: 'latin1' | 'utf8';
}

const emptyBody = (): CapturedBody => ({ chunks: [], encoding: 'utf8', bytes: 0 });

/** What is noted of an exchange while it goes on, for the traffic log. */
export interface Capture {
  /** Whether the bodies' first bytes are kept, and not only counted. */
  bodies: boolean;
  request: CapturedBody;
  response: CapturedBody;
  /** The response's, as far as it was made before the first byte of the answer; see `sentHead`. */
  head: string | null;
  /** Monotonic; null until the first byte of the answer. */
  firstByteMs: number | null;
  monotonic: () => number;
}

/** Of a request without one: nothing is made for it. */
const NO_BODY: CapturedBody = emptyBody();

/*
 * A recorder must not change what it watches: adding a listener for data would begin to read a body that its target is
 * not ready for. So the functions that every byte passes through are covered by ones of this file, which look their capture
 * up on the object: no closure is made for a request. Over HTTP/1.x responses are made of a class that has them, because
 * an object that gets functions of its own is slower in all that is done with it.
 */
const CAPTURE = Symbol('capture');

interface Watched {
  [CAPTURE]?: Capture;
}

/** Begins to note what passes. Before anybody reads or writes. */
export function watch({ request, response }: HttpExchange, bodies: boolean, monotonic: () => number): Capture {
  const isBodied = hasBody(request);
  const capture: Capture = {
    bodies,
    request: isBodied ? emptyBody() : NO_BODY,
    response: emptyBody(),
    head: null,
    firstByteMs: null,
    monotonic,
  };
  if (isBodied) {
    const watched = request as HttpRequest & Watched;
    watched[CAPTURE] = capture;
    watched.push = push;
  }
  if (response instanceof WatchedResponse) {
    response.capture = capture;
    return capture;
  }
  const watched = asHttp1(response) as ServerResponse & Watched;
  watched[CAPTURE] = capture;
  watched.write = write as ServerResponse['write'];
  watched.end = end as ServerResponse['end'];
  return capture;
}

function push(this: HttpRequest & Watched, chunk: unknown, encoding?: BufferEncoding): boolean {
  const capture = this[CAPTURE];
  if (capture !== undefined && Buffer.isBuffer(chunk)) takeBytes(capture.request, chunk, capture.bodies);
  // The prototype's own: what an instance property covers.
  return (Object.getPrototypeOf(this) as HttpRequest).push.call(this, chunk, encoding);
}

/** The head of a response over HTTP/1.x; null before it is made. Of fields handed to `writeHead`, Node keeps nothing else. */
function headOf(response: HttpResponse): string | null {
  const { _header: text } = response as ServerResponse & { _header?: string | null };
  return typeof text === 'string' ? text : null;
}

const LF = 10;

/**
 * Whether a head is all there, as it is from the moment that Node makes it. Node makes it of some fifty pieces, which V8
 * collects each time that it is copied: to the socket, and for the record. RequestedUrl for a character, it collects them for both.
 */
const isWhole = (head: string): boolean => head.charCodeAt(head.length - 1) === LF;

/** A response over HTTP/1.x that can be watched. */
export class WatchedResponse extends ServerResponse {
  capture: Capture | null = null;

  // Not as rest parameters: an array for each call is an array for each request.
  override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    if (this.capture !== null) note(this.capture, chunk, encoding, headOf(this));
    return super.write(chunk, encoding as BufferEncoding, callback as () => void);
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (this.capture !== null) note(this.capture, chunk, encoding, headOf(this));
    return super.end(chunk, encoding as BufferEncoding, callback as () => void);
  }
}

type Rest = [encodingOrCallback?: unknown, callback?: unknown];

function write(this: ServerResponse & Watched, chunk: unknown, ...rest: Rest): boolean {
  if (this[CAPTURE] !== undefined) note(this[CAPTURE], chunk, rest[0]);
  return (prototypeOf(this).write as (...args: unknown[]) => boolean).call(this, chunk, ...rest);
}

function end(this: ServerResponse & Watched, chunk?: unknown, ...rest: Rest): ServerResponse {
  // Of HTTP/2, `end` hands its chunk to `write`, where it is noted.
  if (this[CAPTURE] !== undefined) note(this[CAPTURE], 'stream' in this ? undefined : chunk, rest[0]);
  return (prototypeOf(this).end as (...args: unknown[]) => ServerResponse).call(this, chunk, ...rest);
}

const prototypeOf = (response: ServerResponse): ServerResponse => Object.getPrototypeOf(response) as ServerResponse;

function note(capture: Capture, chunk: unknown, encoding: unknown, head: string | null = null): void {
  if (capture.firstByteMs === null) {
    capture.firstByteMs = capture.monotonic();
    if (head !== null && isWhole(head)) capture.head = head;
  }
  if (Buffer.isBuffer(chunk)) takeBytes(capture.response, chunk, capture.bodies);
  else if (typeof chunk === 'string')
    takeText(capture.response, chunk, encoding === 'latin1' ? encoding : 'utf8', capture.bodies);
}

function takeBytes(body: CapturedBody, chunk: Buffer, keep: boolean): void {
  const missing = RECORDED_BODY_BYTES_MAX - body.bytes;
  // A copy: the buffer may be a slice of a larger one that would be held with it, or be written to again.
  if (keep && missing > 0) add(body, Buffer.from(chunk.subarray(0, missing)));
  body.bytes += chunk.length;
}

/** Most bodies are of one chunk, and an array that grows makes room for many. */
function add(body: CapturedBody, chunk: Buffer | string): void {
  if (body.chunks.length === 0) body.chunks = [chunk];
  else body.chunks.push(chunk);
}

/** A text is kept as it is: making bytes of it now would be work for every request. */
function takeText(body: CapturedBody, text: string, encoding: 'latin1' | 'utf8', keep: boolean): void {
  if (keep && body.bytes < RECORDED_BODY_BYTES_MAX) {
    if (body.chunks.length === 0) body.encoding = encoding;
    add(body, encoding === body.encoding ? text : Buffer.from(text, encoding));
  }
  body.bytes += encoding === 'latin1' ? text.length : Buffer.byteLength(text);
}

/**
 * The head of a response as it was sent: a first line and the header fields, each line ended by CRLF. It is read when
 * somebody looks at it, which is seldom.
 */
export function sentHead(response: HttpResponse): string {
  const text = headOf(response);
  if (text !== null) return text;
  const lines = Object.entries(response.getHeaders()).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each) => `${name}: ${each}\r\n`),
  );
  return `\r\n${lines.join('')}`;
}
