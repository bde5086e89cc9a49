import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Authority } from '../base/hostname.ts';
import type { StageName } from '../contract/stages.ts';
import type { Caller } from '../model/caller.ts';
import type { ExchangeRecord, ExchangeSummary } from '../model/exchange-record.ts';
import type { Decision } from '../model/rate-decision.ts';
import type { Route } from '../model/route.ts';
import { type Capture, sentHead } from './capture.ts';
import type { Connection } from './connection.ts';
import type { HeaderSurvey } from './header-section.ts';
import type { RouteTable } from './route-table.ts';
import type { Seen } from './standstill.ts';
import type { ProxyRequest, ProxyResponse } from './target.ts';

/** One request and its response on their way through the stages. Each stage fills in what it found out. */
export interface Exchange {
  readonly connection: Connection;
  readonly request: ProxyRequest;
  readonly response: ProxyResponse;
  /** Null over HTTP/1.x. */
  readonly stream: ServerHttp2Stream | null;
  /** The table of the moment the request came: a publish half-way does not mix two. */
  readonly table: RouteTable;
  /** Monotonic. */
  readonly startedMs: number;
  /** What the last sweep saw of a response that is complete on our side and not taken yet; null before. */
  seen: Seen | null;
  /** Whether the client still waits for 100 (Continue) before it sends its body. */
  awaitsContinue: boolean;
  /** What an upgrade to WebSocket goes on with; null for every other request. */
  readonly upgrade: { socket: Socket; head: Buffer } | null;
  /** Whether the upgrade has succeeded, and the connection is a tunnel to the upstream now. */
  tunnelled: boolean;
  /** When it began or, on its way to an upstream, when its body last moved or was held up; monotonic. */
  activeMs: number;
  /** What is noted for the traffic log; null while nothing is recorded. */
  capture: Capture | null;
  /** When it was handed to its target; monotonic. */
  handedMs: number | null;
  readonly headers: HeaderSurvey;
  /** The stage it is in, or that answered it. */
  stage: StageName;
  /** Whether the proxy itself has answered, and only reads the rest of the request away. */
  answered: boolean;
  authority: Authority | null;
  /** The authority as the client wrote it. */
  authorityText: string;
  /** Whether it was asked as a proxy is asked, with a URL as its target. */
  absolute: boolean;
  route: Route | null;
  keyId: string | null;
  caller: Caller | null;
  decision: Decision | null;
}

export function summarize(exchange: Exchange, nowMs: number): ExchangeSummary {
  const { request, response, connection, startedMs, tunnelled } = exchange;
  const finished = tunnelled || ('stream' in response ? response.writableEnded : response.writableFinished);
  return {
    hostname: exchange.authority?.host ?? null,
    authority: exchange.authorityText === '' ? null : exchange.authorityText,
    route: exchange.route,
    keyId: exchange.keyId,
    decision: exchange.decision,
    stage: exchange.stage,
    scheme: connection.listener.scheme,
    httpVersion: request.httpVersion,
    method: request.method ?? '',
    target: request.url ?? '',
    status: tunnelled ? 101 : response.headersSent ? response.statusCode : null,
    startedMs,
    durationMs: nowMs - startedMs,
    address: connection.address,
    port: connection.port,
    aborted: !finished,
    byProxy: exchange.answered,
    record: exchange.capture === null ? null : recordOf(exchange, exchange.capture),
  };
}

function recordOf({ request, response, startedMs, handedMs }: Exchange, capture: Capture): ExchangeRecord {
  return {
    requestFields: request.rawHeaders,
    responseHead: capture.head ?? (response.headersSent ? sentHead(response) : ''),
    requestBody: capture.request,
    responseBody: capture.response,
    handedMs: handedMs === null ? null : handedMs - startedMs,
    firstByteMs: capture.firstByteMs === null ? null : capture.firstByteMs - startedMs,
  };
}
