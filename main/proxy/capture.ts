import { Buffer } from 'node:buffer';
import { type OutgoingHttpHeaders, ServerResponse, type OutgoingHttpHeader } from 'node:http';
import { Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import { RECORDED_BODY_BYTES_MAX, type RecordedBody, type RecordedFrames } from '../model/exchange-record.ts';
import { asHttp1, hasBody } from '../base/http/message.ts';
import type { BodiedRequest, HttpExchange, HttpRequest, HttpResponse } from '../base/http/message.ts';
import type { EpochMs } from '../base/clock.ts';
import type { StageName } from '../contract/stages.ts';

/** The captured part of a body: its first bytes and its total length. */
export interface CapturedBody extends RecordedBody {
  chunks: (Buffer | string)[];
  encoding: 'latin1' | 'utf8';
}

const emptyBody = (): CapturedBody => ({ chunks: [], encoding: 'utf8', bytes: 0 });

/** Data collected during an exchange for the traffic log. */
export interface Capture {
  /** Whether to keep the first bytes of bodies; otherwise they are only counted. */
  bodies: boolean;
  /** The same for the request alone: a provider’s API gets secrets in those that it does not emulate. */
  keepsRequest: boolean;
  request: CapturedBody;
  response: CapturedBody;
  /** The response's head as it was written; see `sentHead` for HTTP/2 answers that are not one flat list. */
  head: string | null;
  /** Null unless the connection has become a WebSocket. */
  frames: RecordedFrames | null;
  /** Monotonic; null before the first byte of the answer. */
  firstByteMs: number | null;
  monotonic: () => number;
  realNow: () => EpochMs;
}

/** Shared by all requests without a body, to avoid an allocation. */
const NO_BODY: CapturedBody = emptyBody();

/*
 * Adding a `data` listener would start reading a body before its target is ready. Instead, the methods that every byte
 * passes through are overridden: a request's by a shared function that looks up the capture on the object, without a
 * closure per request; responses use subclasses, because V8 slows down objects that gain methods of their own.
 */
const CAPTURE = Symbol('capture');

interface Watched {
  [CAPTURE]?: Capture;
}

/** Starts capturing. Call it before anything reads the request or writes the response. */
export function watch(
  { request, response }: HttpExchange,
  bodies: boolean,
  { monotonic, realNow }: Pick<Capture, 'monotonic' | 'realNow'>,
): Capture {
  const isBodied = hasBody(request);
  const capture: Capture = {
    bodies,
    keepsRequest: bodies,
    request: isBodied ? emptyBody() : NO_BODY,
    response: emptyBody(),
    head: null,
    frames: null,
    firstByteMs: null,
    monotonic,
    realNow,
  };
  if (isBodied) {
    const watched = request as BodiedRequest & Watched;
    watched[CAPTURE] = capture;
    watched.push = push;
  }
  if (response instanceof WatchedResponse || response instanceof WatchedHttp2Response) response.capture = capture;
  return capture;
}

/** Keeps nothing of a request's body, also of what has arrived. */
export function forgetRequest(request: HttpRequest): void {
  const capture = (request as HttpRequest & Watched)[CAPTURE];
  if (capture === undefined) return;
  capture.keepsRequest = false;
  capture.request.chunks = [];
}

function push(this: BodiedRequest & Watched, chunk: unknown, encoding?: BufferEncoding): boolean {
  const capture = this[CAPTURE];
  if (capture !== undefined && Buffer.isBuffer(chunk)) takeBytes(capture.request, chunk, capture.keepsRequest);
  // The prototype's method, hidden by the instance property.
  return (Object.getPrototypeOf(this) as BodiedRequest).push.call(this, chunk, encoding);
}

/** An HTTP/1.x response that can be captured. */
export class WatchedResponse extends ServerResponse {
  capture: Capture | null = null;

  // No rest parameters: they would allocate an array for every call.
  override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    if (this.capture !== null) note(this.capture, chunk, encoding);
    return super.write(chunk, encoding as BufferEncoding, callback as () => void);
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (this.capture !== null) note(this.capture, chunk, encoding);
    return super.end(chunk, encoding as BufferEncoding, callback as () => void);
  }
}

