import { platformHostname } from '../base/config.ts';
import type { Clock } from '../base/clock.ts';
import type { Dataset } from '../model/pet.ts';
import { type Answer, noContent, success, sendAnswer } from '../base/http/answer.ts';
import {
  type BodiedRequest,
  type HttpExchange,
  type HttpRequest,
  hasBody,
  type DrainBounds,
} from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { problemAnswer, type Problem, rateFields } from '../model/problem.ts';
import type { Route } from '../model/route.ts';
import {
  corsHeaders,
  isPreflight,
  preflightHeaders,
  type CorsSetting,
  unsupportedBody,
  retirementHeaders,
  type Retirement,
} from './headers.ts';
import { type ApiServer, createDocuments } from './openapi.ts';
import { failureOf, gone, stopping, thrown, unauthorized } from './failures.ts';
import type { ApiContext, Endpoint, Sent } from './operation.ts';
import { BASE_PATH, baseUrlAt, OPERATIONS } from './operations.ts';
import { createPages, type OrderSource, type PetSource } from './pages.ts';
import { createRoutes } from './routes.ts';
import { isUtf8 } from 'node:buffer';
import { invalidRequest, VivariumError } from '../contract/errors.ts';

/** Limit on bodies: 1 MiB, hundreds of times the size of a pet with the longest name. */
export const BODY_BYTES_MAX = 1024 * 1024;

const FIRST_BYTES = 4 * 1024;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Reads the request body as text; empty if there is none. If the client disconnects, the promise never settles.
 * @throws VivariumError 415 if the headers do not declare plain JSON in UTF-8, 413 if Content-Length or the actual size
 *   exceeds BODY_BYTES_MAX, 400 if the bytes are not UTF-8.
 */
async function readBody(request: HttpRequest): Promise<string> {
  const bodied = hasBody(request);
  const declared = bodied || request.headers['content-type'] !== undefined;
  const unsupported = declared ? unsupportedBody(request.headers) : null;
  if (unsupported !== null) throw unsupported;
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  // An HTTP/1.1 request without a body emits no events.
  if (!bodied) return '';
  const bytes = await collect(request);
  if (bytes === null) throw tooLarge();
  if (!isUtf8(bytes)) throw invalidRequest('The body is not valid UTF-8; send JSON in UTF-8.');
  const text = bytes.toString('utf8');
  if (text.startsWith(BYTE_ORDER_MARK)) {
    throw invalidRequest(
      'The body begins with a byte order mark, which JSON must not have (RFC 8259 §8.1); leave it out.',
    );
  }
  return text;
}

/**
 * Collects the body, or resolves with null once it exceeds the limit. Chunks are copied into one growing buffer: a body
 * sent in one-byte chunks would otherwise take a hundred times its size.
 */
function collect(request: BodiedRequest): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;

  const stop = (): void => {
    request.off('data', onData).off('end', onEnd).off('close', stop);
  };
  const onData = (chunk: Buffer): void => {
    const total = length + chunk.length;
    if (total > BODY_BYTES_MAX) {
      stop();
      resolve(null);
      return;
    }
    if (total > buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(total, Math.min(buffer.length * 2, BODY_BYTES_MAX), FIRST_BYTES));
      buffer.copy(grown, 0, 0, length);
      buffer = grown;
    }
    chunk.copy(buffer, length);
    length = total;
  };
  const onEnd = (): void => {
    stop();
    resolve(buffer.subarray(0, length));
  };

  // A reset emits both error and close; the close handler cleans up.
  request.on('error', () => undefined);
  request.on('data', onData).once('end', onEnd).once('close', stop);
  return promise;
}

function tooLarge(): VivariumError {
  return new VivariumError(
    'payload_too_large',
    `The body is larger than ${BODY_BYTES_MAX.toLocaleString('en')} bytes; a pet needs far less.`,
  );
}

/** The results of the stages for a request to the API. */
interface ServedContext extends ApiContext {
  route: Dataset & Pick<Route, 'slug'>;
}

interface ApiOptions {
  clock: Clock;
  log: Log;
  pets: PetSource;
  orders: OrderSource;
  /** Called for every answer, so a changed setting applies immediately. */
  cors: () => CorsSetting;
}

