import type { Clock } from '../base/clock.ts';
import type { Dataset } from '../base/dataset.ts';
import type { Log } from '../base/log.ts';
import { noContent, success, type Answer } from './answer.ts';
import { readBody } from './body.ts';
import { isPreflight, preflightHeaders, type CorsSetting } from './cors.ts';
import { createDocuments } from './documents.ts';
import type { ApiRequest, ApiRequestContext, ApiResponse, Exchange } from './exchange.ts';
import { failureOf, gone, refused, stopping, thrown, unauthorized } from './failures.ts';
import type { Endpoint, Sent } from './operation.ts';
import { BASE_PATH, OPERATIONS } from './operations.ts';
import { createPages } from './pages.ts';
import { createResponder } from './responder.ts';
import { createRoutes } from './routes.ts';
import type { OrderSource, PetSource } from './sources.ts';

/** The Animal Store API, mounted in the process of whoever listens. */
export interface Api {
  /** Answers one request of HTTP/1.1 or HTTP/2. Never throws, always ends the response of a client that is still there. */
  handle(request: ApiRequest, response: ApiResponse, context: ApiRequestContext): void;
  /** A CORS preflight: `handle` answers it without an API key and whatever the decision, so it must not be counted. */
  isPreflight(request: ApiRequest): boolean;
  /** Asks the API in-process for one pet of the dataset; rejects with an Error that says why it does not answer. */
  probe(dataset: Dataset): Promise<void>;
  /** The OpenAPI document as it is served at a base address: its text. */
  document(baseUrl: string): string;
  /** From now on everything is answered 503. */
  close(): void;
}

export interface ApiOptions {
  clock: Clock;
  log: Log;
  pets: PetSource;
  orders: OrderSource;
  /** Asked for every answer, so that a changed setting applies at once. */
  cors: () => CorsSetting;
}

export function createApi({ clock, log, pets, orders, cors }: ApiOptions): Api {
  const operations: readonly Endpoint[] = Object.values(OPERATIONS);
  const sources = { pets, orders, pages: createPages(pets) };
  const routes = createRoutes(operations);
  const documentAt = createDocuments(operations);
  const responder = createResponder(clock, log, cors);
  let closed = false;

  function answer(exchange: Exchange): void {
    const { request, context } = exchange;
    const { method = '', url = '' } = request;
    if (isPreflight(request)) {
      return responder.send(exchange, noContent(preflightHeaders(cors(), request, routes.methodsAt(url))));
    }
    if (context.decision.refusal !== null) return responder.send(exchange, refused(context.decision.refusal));
    if (closed) return responder.send(exchange, stopping());
    const found = routes.find(method, url, context.baseUrl);
    if (found.kind === 'none') return responder.send(exchange, found.answer);
    if (found.kind === 'document') return responder.send(exchange, success(200, documentAt(context.baseUrl)));
    perform(found.operation, found.sent, exchange);
  }

  function perform(operation: Endpoint, sent: Omit<Sent, 'body'>, exchange: Exchange): void {
    const { request, context } = exchange;
    const send = (ready: Answer): void => responder.send(exchange, ready, operation.retirement);
    const fail = (error: unknown): void => send(failureOf(thrown(error, request, log)));
    const call = (body: string): void => {
      try {
        const ready = operation.call(sources, context, { ...sent, body });
        if (ready instanceof Promise) ready.then(send, fail);
        else send(ready);
      } catch (error) {
        fail(error);
      }
    };
    const { retirement } = operation;
    if (!context.authorized) send(unauthorized(request));
    else if (retirement !== undefined && clock.now() >= retirement.sunsetAtMs) send(gone(retirement));
    else if (operation.body === undefined) call('');
    else readBody(request).then(call, fail);
  }

  return {
    handle(request, response, context) {
      const exchange: Exchange = { request, response, context };
      try {
        answer(exchange);
      } catch (error) {
        responder.send(exchange, failureOf(thrown(error, request, log)));
      }
    },
    isPreflight,
    async probe(dataset) {
      if (closed) throw new Error('The API is closed.');
      const context = { dataset, authorized: true, decision: PROBE_DECISION, baseUrl: PROBE_BASE_URL };
      try {
        await OPERATIONS.listPets.call(sources, context, { query: 'limit=1', params: {}, body: '' });
      } catch (error) {
        const { status, message } = thrown(error, { method: 'GET', url: `${BASE_PATH}/pets?limit=1` }, log);
        throw new Error(`The API answered ${status}: ${message}`, { cause: error });
      }
    },
    document: (baseUrl) => documentAt(baseUrl).text,
    close() {
      closed = true;
    },
  };
}

/** A probe is not a client's request: it is not counted, and its answer has no headers. */
const PROBE_DECISION = { refusal: null, rate: { limit: 0, remaining: 0, resetSeconds: 0 } } as const;
const PROBE_BASE_URL = `http://localhost${BASE_PATH}`;