/** The same over HTTP/2, where an answer whose fields are one flat list is sent as it is. */
export class WatchedHttp2Response extends Http2ServerResponse {
  capture: Capture | null = null;

  override writeHead(status: number, fields?: unknown, more?: unknown): this {
    const { stream } = this;
    // Node's own method would look up every field of a list among those set before.
    const isOpen = !stream.headersSent && !stream.closed && !stream.destroyed;
    if (!isOpen || !Array.isArray(fields) || this.getHeaderNames().length > 0)
      return super.writeHead(status, fields as string, more as OutgoingHttpHeaders);
    this.statusCode = status;
    const sent = [':status', String(status), ...(fields as string[])];
    // Node would add it, but shows it only in `sentHeaders`, an object that takes as long as the whole head.
    if (this.capture !== null && !hasDate(sent)) sent.push('Date', dateText(this.capture.realNow()));
    stream.respond(sent);
    if (this.capture !== null) this.capture.head = flatHead(status, sent);
    return this;
  }

  override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    if (this.capture !== null) note(this.capture, chunk, encoding);
    return super.write(chunk as string, encoding as BufferEncoding, callback as () => void);
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    // It passes a chunk to `write`, which captures it.
    if (this.capture !== null) note(this.capture, undefined, encoding);
    return super.end(chunk as string, encoding as BufferEncoding, callback as () => void);
  }
}

function hasDate(fields: readonly string[]): boolean {
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'date') return true;
  }
  return false;
}

let lastDate = { second: Number.NaN, text: '' };

/** The value of `Date` (RFC 9110 §6.6.1), formatted once a second. */
function dateText(atMs: EpochMs): string {
  const second = Math.floor(atMs / 1_000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(second * 1_000).toUTCString() };
  return lastDate.text;
}

function note(capture: Capture, chunk: unknown, encoding: unknown): void {
  if (capture.firstByteMs === null) capture.firstByteMs = capture.monotonic();
  if (Buffer.isBuffer(chunk)) takeBytes(capture.response, chunk, capture.bodies);
  else if (typeof chunk === 'string')
    takeText(capture.response, chunk, encoding === 'latin1' ? encoding : 'utf8', capture.bodies);
}

function takeBytes(body: CapturedBody, chunk: Buffer, keep: boolean): void {
  const missing = RECORDED_BODY_BYTES_MAX - body.bytes;
  // Copied: the buffer may be a slice that keeps a larger one alive, or may be reused.
  if (keep && missing > 0) add(body, Buffer.from(chunk.subarray(0, missing)));
  body.bytes += chunk.length;
}

/** Most bodies have one chunk; growing an array by `push` would reserve room for many. */
function add(body: CapturedBody, chunk: Buffer | string): void {
  if (body.chunks.length === 0) body.chunks = [chunk];
  else body.chunks.push(chunk);
}

/** Keeps the string: converting it to bytes here would cost every request. */
function takeText(body: CapturedBody, text: string, encoding: 'latin1' | 'utf8', keep: boolean): void {
  if (keep && body.bytes < RECORDED_BODY_BYTES_MAX) {
    if (body.chunks.length === 0) body.encoding = encoding;
    add(body, encoding === body.encoding ? text : Buffer.from(text, encoding));
  }
  body.bytes += encoding === 'latin1' ? text.length : Buffer.byteLength(text);
}

const HEADS = Symbol('heads');

interface WatchedSocket extends Socket {
  [HEADS]?: () => Capture | null;
}

/**
 * Takes the heads of HTTP/1.x responses from what is written to their socket, which alone has the fields that Node
 * adds. `current` returns the capture of the response that is being written. Another call replaces it.
 */
export function watchHeads(socket: Socket, current: () => Capture | null): void {
  const watched: WatchedSocket = socket;
  watched[HEADS] = current;
  watched.write = writeToSocket;
}

