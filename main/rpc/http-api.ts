import type { IncomingMessage, ServerResponse } from 'node:http';
import { createProcedureClient, type AnyProcedure } from '@orpc/server';
import { isAsyncIteratorObject } from '@orpc/shared';
import type { Clock, Timer } from '../base/clock.ts';
import { FORM_HEADER, inFormOf } from '../base/system/own-command.ts';
import type { Log } from '../base/log.ts';
import { didYouMean } from '../contract/issues.ts';
import { notFound, VivariumError } from '../contract/errors.ts';
import { drainRefused, readJsonBody } from './body.ts';
import {
  isCatalogueError,
  jsonInTurns,
  READ,
  requireMethod,
  sendFailure,
  sendJson,
  toFailure,
  COMMON_HEADERS,
} from './responses.ts';
import { type ControlRouter, IDEMPOTENCY_HEADER } from './router.ts';
import { readBearerToken } from '../base/http/message.ts';
import { z } from 'zod';
import { contract } from '../contract/index.ts';
import { nextTurn } from '../base/turns.ts';

/** Heartbeat interval; below the half minute after which proxies and clients drop silent connections. */
export const KEEP_ALIVE_MS = 15_000;

/**
 * Sends the values of `stream` as server-sent events (WHATWG HTML §9.2): `event: message` with JSON data for each,
 * `event: done` at the end, `event: error` with `{code, message, …}` on failure. Applies the client's backpressure to
 * the stream. Resolves at the end of the stream or connection; `signal` ends it.
 */
async function sendEventStream(
  response: ServerResponse,
  stream: AsyncIterator<unknown>,
  { clock, signal }: { clock: Pick<Clock, 'realTimer'>; signal: AbortSignal },
): Promise<void> {
  response.writeHead(200, { ...COMMON_HEADERS, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  // A comment flushes the headers; the first event may take a long time.
  response.write(': watching\n\n');
  const alive = keepAlive(response, clock);
  try {
    await pump(response, stream, signal);
  } finally {
    alive.cancel();
    response.end();
    // Not awaited, because a stream in the middle of a step may take long to end.
    void Promise.resolve(stream.return?.()).catch(() => undefined);
  }
}

async function pump(response: ServerResponse, stream: AsyncIterator<unknown>, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      const result = await untilAborted(stream.next(), signal);
      if (result === null || result.done === true) break;
      await write(response, frame('message', result.value), signal);
    }
    await write(response, 'event: done\n\n', signal);
  } catch (error) {
    await write(response, frame('error', toFailure(error).body), signal);
  }
}

const frame = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (response.destroyed) return;
  if (response.write(text)) {
    // Yields to the event loop, which a stream of ready values would otherwise block.
    await nextTurn();
  } else {
    await untilAborted(new Promise((resolve) => response.once('drain', resolve)), signal);
  }
}

function keepAlive(response: ServerResponse, clock: Pick<Clock, 'realTimer'>): Timer {
  const scheduleHeartbeat = (): Timer =>
    clock.realTimer(KEEP_ALIVE_MS, () => {
      response.write(': still watching\n\n');
      timer = scheduleHeartbeat();
    });
  let timer = scheduleHeartbeat();
  return { cancel: () => timer.cancel() };
}

/**
 * Resolves with the result of `work`, or null if `signal` aborts first. `Promise.race` against one abort promise would
 * leak memory for every value, and a stream may last for days.
 */
function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const end = () => resolve(null);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

export const API_PREFIX = '/api/';
const OPENAPI_PATH = '/api/openapi.json';

export interface HttpApiOptions {
  router: ControlRouter;
  clock: Pick<Clock, 'realTimer'>;
  log: Log;
  isToken: (candidate: string) => boolean;
  version: string;
}

