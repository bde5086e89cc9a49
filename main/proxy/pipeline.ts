import type { Clock, EpochMs } from '../base/clock.ts';
import type { Answer } from '../base/http/answer.ts';
import { asHttp1, isHttp2, pairsOf, withoutFields, type HttpRequest } from '../base/http/message.ts';
import { parseAuthority, type Scheme } from '../base/text/hostname.ts';
import { limitsWithoutKey } from '../contract/plans.ts';
import type { StageName } from '../contract/stages.ts';
import type { FaultSource } from '../model/fault.ts';
import type { Caller, RequestLimiter, Decision, RateState } from '../model/rate-decision.ts';
import { rateFields, refusedByLimit, type Problem } from '../model/problem.ts';
import type { ProviderDestination, Route } from '../model/route.ts';
import { OPTIONS_ANSWER, renderProblem, type ErrorPages } from './answer.ts';
import { readAuthority, surveyHeaders, type HeaderSurvey } from './front/authority.ts';
import type { Connection, Exchange, RunningRecord } from './front/connection.ts';
import { checkServerName, findDestination, HSTS_SECONDS, redirectTo, forward, withRate } from './destination.ts';
import type { DestinationServices, RequestedUrl, ForwardedExchange, ForwardServices, Upgrade } from './destination.ts';
import { breakRequest, delayRequest } from './faults/break-stage.ts';
import { forwardedClient, type Trust } from './forwarded.ts';
import { hashToken, identifyKey, type InternalTokens } from './identify.ts';
import type { Looks } from './front/loopback.ts';
import { type OwnPath, ownPathOf } from './front/own-paths.ts';
import * as problem from './problem.ts';
import type { ProxyLimits } from './front/proxy-limits.ts';
import type { ProviderTarget, RouteTable, Target, UpstreamTarget } from './route-table.ts';

export interface PipelineServices extends ForwardServices, DestinationServices {
  limiter: RequestLimiter;
  /** Resolves the tokens of requests that Vivarium itself sends for an API key. */
  internalTokens: Pick<InternalTokens, 'redeem'>;
  targets: { api: Target; provider: ProviderTarget; upstream: UpstreamTarget };
  limits: ProxyLimits;
  pages: ErrorPages;
  httpsPort: () => number;
  /** Whether an address belongs to a proxy whose forwarding fields are trusted. */
  trusts: Trust;
  looks: Pick<Looks, 'answer'>;
  /** Called for every request that its target answers, or that is refused in its place. Must not throw. */
  onArrival: (route: Route, decision: Decision | null) => void;
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  faults: FaultSource;
  /** Real time, for dates in broken answers. */
  realNow: () => EpochMs;
  /** Called if a target rejects after receiving the exchange. */
  onTargetError: (exchange: Exchange, error: unknown) => void;
}

/**
 * Runs an exchange through the stages, and notes their results in its record. Returns the answer of the first stage
 * that has one; null if the target answers.
 */
export type Pipeline = (exchange: Exchange, upgrade: Upgrade | null) => Answer | null;

export function createPipeline(services: PipelineServices): Pipeline {
  const { limits, internalTokens, pages } = services;

  return (exchange, upgrade) => {
    const { request, connection, record } = exchange;
    // Read once, so a publish in between cannot mix two tables.
    const table = connection.listener.table();
    const headers = surveyHeaders(request.rawHeaders);
    if (isForProvider(exchange, headers, table, services.targets.provider)) {
      // First of all: any stage may answer, and then the request is recorded.
      services.targets.provider.guard(request);
      if (record.capture !== null) record.capture.keepsRequest = false;
    }
    const refuse = (found: Problem): Answer => renderProblem(found, request, connection.listener, pages);

    // 400, 405, 503
    const unfit = checkListener(exchange, headers, limits);
    if (unfit !== null) return refuse(unfit);

    // 400, 404, 414, 421, 431
    enter(record, 'authority');
    const asked = readAuthority(authorityFacts(exchange, headers, limits));
    if (!asked.ok) return refuse(asked.problem);
    const { authority, text } = asked.authority;
    record.hostname = authority.host;
    record.authority = text;
    connection.lastAuthority = asked.authority;
    const { address, listener } = connection;
    if (services.trusts(address))
      record.client = forwardedClient(request.headers, { address, authority: text, ...listener }, services.trusts);
    request.url = asked.path;
    const own = ownPathOf(listener.own, authority.host, asked.path);
    if (own === undefined && listener.own.serves !== undefined && !table.knows(authority.host))
      return refuse(problem.notShared(text));
    const misplaced = checkServerName(asked, connection, table);
    if (misplaced !== null) return refuse(misplaced);
    if (asked.path === '*') return OPTIONS_ANSWER;
    const looked = services.looks.answer(asked.path);
    if (looked !== null) return looked;
    if (own !== undefined) return answerOwn(own, asked, exchange, services);

    // 403, 404, 508
    enter(record, 'route');
    const lead = findDestination(asked, exchange, table, services);
    record.route = lead.route;
    if (!lead.ok) return refuse(lead.problem);

    // 301, 302, 307, 308
    enter(record, 'redirect');
    if (lead.hsts) asHttp1(exchange.response).setHeader('Strict-Transport-Security', `max-age=${HSTS_SECONDS}`);
    if (lead.redirect !== null) return redirectTo(lead.redirect, asked, exchange, services.httpsPort());
    const { route } = lead;

    // 405
    if (route.target.kind === 'upstream' && isLastHop(request))
      return request.method === 'OPTIONS' ? OPTIONS_ANSWER : refuse(problem.traceRefused());

    // The target answers 401 itself.
    enter(record, 'identify');
    if (route.target.kind === 'provider') return serveProvider(exchange, asked, route.target, services);
    record.keyId = findKey(connection, headers, route, table, internalTokens);

    enter(record, 'limit');
    if (route.target.kind === 'api') return serveApi(exchange, asked, route, services);
    const forwarded = { exchange, upgrade, authority: text, destination: route.target, rate: null, refuse };
    return serveUpstream(forwarded, asked, route, services);
  };
}

