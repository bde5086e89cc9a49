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

/** How much of a body that nobody wants is read and thrown away. */
export const DRAIN_BYTES_MAX = 64 * 1024 * 1024;

/** How long, in real time. */
export const DRAIN_MS_MAX = 10_000;

export interface Responder {
  /**
   * Writes the answer with the headers that every answer of the API has. Never throws: what cannot be written ends the
   * response without an answer, and the log says why. `retirement` is that of the operation: every answer of a
   * deprecated one says so.
   */
  send(exchange: HttpExchange, context: ApiContext, answer: Answer, retirement?: Retirement): void;
}

export function createResponder(clock: Clock, log: Log, cors: () => CorsSetting): Responder {
  const bounds: DrainBounds = {
    bytesMax: DRAIN_BYTES_MAX,
    timer: (onTime) => clock.realTimer(DRAIN_MS_MAX, onTime),
  };

  function fieldsOf(request: HttpRequest, { rate, origin }: ApiContext, answer: Answer, retirement?: Retirement) {
    // The rate headers are of this moment, and so are the pets.
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
