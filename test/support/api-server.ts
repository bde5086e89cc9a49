import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { createApi } from '../../main/api/api.ts';
import type { HttpExchange } from '../../main/base/http/message.ts';
import { type LogLine, createLog } from '../../main/base/log.ts';
import { refusedByLimit } from '../../main/model/problem.ts';
import type { Decision } from '../../main/model/rate-decision.ts';
import { afterAll, onTestFinished } from 'vitest';
import { createFakeClock } from './fake-clock.ts';
import { createMemoryStore } from './api-memory.ts';

export const DATASET = { projectId: 'prj_demo', environment: 'production', slug: 'demo' } as const;
const ORIGIN = 'http://demo.vivarium.localhost:8080';
export const API_KEY = 'viv_0123456789abcdefghijABCDEFGHIJ01';
export const AUTHORIZATION = { authorization: `Bearer ${API_KEY}` };
export const RATE = { limit: 60, remaining: 41, resetAtMs: 1_795_165_259_001 };

/**
 * The API behind real sockets, with a simple stand-in for the proxy: one valid key, and a rate decision that the test
 * sets.
 */
export type ApiServer = Awaited<ReturnType<typeof launch>>;

/** Closed after the test. */
export async function startApiServer(): Promise<ApiServer> {
  const server = await launch();
  onTestFinished(server.close);
  return server;
}

/** The same for all tests of a file; call it while the file is loaded. */
export async function shareApiServer(): Promise<ApiServer> {
  const server = await launch();
  afterAll(server.close);
  return server;
}

async function launch() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const lines: LogLine[] = [];
  const log = createLog(clock, (line) => lines.push(line), 'debug');
  let cors: '*' | readonly string[] = '*';
  let decision: Decision = { refusal: null, rate: RATE };
  const api = createApi({ clock, log, pets: store.pets, orders: store.orders, cors: () => cors });

  const serve = (exchange: HttpExchange): void => {
    const { request } = exchange;
    const preflight = api.isPreflight(request);
    const keyId = request.headers.authorization === AUTHORIZATION.authorization ? 'key_demo' : null;
    const context = { route: DATASET, keyId, rate: decision.rate, preflight, origin: ORIGIN };
    if (decision.refusal === null || preflight) api.handle(exchange, context);
    else api.refuse(exchange, context, refusedByLimit(decision.refusal));
  };
  const server = createServer((request, response) => serve({ request, response }));
  const http2Server = createHttp2Server((request, response) => serve({ request, response }));
  const sessions = new Set<{ destroy(): void }>();
  http2Server.on('session', (session) => sessions.add(session));
  await Promise.all([
    once(server.listen(0, '127.0.0.1'), 'listening'),
    once(http2Server.listen(0, '127.0.0.1'), 'listening'),
  ]);

  return {
    api,
    clock,
    store,
    lines,
    server,
    http2Server,
    port: (server.address() as AddressInfo).port,
    http2Port: (http2Server.address() as AddressInfo).port,
    decide: (next: Decision) => {
      decision = next;
    },
    cors: (next: '*' | readonly string[]) => {
      cors = next;
    },
    async close() {
      server.closeAllConnections();
      for (const session of sessions) session.destroy();
      await Promise.all([
        new Promise((resolve) => server.close(resolve)),
        new Promise((resolve) => http2Server.close(resolve)),
      ]);
      api.close();
    },
  };
}

export interface ApiReply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface ApiCall {
  method?: string;
  path: string;
  /** Merged with the API key; null removes a header. */
  headers?: Record<string, string | null>;
  body?: string | Buffer;
}

function headersOf({ headers = {}, body }: ApiCall): Record<string, string> {
  const merged: Record<string, string | null> = {
    ...AUTHORIZATION,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  return Object.fromEntries(Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** One request over HTTP/1.1 with a valid API key, unless its headers say otherwise. */
export async function call(port: number, options: ApiCall): Promise<ApiReply> {
  const { method = 'GET', path, body } = options;
  const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: headersOf(options), agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

/** The same over HTTP/2 without TLS, in a separate session. */
export async function callHttp2(port: number, options: ApiCall): Promise<ApiReply> {
  const { method = 'GET', path, body } = options;
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request(
      { ':method': method, ':path': path, ...headersOf(options) },
      { endStream: body === undefined },
    );
    if (body !== undefined) stream.end(body);
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    return { status: headers[':status'], headers, text: await text(stream) };
  } finally {
    session.close();
  }
}
