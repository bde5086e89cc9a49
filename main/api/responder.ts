import type { ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Answer } from './answer.ts';
import { corsHeaders, type CorsSetting } from './cors.ts';
import { cutOff, drain, hasUnreadBody } from './drain.ts';
import { isHttp2, type Exchange } from './exchange.ts';
import { retirementHeaders, type Retirement } from './retirement.ts';

const PAYLOAD_TOO_LARGE = 413;

export interface Responder {
  /**
   * Writes the answer with the headers that every answer has, once; later calls and gone clients change nothing. Never
   * throws: what cannot be written ends the response without an answer, and the log says why. `retirement` is that of
   * the operation: every answer of a deprecated one says so.
   */
  send(exchange: Exchange, answer: Answer, retirement?: Retirement): void;
}

/**
 * The one place that writes responses: one `writeHead` and one `end` each, so that node makes one packet of it.
 * What is left of an unwanted request body is drained within bounds.
 */
export function createResponder(clock: Clock, log: Log, cors: () => CorsSetting): Responder {
  function headersOf({ request, context }: Exchange, answer: Answer, retirement: Retirement | undefined): string[] {
    const { rate } = context.decision;
    const headers = [
      'X-RateLimit-Limit',
      String(rate.limit),
      'X-RateLimit-Remaining',
      String(rate.remaining),
      'X-RateLimit-Reset',
      String(rate.resetSeconds),
      // The rate headers are of this moment, and so are the pets.
      'Cache-Control',
      'no-store',
    ];
    if (answer.body !== null) {
      headers.push('Content-Type', 'application/json', 'Content-Length', answer.body.length);
    }
    if (retirement !== undefined) headers.push(...retirementHeaders(retirement, context.baseUrl));
    for (const value of corsHeaders(cors(), request)) headers.push(value);
    for (const value of answer.headers) headers.push(value);
    return headers;
  }

  function end({ request }: Exchange, response: ServerResponse, { body }: Answer): void {
    if (body === null || request.method === 'HEAD') response.end();
    else response.end(body.text, body.encoding);
  }

  /**
   * Sends the answer whole and drains the request before the response ends. In HTTP/1.1 the end of a response can be
   * the end of the connection, and closing it with unread bytes in the socket makes it a reset, which can overtake the
   * answer.
   */
  function endAfterDrain({ request }: Exchange, response: ServerResponse, { body }: Answer): void {
    if (body === null || request.method === 'HEAD') response.flushHeaders();
    else response.write(body.text, body.encoding);
    drain(request, clock, (outcome) => {
      response.end();
      if (outcome === 'bound') cutOff(request);
    });
  }

  function write(exchange: Exchange, answer: Answer, retirement: Retirement | undefined): void {
    const { request } = exchange;
    // Node's HTTP/2 compatibility response takes the same arguments; only the declared types differ.
    const response = exchange.response as ServerResponse;
    if (response.headersSent || response.destroyed) return;
    const headers = headersOf(exchange, answer, retirement);
    const unread = hasUnreadBody(request);
    // After a body that was too large, nobody knows where the next request begins soon enough (RFC 9110 §15.5.14).
    if (answer.status === PAYLOAD_TOO_LARGE && !isHttp2(request)) headers.push('Connection', 'close');
    response.writeHead(answer.status, headers);
    if (unread) endAfterDrain(exchange, response, answer);
    else end(exchange, response, answer);
  }

  return {
    send(exchange, answer, retirement) {
      try {
        write(exchange, answer, retirement);
      } catch (error) {
        log.error('An answer could not be written', { error, status: answer.status, path: exchange.request.url });
        exchange.response.destroy();
      }
    },
  };
}
