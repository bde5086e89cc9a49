import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { rawAnswer, sendAnswer, type Answer } from '../base/http/answer.ts';
import { hasBody, isHttp2, type HttpExchange } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import type { StageName } from '../contract/stages.ts';
import type { ExchangeRecord, ExchangeSummary } from '../model/exchange-record.ts';
import { renderProblem, type ErrorPages } from './answer.ts';
import { type Capture, sentHead, takeRaw, watch, WatchedResponse, reportTimes, StageTimes } from './capture.ts';
import { cutExchange, type Connection, type Exchange, type RunningRecord } from './front/connection.ts';
import type { Connections } from './front/connections.ts';
import { ownPathAsked } from './front/own-paths.ts';
import { createPipeline, type PipelineServices } from './pipeline.ts';
import { failed } from './problem.ts';
import { createFrameWatch } from './tunnels/frames.ts';

/** `heads`: header sections, sizes and times; `bodies`: also the first bytes of bodies. */
export type Recording = 'off' | 'heads' | 'bodies';

/** Most exchanges are over before this, and would only flicker in a list. */
const LISTED_AFTER_MS = 200;

const LISTED_MAX = 500;

export interface ExchangesOptions extends Omit<PipelineServices, 'onTargetError' | 'onTargetAnswer' | 'watchFrames'> {
  log: Log;
  connections: Connections;
  /** Whether connections should close after the current response. */
  stopping: () => boolean;
  /** Whether answers have `Server-Timing`. */
  isTimed: () => boolean;
  recording: () => Recording;
  /** Called at the end of every exchange. Must not throw. */
  onExchange: (summary: ExchangeSummary) => void;
}

/** Handles each request from its header section to the end of its response. */
export function createExchanges(options: ExchangesOptions) {
  const { clock, log, connections, onExchange, limits, pages } = options;
  const pipeline = createPipeline({
    ...options,
    watchFrames: createFrameWatch(),
    onTargetError: fail,
    onTargetAnswer: send,
  });
  let begun = 0;
  const bounds = { bytesMax: limits.drainBytesMax, timer: null };
  const monotonic = (): number => clock.monotonic();
  const moments = { monotonic, realNow: options.realNow };
  const onClientGone = (error: Error): void => log.debug('A client disconnected during its request', { error });

  function begin(
    connection: Connection,
    sent: HttpExchange & Pick<Exchange, 'socket'>,
    how: Pick<RunningRecord, 'awaitsContinue' | 'upgrade' | 'times'>,
  ): Exchange {
    const startedMs = clock.monotonic();
    // Requests that Vivarium answers at its own hosts do not belong to any project's traffic.
    const { url = '', headers } = sent.request;
    const isOwn = ownPathAsked(connection.listener.own, url, headers) !== undefined;
    const recording = isOwn ? 'off' : options.recording();
    const capture = recording === 'off' ? null : watch(sent, recording === 'bodies', moments);
    const exchange: Exchange = {
      request: sent.request,
      response: sent.response,
      socket: sent.socket,
      connection,
      record: beginRecord(startedMs, { ...how, fault: connection.fault, place: ++connection.requests }, capture),
    };
    connections.begin(exchange);
    return exchange;
  }

  /**
   * Sends the proxy's own answer. Drains the rest of the request, except over HTTP/2, which has flow control, and for a
   * client that waits for 100 (Continue) and therefore sends nothing.
   */
  function send(exchange: Exchange, answer: Answer): void {
    const { record, request, socket } = exchange;
    if (socket !== null) return writeRaw(exchange, socket, answer);
    const written = sendAnswer(exchange, answer, record.awaitsContinue || isHttp2(request) ? null : bounds);
    if (written) record.byProxy = true;
  }

  /** Limits the damage of an error in a target to this request. */
  function fail(exchange: Exchange, error: unknown): void {
    const { response, record } = exchange;
    log.error('A request failed', { hostname: record.hostname ?? undefined, stage: record.stage, error });
    if (response.destroyed || response.writableEnded) return;
    if (response.headersSent) return cutExchange(exchange);
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    send(exchange, failure(exchange, pages));
  }

  function finish(exchange: Exchange): void {
    if (connections.end(exchange)) onExchange(summarize(exchange, clock.monotonic()));
  }

  return {
    /**
     * Runs a request through the stages. `awaitsContinue`: the client waits for 100 (Continue) before sending its body.
     */
    serve(sent: HttpExchange, awaitsContinue: boolean): void {
      const { request, response } = sent;
      const connection = connections.of(connectionKey(sent));
      if (connection === undefined) return void (isHttp2(request) ? request.stream : request).destroy();
      const times = options.isTimed() ? new StageTimes(monotonic) : null;
      if (times !== null) reportTimes(response, times);
      const exchange = begin(connection, { ...sent, socket: null }, { awaitsContinue, upgrade: false, times });
      response.on('close', () => finish(exchange));
      response.on('error', onClientGone);
      // Over HTTP/1.x, Node reports only errors that have a listener.
      if (isHttp2(request)) (hasBody(request) ? request : request.stream).on('error', onClientGone);
      else if (options.stopping()) response.setHeader('Connection', 'close');
      try {
        const answer = pipeline(exchange, null);
        if (answer !== null) send(exchange, answer);
      } catch (error) {
        fail(exchange, error);
      }
    },
    /**
     * Runs an upgrade through the same stages. A refused one is answered on the bare socket, which then closes,
     * because Node has released it. Over HTTP/2, that is one stream.
     */
    upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
      socket.on('error', onClientGone);
      const connection = connections.of(connectionKey({ request }));
      if (connection === undefined) return void socket.destroy();
      const response = new WatchedResponse(request);
      const exchange = begin(
        connection,
        { request, response, socket },
        { awaitsContinue: false, upgrade: true, times: null },
      );
      socket.on('close', () => finish(exchange));
      try {
        const answer = pipeline(exchange, { socket, head });
        if (answer !== null) send(exchange, answer);
      } catch (error) {
        const { hostname, stage } = exchange.record;
        log.error('An upgrade failed', { hostname: hostname ?? undefined, stage, error });
        send(exchange, failure(exchange, pages));
      }
    },
    /** Completes the records of an exchange; idempotent. */
    finish,
    /** The exchanges that have run for a moment, each numbered for the log. */
    running(): ExchangeSummary[] {
      const nowMs = clock.monotonic();
      return listed(connections.all(), nowMs).map((exchange) => {
        exchange.record.begun ??= ++begun;
        return { ...summarize(exchange, nowMs), aborted: false };
      });
    },
  };
}