function writeToSocket(this: WatchedSocket, chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
  // A head is a string; the first chunk of its body may follow in the same one.
  if (typeof chunk === 'string') {
    const capture = this[HEADS]?.() ?? null;
    if (capture?.head === null) takeHead(capture, chunk);
  }
  // The prototype's method, hidden by the instance property.
  const { write } = Object.getPrototypeOf(this) as Socket;
  return write.call(this, chunk as string, encoding as BufferEncoding, callback as () => void);
}

const FINAL_STATUS = /^HTTP\/1\.1 [2-9]/;

function takeHead(capture: Capture, text: string): void {
  if (FINAL_STATUS.test(text)) capture.head = text.slice(0, text.indexOf(END_OF_HEAD) + END_OF_HEAD.length);
}

const END_OF_HEAD = '\r\n\r\n';

/** Takes a whole response, as it was written to a bare socket. */
export function takeRaw(capture: Capture, text: string): void {
  takeHead(capture, text);
  note(capture, text.slice(capture.head?.length), 'utf8');
}

/** The head of an HTTP/2 response that has been sent, as HTTP/1.1 would write it. */
export const sentHead = (response: HttpResponse): string =>
  headText(response.statusCode, '', ('stream' in response && response.stream.sentHeaders) || response.getHeaders());

/** The head of a flat list that begins with `:status`. */
function flatHead(status: number, fields: readonly string[]): string {
  let text = `HTTP/1.1 ${status} \r\n`;
  for (let index = 2; index < fields.length; index += 2) text += `${fields[index]}: ${fields[index + 1]}\r\n`;
  return text;
}

/** A first line and header fields, each line ended by CRLF. */
export function headText(status: number, reason: string, headers: OutgoingHttpHeaders): string {
  let text = `HTTP/1.1 ${status} ${reason}\r\n`;
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    // Such as `:status`.
    if (value === undefined || name.startsWith(':')) continue;
    if (Array.isArray(value)) for (const each of value) text += `${name}: ${each}\r\n`;
    else text += `${name}: ${value}\r\n`;
  }
  return text;
}

/** When a request entered each stage. */
export class StageTimes {
  readonly #monotonic: () => number;
  readonly #entered: { stage: StageName; atMs: number }[] = [];

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.enter('listener');
  }

  enter(stage: StageName): void {
    this.#entered.push({ stage, atMs: this.#monotonic() });
  }

  /** The value of `Server-Timing`: how long each stage took so far, in milliseconds with microseconds. */
  text(): string {
    const nowMs = this.#monotonic();
    return this.#entered
      .map(({ stage, atMs }, index) => `${stage};dur=${((this.#entered[index + 1]?.atMs ?? nowMs) - atMs).toFixed(3)}`)
      .join(', ');
  }
}

type Fields = readonly string[] | Record<string, string | readonly string[]>;

/** Adds `Server-Timing` (W3C) to the header section of `response` when it is written, after those of an upstream. */
export function reportTimes(response: HttpResponse, times: StageTimes): void {
  const timed = asHttp1(response);
  const writeHead = timed.writeHead.bind(timed) as (...args: unknown[]) => ServerResponse;
  timed.writeHead = ((status: number, ...rest: unknown[]) => {
    const fields = (typeof rest[0] === 'string' ? rest[1] : rest[0]) as Fields | undefined;
    const reason = typeof rest[0] === 'string' ? [rest[0]] : [];
    return writeHead(status, ...reason, withTimes(fields ?? {}, times.text(), timed.getHeader('server-timing')));
  }) as ServerResponse['writeHead'];
}

const isFlat = (fields: Fields): fields is readonly string[] => Array.isArray(fields);

function withTimes(fields: Fields, text: string, set: OutgoingHttpHeader = []): Fields {
  if (isFlat(fields)) return [...fields, 'Server-Timing', text];
  return { ...fields, 'server-timing': [fields['server-timing'] ?? set, text].flat().map(String) };
}
