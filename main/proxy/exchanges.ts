import type { ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { writeAnswer, type Answer } from './answer.ts';
import { cutExchange, type Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import type { ErrorPages } from './error-pages.ts';
import { summarize, type Exchange, type ExchangeSummary } from './exchange.ts';
import { surveyHeaders } from './header-section.ts';
import { createPipeline, type PipelineServices } from './pipeline.ts';
import { failed } from './problem.ts';
import type { RouteTable } from './route-table.ts';
import type { ProxyRequest, ProxyResponse } from './target.ts';

/** The life of every request, from its header section to the end of its response. */
export interface Exchanges {
  /**
   * Takes a request through the stages. `stream` is null over HTTP/1.x. `awaitsContinue`: the client holds its body
   * back until it is told to go on.
   */
  serve(
    request: ProxyRequest,
    response: ProxyResponse,
    stream: ServerHttp2Stream | null,
    awaitsContinue: boolean,
  ): void;
  /** Ends the bookkeeping of an exchange; idempotent. */
  finish(exchange: Exchange): void;
}

export interface ExchangesOptions extends Omit<PipelineServices, 'onTargetError'> {
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  pages: ErrorPages;
  connections: Connections;
  /** The route table of the moment. */
  table: () => RouteTable;
  /** Whether connections are to end with the response that is on its way. */
  stopping: () => boolean;
  onExchange: ((summary: ExchangeSummary) => void) | undefined;
}

export function createExchanges(options: ExchangesOptions): Exchanges {
  const { clock, log, pages, connections, onExchange, limits } = options;
  const pipeline = createPipeline({ ...options, onTargetError: fail });
  const onClientGone = (error: Error): void => log.debug('A client went away during its request', { error });

  function begin(connection: Connection, sent: Pick<Exchange, 'request' | 'response' | 'stream' | 'awaitsContinue'>) {
    const exchange: Exchange = {
      connection,
      request: sent.request,
      response: sent.response,
      stream: sent.stream,
      table: options.table(),
      startedMs: clock.monotonic(),
      endedMs: null,
      awaitsContinue: sent.awaitsContinue,
      headers: surveyHeaders(sent.request.rawHeaders),
      stage: 'listener',
      answered: false,
      authority: null,
      authorityText: '',
      route: null,
      keyId: null,
      caller: null,
      decision: null,
    };
    connections.begin(exchange);
    return exchange;
  }

  function write(exchange: Exchange, answer: Answer): void {
    writeAnswer(exchange, answer, pages, limits.drainBytesMax);
  }

  /** What went wrong behind the stages costs this one request only. */
  function fail(exchange: Exchange, error: unknown): void {
    log.error('A request failed', { hostname: exchange.authority?.host, stage: exchange.stage, error });
    const { response } = exchange;
    if (response.destroyed || response.writableEnded) return;
    if (response.headersSent) {
      cutExchange(exchange);
      return;
    }
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    write(exchange, { kind: 'problem', problem: failed() });
  }

  function finish(exchange: Exchange): void {
    if (connections.end(exchange)) onExchange?.(summarize(exchange, clock.monotonic()));
  }

  return {
    serve(request, response, stream, awaitsContinue) {
      const connection = connections.of(stream === null ? request.socket : (stream.session ?? stream));
      if (connection === undefined) {
        request.destroy();
        return;
      }
      const exchange = begin(connection, { request, response, stream, awaitsContinue });
      response.on('close', () => finish(exchange));
      response.on('error', onClientGone);
      // Of HTTP/1.x, Node reports only errors that somebody listens to.
      if (stream !== null) request.on('error', onClientGone);
      else if (options.stopping()) response.setHeader('Connection', 'close');
      try {
        const answer = pipeline(exchange);
        if (answer !== null) write(exchange, answer);
      } catch (error) {
        fail(exchange, error);
      }
    },
    finish,
  };
}
