import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { toHttp2 } from '../upstream/relay.ts';

/** Whether a request asks for a WebSocket over HTTP/2 by an extended CONNECT (RFC 8441 §4). */
export const asksForWebSocket = ({ method, headers }: Http2ServerRequest): boolean =>
  method === 'CONNECT' && headers[':protocol'] === 'websocket';

/**
 * Presents an extended CONNECT as the upgrade of HTTP/1.1 that the stages and upstreams know: GET, a key, and a socket
 * for the answer and the frames. The frames are the same in both versions.
 */
export function asUpgrade(request: Http2ServerRequest): { request: IncomingMessage; socket: Socket } {
  const key = randomBytes(16).toString('base64');
  Object.defineProperty(request, 'method', { value: 'GET' });
  request.headers['sec-websocket-key'] = key;
  // The members that upgrades use exist in both classes; only the types are not compatible.
  return {
    request: request as unknown as IncomingMessage,
    socket: new WebSocketStream(request.stream, key) as unknown as Socket,
  };
}

/** Fields that HTTP/2 does not have (RFC 9113 §8.2.2), and the answer to our own key. */
const HTTP1_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'sec-websocket-accept',
]);

const HEAD_END = '\r\n\r\n';

/**
 * An HTTP/2 stream as a socket of HTTP/1.1: the header section written to it becomes one of HTTP/2, with 200 for 101;
 * what follows, and what it reads, are DATA frames. END_STREAM is a socket's FIN, RST_STREAM its reset (RFC 8441 §5).
 */
class WebSocketStream extends Duplex {
  readonly #stream: ServerHttp2Stream;
  readonly #key: string;
  /** Like a socket's: the time-out for inactivity of the stream. */
  readonly setTimeout: ServerHttp2Stream['setTimeout'];
  /** The header section so far; null once it is complete. */
  #head: string | null = '';

  constructor(stream: ServerHttp2Stream, key: string) {
    super();
    this.#stream = stream;
    this.#key = key;
    this.setTimeout = stream.setTimeout.bind(stream);
    stream.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) stream.pause();
    });
    stream.on('end', () => this.push(null));
    stream.on('error', () => this.destroy());
    stream.on('close', () => this.destroy());
    stream.pause();
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#head === null) {
      this.#stream.write(chunk, done);
      return;
    }
    const text = this.#head + chunk.toString('latin1');
    const end = text.indexOf(HEAD_END);
    if (end === -1) {
      this.#head = text;
      done();
      return;
    }
    this.#head = null;
    this.#respond(text.slice(0, end));
    const rest = text.slice(end + HEAD_END.length);
    if (rest === '') done();
    else this.#stream.write(Buffer.from(rest, 'latin1'), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#stream.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const whole = error === null && this.writableFinished;
    this.#stream.close(whole ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_CANCEL);
    done(error);
  }

  /** Like a socket's: closes it when the written data is sent. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /** Set on the session's socket, for all streams. */
  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  #respond(head: string): void {
    const [line = '', ...lines] = head.split('\r\n');
    const fields = lines.flatMap((text): string[] => {
      const colon = text.indexOf(':');
      const name = text.slice(0, colon).toLowerCase();
      return HTTP1_FIELDS.has(name) ? [] : [name, text.slice(colon + 1).trim()];
    });
    const status = Number(line.split(' ')[1]);
    if (status !== 101) this.#stream.respond({ ...toHttp2(fields), ':status': status });
    else if (this.#isAccepted(lines)) this.#stream.respond({ ...toHttp2(fields), ':status': 200 });
    else {
      // An HTTP/1.1 client would get the same result (RFC 6455 §4.1).
      this.#stream.respond({ ':status': 502 });
      this.destroySoon();
    }
  }

  #isAccepted(lines: readonly string[]): boolean {
    const accept = createHash('sha1').update(`${this.#key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    return lines.some((text) => text.replace(/^sec-websocket-accept:\s*/i, '') === accept);
  }
}