/** Serves `POST /api/<namespace>/<procedure>` with the JSON input as body, and the OpenAPI document. */
export function createHttpApi({ router, clock, log, isToken, version }: HttpApiOptions) {
  const procedures = listProcedures(router);
  const streaming = new Set<AbortController>();
  let document: Promise<Buffer> | null = null;

  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (path === OPENAPI_PATH) return describe(request, response);
    const name = path.slice(API_PREFIX.length).split('/').join('.');
    const procedure = procedures.get(name);
    if (procedure === undefined) {
      throw notFound(
        `There is no procedure "${name.slice(0, 100)}".${didYouMean(name, procedures.keys())} ${OPENAPI_PATH} lists them all.`,
      );
    }
    requireMethod(request, response, ['POST']);
    const token = readBearerToken(request.headers.authorization);
    if (token === null || !isToken(token)) throw unauthorized();
    return call(procedure, name, request, response);
  }

  async function call(
    procedure: AnyProcedure,
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const input = await readJsonBody(request, response);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const idempotencyKey = request.headers[IDEMPOTENCY_HEADER]?.toString();
    const invoke = createProcedureClient(procedure, { path: name.split('.'), context: { idempotencyKey } });
    const output: unknown = await inFormOf(request.headers[FORM_HEADER]?.toString(), () =>
      invoke(input, { signal: gone.signal }),
    );
    if (!isAsyncIteratorObject(output)) return sendJson(response, 200, await jsonInTurns(output));
    streaming.add(gone);
    try {
      await sendEventStream(response, output, { clock, signal: gone.signal });
    } finally {
      streaming.delete(gone);
    }
  }

  async function describe(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requireMethod(request, response, READ);
    // Encoded once: any client may request its 450 kB, without a token and without reading them.
    document ??= generateOpenApi(version).then((text) => Buffer.from(text));
    try {
      sendJson(response, 200, await document);
    } catch (error) {
      document = null;
      throw error;
    }
  }

  return {
    /** Answers a request whose path begins with `/api/`; its Host and Origin have been checked. Never rejects. */
    async handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
      try {
        await answer(request, response, path);
      } catch (error) {
        if (request.errored !== null || response.destroyed) return;
        if (!(error instanceof VivariumError) && !isCatalogueError(error)) {
          log.error('A request to the control port failed', { path, error });
        }
        sendFailure(response, error, request.complete ? {} : { Connection: 'close' });
        drainRefused(request, clock);
      }
    },
    streams: (): number => streaming.size,
    stop(): void {
      for (const stream of streaming) stream.abort();
    },
  };
}

function listProcedures(router: ControlRouter): Map<string, AnyProcedure> {
  const namespaces = Object.entries(router as unknown as Record<string, Record<string, AnyProcedure>>);
  return new Map(
    namespaces.flatMap(([namespace, procedures]) =>
      Object.entries(procedures).map(([name, procedure]) => [`${namespace}.${name}`, procedure] as const),
    ),
  );
}

const unauthorized = (): VivariumError =>
  new VivariumError(
    'unauthorized',
    'Send the token as "Authorization: Bearer <token>"; it is in runtime.json in the data folder of this Vivarium.',
  );

/**
 * Generates the OpenAPI 3.1 document of the contract, as JSON text. Loads the generator on first use: most runs never
 * need it.
 */
export async function generateOpenApi(version: string): Promise<string> {
  const { OpenAPIGenerator } = await import('@orpc/openapi');
  const generator = new OpenAPIGenerator({ schemaConverters: [zodConverter] });
  const document = await generator.generate(contract, {
    info: {
      title: 'Vivarium control',
      version,
      description: 'All procedures of a running Vivarium. Token and port are in `runtime.json` in its data folder.',
    },
    servers: [{ url: '/api' }],
    tags: Object.keys(contract).map((name) => ({ name })),
    security: [{ token: [] }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    customErrorResponseBodySchema: (errors) => failureSchema(errors.map(([code]) => code)),
  });
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    if (item?.post !== undefined) item.post.tags = [path.split('/')[1] ?? ''];
  }
  return JSON.stringify(document);
}

const failureSchema = (codes: readonly string[]): object =>
  jsonSchemaOf(
    z.object({
      code: z.enum(codes),
      message: z.string(),
      issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
    'input',
  );

function jsonSchemaOf(type: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _dialect, ...json } = z.toJSONSchema(type, { io, unrepresentable: 'any' });
  return json;
}

const zodConverter = {
  condition: (schema: unknown) => schema instanceof z.ZodType,
  convert(schema: unknown, { strategy }: { strategy: 'input' | 'output' }): [required: boolean, schema: object] {
    const type = schema as z.ZodType;
    return [!type.safeParse(undefined).success, jsonSchemaOf(type, strategy)];
  },
};