function answerOwn(own: OwnPath, asked: RequestedUrl, exchange: Exchange, { onTargetAnswer }: PipelineServices): null {
  const { request, connection, record } = exchange;
  const { method = '', headers } = request;
  // Node's request over HTTP/2 would be a second stream with the same data.
  const body = isHttp2(request) ? request.stream : request;
  const address = record.client?.address ?? connection.address;
  own({ method, target: asked.path, scheme: connection.listener.scheme, headers, address, body }, (answer) =>
    onTargetAnswer(exchange, answer),
  );
  return null;
}

/** The stages from `limit` on, for the built-in API, which answers a refused request in its own format. */
function serveApi(exchange: Exchange, asked: RequestedUrl, route: Route, services: PipelineServices): null {
  const { request, response, record } = exchange;
  const { faults, targets } = services;
  const preflight = targets.api.isPreflight(request);
  const decision = decide(exchange, route, preflight, services);
  const { rate, refusal } = decision;
  const context = {
    ...{ route, keyId: record.keyId, rate, preflight },
    ...{ scheme: schemeOf(exchange), authority: asked.authority.authority, origin: requestedOrigin(exchange) },
  };
  if (refusal !== null) {
    targets.api.refuse(exchange, context, refusedByLimit(refusal));
    return null;
  }
  const pass = (): void => {
    hand(record, services);
    if (record.awaitsContinue) response.writeContinue();
    const pending = targets.api.handle(exchange, context);
    if (pending instanceof Promise) pending.catch((error: unknown) => services.onTargetError(exchange, error));
  };
  if (isUnbroken(faults) || preflight) pass();
  else {
    const refuse = (found: Problem, shown: RateState | null): void =>
      targets.api.refuse(exchange, { ...context, rate: shown ?? rate }, found);
    passBreaks({ exchange, asked, route, rate, refuse, fields: targets.api.corsFields(request), pass }, services);
  }
  return null;
}

/** The stages from `limit` on, for an upstream, which has no plans: the proxy refuses in its place. */
function serveUpstream(
  forwarded: ForwardedExchange,
  asked: RequestedUrl,
  route: Route,
  services: PipelineServices,
): Answer | null {
  const { exchange, upgrade, destination, refuse } = forwarded;
  const { faults, targets, onArrival, onTargetAnswer } = services;
  const preflight = destination.limited && targets.upstream.isPreflight(exchange.request);
  if (destination.limited) {
    const { rate, refusal } = decide(exchange, route, preflight, services);
    if (refusal !== null) return refuse(withRate(refusedByLimit(refusal), rate));
    forwarded.rate = rate;
  } else onArrival(route, null);
  const { rate } = forwarded;
  const pass = (): void => {
    hand(exchange.record, services);
    forward(forwarded, services);
  };
  if (isUnbroken(faults) || preflight || upgrade !== null) pass();
  else {
    const answerRefusal = (found: Problem, shown: RateState | null): void =>
      onTargetAnswer(exchange, refuse(shown === null ? found : withRate(found, shown)));
    passBreaks({ exchange, asked, route, rate, refuse: answerRefusal, fields: [], pass }, services);
  }
  return null;
}

