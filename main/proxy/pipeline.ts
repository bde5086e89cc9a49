import type { Clock, EpochMs } from '../base/clock.ts';
import type { Answer } from '../base/http/answer.ts';
import { asHttp1, isHttp2, type HttpRequest } from '../base/http/message.ts';
import { DEFAULT_PORT, originOf, parseAuthority, type Scheme } from '../base/text/hostname.ts';
import { limitsWithoutKey } from '../contract/plans.ts';
import type { StageName } from '../contract/stages.ts';
import type { FaultSource } from '../model/fault.ts';
import type { Caller, RequestLimiter, Decision, RateState } from '../model/rate-decision.ts';
import { refusedByLimit, type Problem } from '../model/problem.ts';
import type { Redirect, Route } from '../model/route.ts';
import { OPTIONS_ANSWER, redirectAnswer, renderProblem, type ErrorPages } from './answer.ts';
import { readAuthority, type SentAuthority } from './front/authority.ts';
import { isOwnPort } from './tunnels/connect-request.ts';
import type { Connection, Exchange, RunningRecord } from './front/connection.ts';
import { breakRequest } from './faults/break-stage.ts';
import { forward, type ForwardServices, type Upgrade, withRate } from './forward.ts';
import { forwardedClient, type Trust } from './forwarded-client.ts';
import { createFrameWatch } from './tunnels/frames.ts';
import { surveyHeaders, type HeaderSurvey } from './front/request-head.ts';
import { hashToken, identifyKey, type InternalTokens } from './identify.ts';
import type { Looks } from './front/looks.ts';
import { ownPathOf } from './front/own-paths.ts';
import * as problem from './problem.ts';
import type { ProxyLimits } from './front/proxy-limits.ts';
import type { RouteTable } from './route-table.ts';
import type { Target, UpstreamTarget } from './target.ts';

export interface PipelineServices extends ForwardServices {
  limiter: RequestLimiter;
  /** Resolves the tokens of requests that Vivarium itself sends for an API key. */
  internalTokens: Pick<InternalTokens, 'redeem'>;
  targets: { api: Target; upstream: UpstreamTarget };
  limits: ProxyLimits;
  pages: ErrorPages;
  /** The port of the HTTPS listener. */
  httpsPort: () => number;
  /** Whether a hostname has a certificate. */
  servesHttps: (hostname: string) => boolean;
  /** Whether an address belongs to a proxy whose forwarding fields are trusted. */
  trusts: Trust;
  /** Why an attached hostname without a route is not served, as a sentence; null for any other hostname. */
  whyUnserved: (hostname: string) => string | null;
  looks: Pick<Looks, 'answer'>;
  /** Called for every request that its target answers, or that is refused in its place. Must not throw. */
  onArrival: (route: Route, decision: Decision | null) => void;
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  /** The running breaks. */
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
  const { limits, limiter, internalTokens, pages, targets } = services;
  const watchFrames = createFrameWatch();

