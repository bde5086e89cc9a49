import type { Clock } from '../base/clock.ts';
import { sendAnswer, type Answer } from '../base/http/answer.ts';
import type { DrainBounds } from '../base/http/drain.ts';
import type { HttpExchange, HttpRequest } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { rateFields } from '../model/problem.ts';
import { corsHeaders, type CorsSetting } from './cors.ts';
import type { ApiContext } from './operation.ts';
import { baseUrlAt } from './operations.ts';
import { retirementHeaders, type Retirement } from './retirement.ts';

/** How many bytes of an unused body are drained. */
export const DRAIN_BYTES_MAX = 64 * 1024 * 1024;

/** Time limit for draining, in real time. */
export const DRAIN_MS_MAX = 10_000;

export interface Responder {
  /**
   * Sends the answer with the headers common to all answers of the API. Never throws: if writing fails, it logs the
   * error and ends the response without an answer. `retirement` adds the headers of a deprecated operation.
   */
  send(exchange: HttpExchange, context: ApiContext, answer: Answer, retirement?: Retirement): void;
}

export function createResponder(clock: Clock, log: Log, cors: () => CorsSetting): Responder {
  const bounds: DrainBounds = {
    bytesMax: DRAIN_BYTES_MAX,
    timer: (onTime) => clock.realTimer(DRAIN_MS_MAX, onTime),
  };

  function fieldsOf(request: HttpRequest, { rate, origin }: ApiContext, answer: Answer, retirement?: Retirement) {
    // Rate headers and pets change with every request, so caches must not store them.
    const fields = [...rateFields(rate), 'Cache-Control', 'no-store'];
    if (answer.body !== null) {
      fields.push('Content-Type', 'application/json', 'Content-Length', answer.body.length);
    }
    if (retirement !== undefined) fields.push(...retirementHeaders(retirement, baseUrlAt(origin)));
    for (const value of corsHeaders(cors(), request)) fields.push(value);
    for (const value of answer.headers) fields.push(value);
    return fields;
  }

  return {
    send(exchange, context, answer, retirement) {
      const { request, response } = exchange;
      try {
        sendAnswer(exchange, { ...answer, headers: fieldsOf(request, context, answer, retirement) }, bounds);
      } catch (error) {
        log.error('An answer could not be written', { error, status: answer.status, path: request.url });
        response.destroy();
      }
    },
  };
}