/** The stages from `identify` on, for a provider's emulated API. */
function serveProvider(
  exchange: Exchange,
  asked: RequestedUrl,
  destination: ProviderDestination,
  services: PipelineServices,
): null {
  const { request, record } = exchange;
  const { faults, targets, onArrival } = services;
  const caller = targets.provider.identify(request, destination);
  record.route = caller.route;
  record.keyId = caller.keyId;
  if (caller.route !== null) enter(record, 'limit');
  const { capture } = record;
  if (capture !== null) capture.keepsRequest = capture.bodies && caller.isEmulated;
  const decision = targets.provider.decide(caller, request);
  record.decision = decision;
  if (caller.route !== null) onArrival(caller.route, null);
  const pass = (): void => {
    if (caller.route !== null && decision?.refusal === null) hand(record, services);
    if (record.awaitsContinue) exchange.response.writeContinue();
    targets.provider.handle(exchange, caller, decision, destination.provider);
  };
  const rate = decision?.rate ?? null;
  const refuse = (found: Problem): void => targets.provider.refuse(exchange, found, destination.provider);
  if (isUnbroken(faults) || caller.route === null || decision?.refusal !== null) pass();
  else passBreaks({ exchange, asked, route: caller.route, rate, refuse, fields: [], pass }, services);
  return null;
}

/** Counts a request for its caller. A CORS preflight cannot carry a key (WHATWG Fetch), and is only looked up. */
function decide(
  { connection, record }: Exchange,
  route: Route,
  preflight: boolean,
  { limiter, onArrival }: PipelineServices,
): Decision {
  const { keyId } = record;
  const caller = callerOf(keyId, route, record.client ?? connection);
  const limits = keyId === null ? limitsWithoutKey(route) : route.limits;
  const decision = preflight
    ? { refusal: null, rate: limiter.peek(caller, limits).rate }
    : limiter.take(caller, limits);
  record.decision = decision;
  onArrival(route, decision);
  return decision;
}

/** Notes that the target receives the exchange. */
function hand(record: RunningRecord, { clock }: PipelineServices): void {
  enter(record, 'target');
  if (record.capture !== null) record.handedMs = clock.monotonic();
}

const isUnbroken = ({ request, delay }: FaultSource): boolean => request === null && delay === null;

interface Breakable {
  exchange: Exchange;
  asked: RequestedUrl;
  route: Route;
  rate: RateState | null;
  refuse: (found: Problem, rate: RateState | null) => void;
  /** Fields that the target has on every answer. */
  fields: readonly string[];
  /** Hands the exchange to the target. */
  pass: () => void;
}

/** Asks the running breaks, which may delay the exchange, and answer it in place of its target. */
function passBreaks(
  { exchange, asked, route, rate, refuse, fields, pass }: Breakable,
  services: PipelineServices,
): void {
  const { clock, faults, realNow, onTargetAnswer, onTargetError } = services;
  const { request, record } = exchange;
  if (request.headers[OPT_OUT] === 'off') return pass();
  enter(record, 'break');
  const facts = {
    hostname: asked.authority.authority.host,
    method: request.method ?? '',
    path: pathOf(asked.path),
    keyId: record.keyId,
    headers: request.headers,
    scheme: schemeOf(exchange),
    http2: isHttp2(request),
    environment: route.environment,
  };
  const delay = faults.delay?.(facts) ?? null;
  const fault = faults.request?.(facts) ?? null;
  const giveBack = (): void => {
    if (fault !== null) faults.giveBack(fault);
  };
  const proceed = (): void => {
    if (fault === null) return pass();
    const origin = requestedOrigin(exchange);
    const isAnswered = breakRequest({
      ...{ exchange, fault, origin, clock, realNow, rate, giveBack },
      refuse: (found, other) => refuse(found, other ?? rate),
      answer: (answer) =>
        onTargetAnswer(exchange, withTheirs(answer, [...(rate === null ? [] : rateFields(rate)), ...fields])),
    });
    if (!isAnswered) pass();
  };
  if (delay === null) return proceed();
  const late = (): void => {
    try {
      proceed();
    } catch (error) {
      onTargetError(exchange, error);
    }
  };
  delayRequest({ exchange, fault: delay, clock }, { pass: late, onGone: giveBack });
}

/** An answer with the fields that its target would add, unless it has them. */
function withTheirs(answer: Answer, theirs: readonly string[]): Answer {
  const own = new Set(pairsOf(answer.headers).map(([name]) => name.toLowerCase()));
  return { ...answer, headers: [...answer.headers, ...withoutFields(theirs, (name) => own.has(name))] };
}

