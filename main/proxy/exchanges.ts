import { type IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Log } from '../base/log.ts';
import { writeAnswer, type Answer } from './answer.ts';
import { watch } from './capture.ts';
import { cutExchange, type Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import type { ErrorPages } from './error-pages.ts';
import type { ExchangeSummary } from '../model/exchange-record.ts';
import { summarize, type Exchange } from './exchange.ts';
import { surveyHeaders } from './header-section.ts';
import { createPipeline, type PipelineServices } from './pipeline.ts';
import { failed } from './problem.ts';
import type { RouteTable } from './route-table.ts';
import type { ProxyRequest, ProxyResponse } from './target.ts';

/** `heads`: header sections, sizes and times; `bodies`: the first bytes of bodies, too. */
export type Recording = 'off' | 'heads' | 'bodies';

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
  /**
   * Takes a request to switch to WebSocket through the same stages. One that is not let through is answered, and its
   * connection closed: Node has let go of it.
   */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Ends the bookkeeping of an exchange; idempotent. */
  finish(exchange: Exchange): void;
}

type Sent = Pick<Exchange, 'request' | 'response' | 'stream' | 'awaitsContinue' | 'upgrade'>;

export interface ExchangesOptions extends Omit<PipelineServices, 'onTargetError' | 'onTargetAnswer'> {
  log: Log;
  pages: ErrorPages;
  connections: Connections;
  /** The route table of the moment. */
  table: () => RouteTable;
  /** Whether connections are to end with the response that is on its way. */
  stopping: () => boolean;
  /** How much of an exchange its summary has a record of. */
  recording: () => Recording;
  onExchange: ((summary: ExchangeSummary) => void) | undefined;
}

export function createExchanges(options: ExchangesOptions): Exchanges {
  const { clock, log, pages, connections, onExchange, limits } = options;
  const pipeline = createPipeline({ ...options, onTargetError: fail, onTargetAnswer: give });
  const monotonic = (): number => clock.monotonic();
  const onClientGone = (error: Error): void => log.debug('A client went away during its request', { error });

  function begin(connection: Connection, sent: Sent) {
    const startedMs = clock.monotonic();
    const exchange: Exchange = {
      connection,
      request: sent.request,
      response: sent.response,
      stream: sent.stream,
      table: options.table(),
      startedMs,
      seen: null,
      awaitsContinue: sent.awaitsContinue,
      upgrade: sent.upgrade,
      tunnelled: false,
      activeMs: startedMs,
      capture: null,
      handedMs: null,
      headers: surveyHeaders(sent.request.rawHeaders),
      stage: 'listener',
      answered: false,
      authority: null,
      authorityText: '',
      absolute: false,
      route: null,
      keyId: null,
      caller: null,
      decision: null,
    };
    connections.begin(exchange);
    const recording = options.recording();
    if (recording !== 'off') exchange.capture = watch(exchange, recording === 'bodies', monotonic);
    return exchange;
  }

  function write(exchange: Exchange, answer: Answer): void {
    writeAnswer(exchange, answer, pages, limits.drainBytesMax);
  }

  /** What a target gave back, unless the client has left meanwhile. */
  function give(exchange: Exchange, answer: Answer): void {
    const { response } = exchange;
    if (response.destroyed || response.headersSent) return;
    write(exchange, answer);
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
      const exchange = begin(connection, { request, response, stream, awaitsContinue, upgrade: null });
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
    upgrade(request, socket, head) {
      socket.on('error', onClientGone);
      const connection = connections.of(socket);
      if (connection === undefined) {
        socket.destroy();
        return;
      }
      const response = new ServerResponse(request);
      const exchange = begin(connection, {
        request,
        response,
        stream: null,
        awaitsContinue: false,
        upgrade: { socket, head },
      });
      socket.on('close', () => finish(exchange));
      response.on('error', onClientGone);
      const answerAndClose = (answer: Answer): void => {
        response.assignSocket(socket);
        response.setHeader('Connection', 'close');
        response.on('finish', () => socket.destroySoon());
        write(exchange, answer);
      };
      try {
        const answer = pipeline(exchange);
        if (answer !== null) answerAndClose(answer);
      } catch (error) {
        log.error('An upgrade failed', { hostname: exchange.authority?.host, stage: exchange.stage, error });
        answerAndClose({ kind: 'problem', problem: failed() });
      }
    },
    finish,
  };
}
