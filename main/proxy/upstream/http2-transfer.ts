import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { withoutFields } from '../../base/http/message.ts';
import { addTrailers } from './relay.ts';

export interface Session {
  readonly http2: ClientHttp2Session;
  /** Whether the server has sent its settings, so that it accepts requests. */
  isReady: boolean;
  streams: number;
  /** The last stream that the server may have processed; its GOAWAY refuses later ones. */
  lastStream: number;
}

/** A request over HTTP/2, with the members of undici's requests. */
export interface Http2Request {
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: Readable | null;
  /** The trailers (name, value, …) once the body has ended. */
  trailers: () => readonly string[];
}

type Event = 'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError';
export type Handler = Required<Pick<Dispatcher.DispatchHandler, Event>>;

/** The code of a request that the server refused without processing it (RFC 9113 §8.7). */
export const REFUSED = 'ERR_HTTP2_REFUSED';

/** Aborts a request whose connection may be dead, so that it gets no more requests. */
export class StalledError extends Error {}

/** One request over HTTP/2 and its answer; undici's interface of a controller. */
export class Http2Transfer implements Dispatcher.DispatchController {
  rawHeaders: string[] = [];
  rawTrailers: string[] = [];
  /** Whether the header section ends the answer. */
  endsWithHead = false;
  reason: Error | null = null;
  readonly #handler: Handler;
  #stream: ClientHttp2Stream | null = null;
  /** Whether the whole answer has been received, or the handler knows that it will not be. */
  #isOver = false;
  /** How much of an announced body has not arrived. */
  #missing = 0;

  constructor(handler: Handler) {
    this.#handler = handler;
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  get paused(): boolean {
    return this.#stream?.isPaused() === true;
  }

  pause(): void {
    this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  abort(reason: Error): void {
    if (this.reason !== null) return;
    this.reason = reason;
    if (reason instanceof StalledError) this.#stream?.session?.close();
    this.#stream?.close(constants.NGHTTP2_CANCEL);
    // With unread data, it would stay open.
    this.#stream?.resume();
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseError(this, error);
  }

  send(session: Session, { method, path, headers, body, trailers }: Http2Request): void {
    this.#handler.onRequestStart(this, null);
    if (this.reason !== null) return this.fail(this.reason);
    const { host, ...fields } = headers;
    const authority = host === undefined ? {} : { ':authority': host };
    const hasBody = body !== null;
    let stream: ClientHttp2Stream;
    try {
      stream = session.http2.request(
        { ':method': method, ':path': path, ...authority, ...fields },
        { endStream: !hasBody, waitForTrailers: hasBody },
      );
    } catch (error) {
      // It has used up its stream numbers, or cannot carry the header section.
      session.http2.close();
      return this.fail(error as Error);
    }
    this.#stream = stream;
    session.streams += 1;
    this.#listen(stream, method);
    let failure: Error | null = null;
    stream.on('error', (error) => (failure = error));
    stream.on('close', () => {
      session.streams -= 1;
      this.fail(this.reason ?? explain(stream, session, failure));
    });
    if (!hasBody) return;
    // Node also ends the body of an aborted request, before it resets the stream.
    stream.on('wantTrailers', () => this.reason === null && addTrailers(trailersOf(stream), trailers()));
    // Node ends a closed stream; writing to it then would discard the rest of an answer that came early.
    stream.on('aborted', () => body.unpipe(stream));
    body.pipe(stream);
  }

  #listen(stream: ClientHttp2Stream, method: string): void {
    const receiveHead = (headers: IncomingHttpHeaders, raw: readonly string[]): void => {
      this.rawHeaders = withoutFields(raw, (name) => name.startsWith(':'));
      this.#handler.onResponseStart(this, Number(headers[':status']), headers);
    };
    stream.on('headers', (headers, _flags, raw) => receiveHead(headers, raw));
    stream.on('response', (headers, flags, raw) => {
      this.endsWithHead = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      const isEmpty = this.endsWithHead || method === 'HEAD' || headers[':status'] === 304;
      this.#missing = isEmpty ? 0 : Number(headers['content-length'] ?? 0);
      receiveHead(headers, raw);
      stream.on('data', (chunk: Buffer) => {
        this.#missing -= chunk.length;
        if (this.reason === null) this.#handler.onResponseData(this, chunk);
      });
    });
    stream.on('trailers', (_trailers, _flags, raw) => (this.rawTrailers = raw));
    // A reset also ends the data, even without an error.
    stream.on('end', () => {
      const isWhole =
        this.rawTrailers.length > 0 || (stream.rstCode === constants.NGHTTP2_NO_ERROR && this.#missing <= 0);
      if (!isWhole || this.#isOver || this.reason !== null) return;
      this.#isOver = true;
      this.#handler.onResponseEnd(this, {});
    });
  }
}

const trailersOf = (stream: ClientHttp2Stream) => ({
  addTrailers: (trailers: Record<string, string>): void => stream.sendTrailers(trailers),
});

function explain({ rstCode, id = 0 }: ClientHttp2Stream, { http2, lastStream }: Session, failure: Error | null): Error {
  const isRefused = rstCode === constants.NGHTTP2_REFUSED_STREAM || id > lastStream;
  if (isRefused) return Object.assign(new Error('The server refused the stream.'), { code: REFUSED });
  if (failure !== null) return failure;
  // A closed connection ends its streams without an error.
  return http2.destroyed
    ? Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' })
    : Object.assign(new Error(`Stream closed with error code ${rstCode}`), { code: 'ERR_HTTP2_STREAM_ERROR' });
}