/** The scheme that the client used, in front of a trusted proxy if there is one. */
const schemeOf = ({ record, connection }: Exchange): Scheme => record.client?.scheme ?? connection.listener.scheme;

/** `scheme://host[:port]` as the client wrote it. */
const requestedOrigin = (exchange: Exchange): string =>
  `${schemeOf(exchange)}://${exchange.record.client?.authority ?? exchange.record.authority}`;

/** `Vivarium-Break: off` exempts a request from breaks. */
const OPT_OUT = 'vivarium-break';

const pathOf = (target: string): string => target.split('?', 1)[0] ?? '';

function enter(record: RunningRecord, stage: StageName): void {
  record.stage = stage;
  record.times?.enter(stage);
}

/** Longer URLs are truncated in messages. */
const SHOWN_URL_LENGTH_MAX = 300;

/** Checks whether this port and connection can carry the request. */
function checkListener({ connection, request }: Exchange, headers: HeaderSurvey, limits: ProxyLimits): Problem | null {
  if (connection.plainHttpOnTls) {
    const known =
      headers.host !== null && parseAuthority(headers.host) !== null && request.url?.startsWith('/') === true;
    const url = known ? `https://${headers.host}${request.url}` : 'https://';
    return problem.plainHttpOnTls(url.slice(0, SHOWN_URL_LENGTH_MAX));
  }
  // HTTP/2 only: the HTTP/1.x server handles CONNECT elsewhere.
  if (request.method === 'CONNECT') return problem.connectRefused();
  return connection.exchanges.length > limits.pipelinedMax ? problem.tooManyPipelined(limits.pipelinedMax) : null;
}

/**
 * Whether any name in a request is that of a provider's API: in its handshake, its `Host` fields or its target. A name
 * that a project serves itself is the project's.
 */
function isForProvider(
  { request, connection: { serverName } }: Exchange,
  { host, hostFields }: HeaderSurvey,
  table: RouteTable,
  { isNamedIn }: Pick<ProviderTarget, 'isNamedIn'>,
): boolean {
  const isMeant = (text: string | null): boolean => {
    if (text === null || !isNamedIn(text)) return false;
    const route = table.route(parseAuthority(text)?.host ?? '');
    return route === undefined || route.target.kind === 'provider';
  };
  const { url = '', rawHeaders } = request;
  if (isMeant(serverName) || isMeant(host)) return true;
  if (hostFields > 1 && isNamedIn(rawHeaders.join(' '))) return true;
  if (isHttp2(request) && isMeant(pseudoHeader(request, ':authority'))) return true;
  return !url.startsWith('/') && isMeant(url.replace(/^\w+:\/\/|[/?#].*$/g, ''));
}

function authorityFacts({ request, connection }: Exchange, headers: HeaderSurvey, limits: ProxyLimits) {
  const http2 = isHttp2(request);
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    httpVersion: request.httpVersion,
    http2,
    pseudoAuthority: http2 ? pseudoHeader(request, ':authority') : null,
    pseudoScheme: http2 ? pseudoHeader(request, ':scheme') : null,
    scheme: connection.listener.scheme,
    headers,
    limits,
    known: connection.lastAuthority,
  };
}

function pseudoHeader({ headers }: HttpRequest, name: ':authority' | ':scheme'): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

/** Whether a request for diagnosis must be answered here, in place of an upstream (RFC 9110 §7.6.2). */
const isLastHop = ({ method, headers }: HttpRequest): boolean =>
  (method === 'OPTIONS' || method === 'TRACE') && /^0+$/.test(String(headers['max-forwards']));

/** Identifies the caller: the id of an API key of this project, or null for an address. */
function findKey(
  connection: Connection,
  { authorization, authorizationFields }: HeaderSurvey,
  route: Route,
  table: RouteTable,
  internalTokens: Pick<InternalTokens, 'redeem'>,
): string | null {
  // Several Authorization fields are ambiguous, so none is used.
  if (authorization === null || authorizationFields !== 1) return null;
  // Hashing is the most expensive step, and clients repeat the same field.
  if (connection.lastToken?.authorization !== authorization) {
    connection.lastToken = { authorization, secretHash: hashToken(authorization) };
  }
  const { secretHash } = connection.lastToken;
  return secretHash === null ? null : identifyKey(secretHash, route, table, internalTokens);
}

const callerOf = (keyId: string | null, { projectId }: Route, { address }: { address: string }): Caller =>
  keyId === null ? { kind: 'address', address, projectId } : { kind: 'key', keyId, projectId };