  return (exchange, upgrade) => {
    const { request, connection, record } = exchange;
    // Read once, so a publish in between cannot mix two tables.
    const table = connection.listener.table();
    const headers = surveyHeaders(request.rawHeaders);
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
    if (own !== undefined) {
      const { method = '', headers: fields } = request;
      // Node's request over HTTP/2 would be a second stream with the same data.
      const body = isHttp2(request) ? request.stream : request;
      const from = record.client?.address ?? address;
      const found = { method, target: asked.path, scheme: listener.scheme, headers: fields, address: from, body };
      own(found, (answer) => services.onTargetAnswer(exchange, answer));
      return null;
    }

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
    const { target } = route;

    // 405
    if (target.kind === 'upstream' && isLastHop(request))
      return request.method === 'OPTIONS' ? OPTIONS_ANSWER : refuse(problem.traceRefused());

    // The target answers 401 itself.
    enter(record, 'identify');
    const keyId = findKey(connection, headers, route, table, internalTokens);
    record.keyId = keyId;

    enter(record, 'limit');
    const { client } = record;
    const scheme = client?.scheme ?? listener.scheme;
    const origin = `${scheme}://${client?.authority ?? text}`;
    const arrive = (decision: Decision | null): void => {
      record.decision = decision;
      services.onArrival(route, decision);
    };
    const toTarget = (): void => {
      enter(record, 'target');
      if (record.capture !== null) record.handedMs = services.clock.monotonic();
    };
    /** Asks the running breaks, and returns whether they have answered. */
    const isBroken = (
      rate: RateState | null,
      answerRefusal: (found: Problem, rate: RateState | null) => void,
    ): boolean => {
      const choose = services.faults.request;
      if (choose === null || upgrade !== null || request.headers[OPT_OUT] === 'off') return false;
      enter(record, 'break');
      const fault = choose({
        hostname: authority.host,
        method: request.method ?? '',
        path: pathOf(asked.path),
        keyId,
        scheme,
        http2: isHttp2(request),
        environment: route.environment,
      });
      if (fault === null) return false;
      const { clock, realNow } = services;
      return breakRequest({
        ...{ exchange, fault, origin, clock, realNow, rate },
        refuse: (found, other) => answerRefusal(found, other ?? rate),
        answer: (answer) => services.onTargetAnswer(exchange, answer),
      });
    };
    const refuseForUpstream = (found: Problem, rate: RateState | null): void =>
      services.onTargetAnswer(exchange, refuse(rate === null ? found : withRate(found, rate)));

    if (target.kind === 'upstream' && !target.limited) {
      arrive(null);
      if (isBroken(null, refuseForUpstream)) return null;
      toTarget();
      return forward(
        { exchange, upgrade, authority: text, destination: target, rate: null, refuse, watchFrames },
        services,
      );
    }
    // A CORS preflight cannot carry a key and is not counted (WHATWG Fetch, CORS-preflight fetch).
    const preflight = targets[target.kind].isPreflight(request);
    const caller = callerOf(keyId, route, record.client ?? connection);
    const planLimits = keyId === null ? limitsWithoutKey(route) : route.limits;
    const decision = preflight
      ? { refusal: null, rate: limiter.peek(caller, planLimits).rate }
      : limiter.take(caller, planLimits);
    arrive(decision);

    const { rate, refusal } = decision;
    const context = { route, keyId, rate, preflight, scheme, authority, origin };
    // 429 in the target's format; an upstream has no plans, so the proxy refuses in its place. The stage `limit`
    // answers a refused request, though the built-in API formats the answer.
    if (refusal !== null) {
      const found = refusedByLimit(refusal);
      if (target.kind === 'upstream') return refuse(withRate(found, rate));
      targets.api.refuse(exchange, context, found);
      return null;
    }

    if (target.kind === 'upstream') {
      if (!preflight && isBroken(rate, refuseForUpstream)) return null;
      toTarget();
      return forward({ exchange, upgrade, authority: text, destination: target, rate, refuse, watchFrames }, services);
    }
    const refuseByApi = (found: Problem, shown: RateState | null): void =>
      targets.api.refuse(exchange, { ...context, rate: shown ?? rate }, found);
    if (!preflight && isBroken(rate, refuseByApi)) return null;
    toTarget();
    if (record.awaitsContinue) exchange.response.writeContinue();
    const pending = targets.api.handle(exchange, context);
    if (pending instanceof Promise) pending.catch((error: unknown) => services.onTargetError(exchange, error));
    return null;
  };
}

/** `Vivarium-Break: off` exempts a request from breaks. */
const OPT_OUT = 'vivarium-break';

const pathOf = (target: string): string => target.split('?', 1)[0] ?? '';

function enter(record: RunningRecord, stage: StageName): void {
  record.stage = stage;
  record.times?.enter(stage);
}