/** The Animal Store API, mounted in the process that listens. */
export function createApi({ clock, log, pets, orders, cors }: ApiOptions) {
  const operations: readonly Endpoint[] = Object.values(OPERATIONS);
  const sources = { pets, orders, pages: createPages(pets) };
  const routes = createRoutes(operations);
  const documentAt = createDocuments(operations);
  const responder = createResponder(clock, log, cors);
  let closed = false;

  function answer(exchange: HttpExchange, context: ServedContext): void {
    const { request } = exchange;
    const { method = '', url = '' } = request;
    const send = (ready: Answer): void => responder.send(exchange, context, ready);
    if (context.preflight) return send(noContent(preflightHeaders(cors(), request, routes.methodsAt(url))));
    if (closed) return send(problemAnswer(stopping()));
    const found = routes.find(method, url, context.origin);
    if (found.kind === 'none') return send(found.answer);
    if (found.kind === 'document') return send(success(200, documentAt(serversAt(context))));
    perform(found.operation, found.sent, exchange, context);
  }

  function perform(operation: Endpoint, sent: Omit<Sent, 'body'>, exchange: HttpExchange, context: ApiContext): void {
    const { request } = exchange;
    const { retirement } = operation;
    const send = (ready: Answer): void => responder.send(exchange, context, ready, retirement);
    const refuse = (found: Problem): void => send(problemAnswer(found));
    const fail = (error: unknown): void => refuse(failureOf(thrown(error, request, log)));
    const call = (body: string): void => {
      try {
        const ready = operation.call(sources, context, { ...sent, body });
        if (ready instanceof Promise) ready.then(send, fail);
        else send(ready);
      } catch (error) {
        fail(error);
      }
    };
    if (context.keyId === null) send(unauthorized(request));
    else if (retirement !== undefined && clock.now() >= retirement.sunsetAtMs) refuse(gone(retirement));
    else if (operation.body === undefined) call('');
    else readBody(request).then(call, fail);
  }

  return {
    /** Answers one request. Never throws, and always ends the response unless the client has disconnected. */
    handle(exchange: HttpExchange, context: ServedContext) {
      try {
        answer(exchange, context);
      } catch (error) {
        responder.send(exchange, context, problemAnswer(failureOf(thrown(error, exchange.request, log))));
      }
    },
    /** Answers with a problem found by the proxy, in the API's own format. */
    refuse: (exchange: HttpExchange, context: ApiContext, problem: Problem) =>
      responder.send(exchange, context, problemAnswer(problem)),
    /** Whether this is a CORS preflight, which `handle` answers without an API key and which must not be counted. */
    isPreflight,
    /** The CORS headers of an ordinary answer, flat. */
    corsFields: (request: HttpRequest): readonly string[] => corsHeaders(cors(), request),
    /** Requests one pet of the dataset in-process; rejects with an Error that gives the reason if the API fails. */
    async probe(dataset: Dataset) {
      if (closed) throw new Error('The API is closed.');
      try {
        await OPERATIONS.listPets.call(
          sources,
          { ...PROBE, route: dataset },
          { query: 'limit=1', params: {}, body: '' },
        );
      } catch (error) {
        const { status, message } = thrown(error, { method: 'GET', url: `${BASE_PATH}/pets?limit=1` }, log);
        throw new Error(`The API answered ${status}: ${message}`, { cause: error });
      }
    },
    /** The text of the OpenAPI document, as served at the first of these base addresses. */
    document: (servers: readonly ApiServer[]): string => documentAt(servers).text,
    /** Answers 503 to every request from now on. */
    close() {
      closed = true;
    },
  };
}

/** The base address that was asked, then that of the other environment at the platform's hostname and the same port. */
function serversAt({ route, origin }: ServedContext): ApiServer[] {
  const other = route.environment === 'production' ? 'staging' : 'production';
  const url = new URL(origin);
  url.hostname = platformHostname(route.slug, other);
  return [
    { url: baseUrlAt(origin), description: route.environment },
    { url: baseUrlAt(url.origin), description: other },
  ];
}

/** A probe is not a client request: it is not counted, and its answer has no headers. */
const PROBE = {
  keyId: null,
  rate: { limit: 0, remaining: 0, resetAtMs: 0 },
  preflight: false,
  origin: 'http://localhost',
};

/** How many bytes of an unused body are drained. */
export const DRAIN_BYTES_MAX = 64 * 1024 * 1024;

/** Time limit for draining, in real time. */
export const DRAIN_MS_MAX = 10_000;

function createResponder(clock: Clock, log: Log, cors: () => CorsSetting) {
  const bounds: DrainBounds = { bytesMax: DRAIN_BYTES_MAX, timer: (onTime) => clock.realTimer(DRAIN_MS_MAX, onTime) };

  function fieldsOf(request: HttpRequest, { rate, origin }: ApiContext, answer: Answer, retirement?: Retirement) {
    // Rate headers and pets change with every request, so caches must not store them.
    const fields = [...rateFields(rate), 'Cache-Control', 'no-store'];
    if (answer.body !== null) fields.push('Content-Type', 'application/json', 'Content-Length', answer.body.length);
    if (retirement !== undefined) fields.push(...retirementHeaders(retirement, baseUrlAt(origin)));
    for (const value of corsHeaders(cors(), request)) fields.push(value);
    for (const value of answer.headers) fields.push(value);
    return fields;
  }

  return {
    /**
     * Sends the answer with the headers common to all answers of the API. Never throws: if writing fails, it logs the
     * error and ends the response without an answer. `retirement` adds the headers of a deprecated operation.
     */
    send(exchange: HttpExchange, context: ApiContext, answer: Answer, retirement?: Retirement) {
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
