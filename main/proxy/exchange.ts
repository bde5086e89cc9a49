import type { HttpExchange } from '../base/http/message.ts';
import type { StageName } from '../contract/stages.ts';
import type { ExchangeRecord, ExchangeSummary } from '../model/exchange-record.ts';
import { type Capture, sentHead } from './capture.ts';
import type { Exchange, RunningRecord } from './front/connection.ts';

/** The initial record of an exchange. */
export function beginRecord(
  startedMs: number,
  { awaitsContinue, upgrade, times, fault }: Pick<RunningRecord, 'awaitsContinue' | 'upgrade' | 'times' | 'fault'>,
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
    fault,
    startedMs,
    activeMs: startedMs,
    seen: null,
    times,
    handedMs: null,
    awaitsContinue,
    upgrade,
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
  const { startedMs, handedMs } = record;
  return {
    requestFields: request.rawHeaders,
    responseHead: capture.head ?? (response.headersSent ? sentHead(response) : ''),
    requestBody: capture.request,
    responseBody: capture.response,
    frames: capture.frames,
    handedMs: handedMs === null ? null : handedMs - startedMs,
    firstByteMs: capture.firstByteMs === null ? null : capture.firstByteMs - startedMs,
  };
}