/** A parsed authority, with the form of its request target. */
interface RequestedUrl {
  authority: SentAuthority;
  absolute: boolean;
  path: string;
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

/** Collects the facts that determine the authority. */
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

/** Checks that the TLS connection was opened for the same hostname. */
function checkServerName(asked: RequestedUrl, { serverName }: Connection, table: RouteTable): Problem | null {
  const { host } = asked.authority.authority;
  if (serverName !== null && serverName !== host && table.knows(host)) return problem.misdirected(serverName, host);
  const nowhere = asked.path === '*' && asked.absolute && !table.knows(host);
  return nowhere ? problem.notReached(asked.authority.text, host) : null;
}

/** Where a hostname leads. A redirected hostname needs no route. */
type FoundDestination =
  | { ok: true; redirect: Redirect; route: Route | null; hsts: boolean }
  | { ok: true; redirect: null; route: Route; hsts: boolean }
  | { ok: false; problem: Problem; route: Route | null };

/** Finds the project. An absolute URL is a proxy request, so its port must match. */
function findDestination(
  { authority: { authority, text }, absolute, path }: RequestedUrl,
  { request, connection: { listener }, record }: Exchange,
  table: RouteTable,
  { whyUnserved, targets, servesHttps }: PipelineServices,
): FoundDestination {
  const { host, port } = authority;
  const { scheme } = record.client ?? listener;
  const route = table.route(host) ?? null;
  const found = table.redirect(host) ?? null;
  const isOnward = found !== null && (found.to !== host || mustUseHttps(scheme, host, path, servesHttps));
  const redirect = isOnward ? found : null;
  const fail = (found: Problem): FoundDestination => ({ ok: false, problem: found, route });
  const lead = redirect !== null ? { redirect, route } : route !== null ? { redirect, route } : null;
  if (lead === null) {
    if (targets.upstream.hasPassedThroughHere(request)) return fail(problem.targetIsThisVivarium(text));
    return fail(absolute ? problem.notReached(text, host) : problem.notServed(text, host, whyUnserved(host)));
  }
  if (absolute && !isOwnPort(port, listener.scheme, listener.port)) {
    return fail(problem.urlPortNotReached(host, port, [DEFAULT_PORT[listener.scheme], listener.port]));
  }
  return { ok: true, ...lead, hsts: found?.hsts === true && scheme === 'https' };
}

/** How long a browser uses HTTPS only: an hour, because it does so on every port of the hostname. */
const HSTS_SECONDS = 3_600;

/** Certificate authorities validate over HTTP before a certificate exists (RFC 8555 §8.3). */
const ACME_CHALLENGES = '/.well-known/acme-challenge/';

const mustUseHttps = (
  scheme: Scheme,
  hostname: string,
  path: string,
  servesHttps: PipelineServices['servesHttps'],
): boolean => scheme === 'http' && !path.startsWith(ACME_CHALLENGES) && servesHttps(hostname);

/** Answers with a redirect to another hostname, or to HTTPS. */
function redirectTo(
  { to, status, secure }: Redirect,
  asked: RequestedUrl,
  { request, connection, record }: Exchange,
  httpsPort: number,
): Answer {
  const { scheme, port: listenerPort } = record.client ?? connection.listener;
  const { port: askedPort } = asked.authority.authority;
  const to443 = record.client !== null || listenerPort === DEFAULT_PORT.http || isDefault(askedPort, 'http');
  const url =
    secure && scheme === 'http'
      ? originOf('https', to, to443 ? DEFAULT_PORT.https : httpsPort)
      : originOf(scheme, to, asked.absolute ? (askedPort ?? DEFAULT_PORT[scheme]) : listenerPort);
  return redirectAnswer(status, `${url}${request.url ?? '/'}`);
}

const isDefault = (port: number | null, scheme: Scheme): boolean => port === null || port === DEFAULT_PORT[scheme];

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
