import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../base/clock.ts';
import type { Dataset } from '../base/dataset.ts';
import type { Log } from '../base/log.ts';
import { noContent } from './answer.ts';
import { isPreflight, preflightHeaders, type CorsSetting } from './cors.ts';
import {
  attachExchange,
  type ApiRequest,
  type ApiRequestContext,
  type ApiResponse,
  type Exchange,
} from './exchange.ts';
import { refused, stopping, thrown } from './failures.ts';
import { createDocuments } from './documents.ts';
import { createHandlers } from './handlers.ts';
import { BASE_PATH, DOCUMENT_PATH, OPERATIONS, type OperationId } from './operations.ts';
import { createPaths } from './paths.ts';
import { createResponder } from './responder.ts';
import { createRouting, type Endpoint } from './routing.ts';
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
  close(): Promise<void>;
}

export interface ApiOptions {
  clock: Clock;
  log: Log;
  pets: PetSource;
  orders: OrderSource;
  /** Asked for every answer, so that a changed setting applies at once. */
  cors: () => CorsSetting;
}

export async function createApi({ clock, log, pets, orders, cors }: ApiOptions): Promise<Api> {
  const handlers = createHandlers({ pets, orders });
  const endpoints: Endpoint[] = Object.values(OPERATIONS).map((operation) => ({
    operation,
    handler: handlers[operation.operationId satisfies OperationId],
  }));
  const paths = createPaths([...Object.values(OPERATIONS), { method: 'GET', path: DOCUMENT_PATH }]);
  const documentAt = createDocuments(Object.values(OPERATIONS));
  const responder = createResponder(clock, log, cors);
  const probes = new AsyncLocalStorage<ApiRequestContext>();
  let closed = false;

  const app = await createRouting({
    clock,
    log,
    responder,
    paths,
    endpoints,
    documentAt,
    ownExchange(request, reply) {
      const context = probes.getStore();
      if (context === undefined) throw new Error('A request reached the router without its exchange.');
      return { request: request.raw, response: reply.raw, context, retirement: null };
    },
  });

  function answer(exchange: Exchange): void {
    const { request, context } = exchange;
    if (isPreflight(request)) {
      const methods = paths.methodsFor(request.url ?? '');
      responder.send(exchange, noContent(preflightHeaders(cors(), request, methods)));
    } else if (context.decision.refusal !== null) {
      responder.send(exchange, refused(context.decision.refusal));
    } else if (closed) {
      responder.send(exchange, stopping());
    } else {
      attachExchange(exchange);
      app.routing(request as Parameters<typeof app.routing>[0], exchange.response as Parameters<typeof app.routing>[1]);
    }
  }

  return {
    handle(request, response, context) {
      const exchange: Exchange = { request, response, context, retirement: null };
      try {
        answer(exchange);
      } catch (error) {
        responder.send(exchange, thrown(error, exchange, log));
      }
    },
    isPreflight,
    async probe(dataset) {
      if (closed) throw new Error('The API is closed.');
      const context: ApiRequestContext = {
        dataset,
        authorized: true,
        decision: PROBE_DECISION,
        baseUrl: PROBE_BASE_URL,
      };
      // Fastify begins an injected request when its promise is awaited, so that must happen inside.
      const reply = await probes.run(context, async () => await app.inject({ url: `${BASE_PATH}/pets?limit=1` }));
      if (reply.statusCode !== 200) {
        throw new Error(`The API answered ${reply.statusCode}: ${reply.json<{ message: string }>().message}`);
      }
    },
    document: (baseUrl) => documentAt(baseUrl).text,
    async close() {
      closed = true;
      await app.close();
    },
  };
}

/** A probe is nobody's request: it is not counted, and nobody sees its headers. */
const PROBE_DECISION = { refusal: null, rate: { limit: 0, remaining: 0, resetSeconds: 0 } } as const;
const PROBE_BASE_URL = `http://localhost${BASE_PATH}`;
