import { cutOff, drain, hasUnreadBody, type DrainBounds } from './drain.ts';
import { asHttp1, isHttp2, type HttpExchange } from './message.ts';

/** A text ready for the wire. */
export interface Body {
  text: string;
  /** `latin1` when the text is ASCII: the same bytes, written without a conversion. */
  encoding: 'latin1' | 'utf8';
  /** The length in bytes, as the Content-Length header has it. */
  length: string;
}

/** What a request is answered with. */
export interface Answer {
  status: number;
  /** Null for 204. */
  body: Body | null;
  /** Flat: name, value, name, value, … */
  headers: readonly string[];
  /** Whether the connection ends with it (HTTP/1.x; in HTTP/2 a stream stands for itself). */
  close: boolean;
}

export function bodyOf(text: string): Body {
  const bytes = Buffer.byteLength(text);
  // Every character beyond ASCII has more bytes than UTF-16 units, so equal counts mean ASCII throughout.
  return { text, encoding: bytes === text.length ? 'latin1' : 'utf8', length: String(bytes) };
}

/**
 * Writes `answer`, once: later calls and clients that have gone change nothing. One `writeHead` and one `end`, of which
 * Node makes one packet. Where some of the request's body is still to come, the answer is sent whole, and the response
 * ends when the body has been drained: in HTTP/1.1 the end of a response can be the end of the connection, and closing
 * that with unread bytes in the socket makes it a reset, which can overtake the answer. `bounds` null: no draining.
 * @returns whether it was written.
 */
export function sendAnswer(exchange: HttpExchange, answer: Answer, bounds: DrainBounds | null): boolean {
  const { request } = exchange;
  const response = asHttp1(exchange.response);
  if (response.headersSent || response.destroyed) return false;
  const unread = bounds !== null && hasUnreadBody(request);
  const body = request.method === 'HEAD' ? null : answer.body;
  const close = answer.close && !isHttp2(request);
  // Node only reads them.
  response.writeHead(answer.status, close ? [...answer.headers, 'Connection', 'close'] : (answer.headers as string[]));
  if (!unread) {
    if (body === null) response.end();
    else response.end(body.text, body.encoding);
    return true;
  }
  if (body === null) response.flushHeaders();
  else response.write(body.text, body.encoding);
  drain(request, bounds, (outcome) => {
    response.end();
    if (outcome === 'bound') cutOff(request);
  });
  return true;
}