/** The key that maps a request to its connection: the socket, or the HTTP/2 session. */
const connectionKey = ({ request }: Pick<HttpExchange, 'request'>): object =>
  isHttp2(request) ? (request.stream.session ?? request.stream) : request.socket;

/** Writes an answer to the bare socket of an upgrade. */
function writeRaw({ record, response }: Exchange, socket: Socket, answer: Answer): void {
  const set = Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
  const text = rawAnswer({ ...answer, headers: [...set, ...answer.headers] });
  if (socket.writable) {
    socket.write(text);
    record.rawStatus = answer.status;
    record.byProxy = true;
    if (record.capture !== null) takeRaw(record.capture, text);
  }
  socket.destroySoon();
}

const failure = ({ request, connection }: Exchange, pages: ErrorPages): Answer =>
  renderProblem(failed(), request, connection.listener, pages);

/** The exchanges that have run for a moment. */
function listed(connections: Iterable<Connection>, nowMs: number): Exchange[] {
  const found: Exchange[] = [];
  for (const { exchanges } of connections) {
    for (const exchange of exchanges) {
      const { capture, startedMs } = exchange.record;
      if (capture !== null && nowMs - startedMs >= LISTED_AFTER_MS) found.push(exchange);
      if (found.length === LISTED_MAX) return found;
    }
  }
  return found;
}

export function beginRecord(
  startedMs: number,
  how: Pick<RunningRecord, 'awaitsContinue' | 'upgrade' | 'times' | 'fault' | 'place'>,
  capture: Capture | null,
): RunningRecord {
  return {
    stage: 'listener',
    hostname: null,
    authority: null,
    client: null,
    route: null,
    keyId: null,
    decision: null,
    fault: how.fault,
    place: how.place,
    startedMs,
    activeMs: startedMs,
    delayed: false,
    seen: null,
    times: how.times,
    handedMs: null,
    awaitsContinue: how.awaitsContinue,
    upgrade: how.upgrade,
    tunnelled: false,
    rawStatus: null,
    begun: null,
    byProxy: false,
    capture,
  };
}

export function summarize({ request, response, connection, record }: Exchange, nowMs: number): ExchangeSummary {
  const { startedMs, rawStatus, capture } = record;
  const finished = rawStatus !== null || ('stream' in response ? response.writableEnded : response.writableFinished);
  return {
    hostname: record.hostname,
    authority: record.authority,
    route: record.route,
    keyId: record.keyId,
    decision: record.decision,
    fault: record.fault,
    stage: answeringStage(record, response.statusCode),
    scheme: connection.listener.scheme,
    httpVersion: request.httpVersion,
    method: request.method ?? '',
    target: request.url ?? '',
    status: rawStatus ?? (response.headersSent ? response.statusCode : null),
    startedMs,
    durationMs: nowMs - startedMs,
    address: record.client?.address ?? connection.address,
    port: connection.port,
    connection: connection.number,
    place: record.place,
    aborted: !finished,
    byProxy: record.byProxy,
    begun: record.begun,
    record: capture === null ? null : recordOf({ request, response }, record, capture),
  };
}

/** The built-in API writes the 401 of a request for which the stage `identify` found no valid API key. */
const answeringStage = ({ stage, keyId, route }: RunningRecord, status: number): StageName =>
  stage === 'target' && status === 401 && keyId === null && route?.target.kind === 'api' ? 'identify' : stage;

function recordOf({ request, response }: HttpExchange, record: RunningRecord, capture: Capture): ExchangeRecord {
  const { startedMs, handedMs, route } = record;
  // A provider’s operation may turn out not to emulate what is asked, such as a private key.
  const isNotEmulated = route?.target.kind === 'provider' && response.statusCode === 501;
  return {
    requestFields: request.rawHeaders,
    responseHead: capture.head ?? (response.headersSent ? sentHead(response) : ''),
    requestBody: isNotEmulated ? { ...capture.request, chunks: [] } : capture.request,
    responseBody: capture.response,
    frames: capture.frames,
    handedMs: handedMs === null ? null : handedMs - startedMs,
    firstByteMs: capture.firstByteMs === null ? null : capture.firstByteMs - startedMs,
  };
}
