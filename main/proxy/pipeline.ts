import type { Clock } from '../base/clock.ts';
import { parseAuthority } from '../base/hostname.ts';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Decision, RateState } from '../model/rate-decision.ts';
import type { PlanLimits } from '../contract/projects.ts';
import { DEFAULT_PORT, originOf, type Answer } from './answer.ts';
import { readAuthority } from './authority.ts';
import type { Caller, RequestLimiter } from '../model/caller.ts';
import { isOwnPort } from './connect-request.ts';
import { cutExchange } from './connection.ts';
import type { Connections } from './connections.ts';
import type { StageName } from '../contract/stages.ts';
import type { Exchange } from './exchange.ts';
import { hashToken, identifyKey } from './identify.ts';
import { hasBody } from './message-body.ts';
import type { Passes } from './passes.ts';
import { rawResponse } from './parser-fault.ts';
import * as problem from './problem.ts';
import type { Problem } from './problem.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import type { Route, UpstreamDestination } from '../model/route.ts';
import type { Target, UpstreamContext, UpstreamTarget } from './target.ts';
import { rateFields } from './upstream/rate-fields.ts';

export interface PipelineServices {
  limiter: RequestLimiter;
  /** For what Vivarium sends itself, on an API key's behalf. */
  passes: Pick<Passes, 'redeem'>;
  targets: { api: Target; upstream: UpstreamTarget };
  /** For callers without a valid API key. */
  freeLimits: PlanLimits;
  limits: ProxyLimits;
  /** Why a hostname without a route is not served although it is attached, as a sentence; null for any other. */
  whyUnserved: (hostname: string) => string | null;
  connections: Pick<Connections, 'countUpstream'>;
  /** Told of every request that reaches its target, or is refused in its place. Must not throw. */
  onArrival: ((route: Route, decision: Decision | null) => void) | undefined;
  clock: Pick<Clock, 'monotonic'>;
  /** Told when a target rejects after it was handed the exchange. */
  onTargetError: (exchange: Exchange, error: unknown) => void;
  /** Answers an exchange that a target has given back. */
  onTargetAnswer: (exchange: Exchange, answer: Answer) => void;
}

/** One step of a request. It answers, or returns null and leaves what it found out in the exchange. */
interface Stage {
  name: StageName;
  run(exchange: Exchange): Answer | null;
}

/** Sends an exchange through the stages; the answer of the first that has one, null when the target answers. */
export type Pipeline = (exchange: Exchange) => Answer | null;

export function createPipeline(services: PipelineServices): Pipeline {
  const { limits, limiter, passes, freeLimits } = services;

  const stages: readonly Stage[] = [
    { name: 'listener', run: (exchange) => checkListener(exchange, limits) }, //                 400, 405, 503
    { name: 'authority', run: (exchange) => checkAuthority(exchange, limits) }, //               400, 414, 421, 431
    { name: 'route', run: (exchange) => findRoute(exchange, services) }, //                     404, 508
    { name: 'redirect', run: redirect }, //                                                      301, 302, 307, 308
    { name: 'identify', run: (exchange) => identify(exchange, passes) }, //                      (401 by the target)
    { name: 'limit', run: (exchange) => decide(exchange, limiter, freeLimits, services.targets) }, // (429 by the target)
    { name: 'target', run: (exchange) => handOver(exchange, services) },
  ];

  return (exchange) => {
    for (const stage of stages) {
      exchange.stage = stage.name;
      const answer = stage.run(exchange);
      if (answer !== null) return answer;
    }
    return null;
  };
}

const refuse = (found: Problem): Answer => ({ kind: 'problem', problem: found });

/** URLs that a message repeats are cut here; a longer one helps nobody. */
const SHOWN_URL_LENGTH_MAX = 300;

/** Is this a request that this port and connection can carry at all? */
function checkListener({ connection, request, headers }: Exchange, limits: ProxyLimits): Answer | null {
  if (connection.misdialled) {
    const known =
      headers.host !== null && parseAuthority(headers.host) !== null && request.url?.startsWith('/') === true;
    const url = known ? `https://${headers.host}${request.url}` : 'https://';
    return refuse(problem.plainHttpOnTls(url.slice(0, SHOWN_URL_LENGTH_MAX)));
  }
  // Of HTTP/2 only: the HTTP/1.x server never lets one in.
  if (request.method === 'CONNECT') return refuse(problem.connectRefused());
  return connection.exchanges.length > limits.pipelinedMax
    ? refuse(problem.tooManyPipelined(limits.pipelinedMax))
    : null;
}

/** Whom is it for? One answer, or none; and the TLS connection must have been made for the same hostname. */
function checkAuthority(exchange: Exchange, limits: ProxyLimits): Answer | null {
  const { request, connection, stream, table } = exchange;
  const verdict = readAuthority({
    method: request.method ?? '',
    target: request.url ?? '',
    httpVersion: request.httpVersion,
    http2: stream !== null,
    pseudoAuthority: stream === null ? null : pseudoHeader(exchange, ':authority'),
    pseudoScheme: stream === null ? null : pseudoHeader(exchange, ':scheme'),
    scheme: connection.listener.scheme,
    headers: exchange.headers,
    limits,
    known: connection.lastAuthority,
  });
  if (!verdict.ok) return refuse(verdict.problem);
  const { text, authority } = verdict.authority;
  const { host } = authority;
  exchange.authority = authority;
  exchange.authorityText = text;
  exchange.absolute = verdict.absolute;
  connection.lastAuthority = verdict.authority;
  request.url = verdict.path;
  if (connection.serverName !== null && connection.serverName !== host && table.knows(host)) {
    return refuse(problem.misdirected(connection.serverName, host));
  }
  if (verdict.path === '*' && verdict.absolute && !table.knows(host)) return refuse(problem.notReached(text, host));
  return verdict.path === '*' ? { kind: 'options', allow: problem.ALLOWED_METHODS } : null;
}

function pseudoHeader({ request }: Exchange, name: ':authority' | ':scheme'): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}

/** Which project is that? Redirected hostnames have no route of their own. A URL is asked of a proxy, and has a port that counts. */
function findRoute(exchange: Exchange, { whyUnserved, targets }: PipelineServices): Answer | null {
  const { host, port } = authorityOf(exchange);
  const { absolute, authorityText, connection } = exchange;
  exchange.route = exchange.table.route(host) ?? null;
  if (exchange.route === null && exchange.table.redirect(host) === undefined) {
    if (targets.upstream.wasHere(exchange.request)) return refuse(problem.leadsHere(authorityText));
    return refuse(
      absolute ? problem.notReached(authorityText, host) : problem.notServed(authorityText, host, whyUnserved(host)),
    );
  }
  const { listener } = connection;
  return absolute && !isOwnPort(port, listener.scheme, listener.port)
    ? refuse(problem.urlPortNotReached(host, port, [DEFAULT_PORT[listener.scheme], listener.port]))
    : null;
}

/** Is it sent on to another hostname? */
function redirect(exchange: Exchange): Answer | null {
  const found = exchange.table.redirect(authorityOf(exchange).host);
  if (found === undefined) return null;
  const { scheme, port: listenerPort } = exchange.connection.listener;
  const port = exchange.absolute ? (authorityOf(exchange).port ?? DEFAULT_PORT[scheme]) : listenerPort;
  const location = `${originOf(scheme, found.to, port)}${exchange.request.url ?? '/'}`;
  return { kind: 'redirect', status: found.status, location };
}

/** Who is asking: an API key of this project, or an address? */
function identify(exchange: Exchange, passes: Pick<Passes, 'redeem'>): Answer | null {
  const { connection, table } = exchange;
  const route = routeOf(exchange);
  const secretHash = secretHashOf(exchange);
  exchange.keyId = secretHash === null ? null : identifyKey(secretHash, route, table, passes);
  exchange.caller =
    exchange.keyId === null
      ? { kind: 'address', address: connection.address, projectId: route.projectId }
      : { kind: 'key', keyId: exchange.keyId, projectId: route.projectId };
  return null;
}

/** Hashing is the dearest step of all stages, and one client sends the same field again and again. */
function secretHashOf({ connection, headers }: Exchange): string | null {
  const { authorization, authorizationFields } = headers;
  // With more than one it is unclear which the client meant, and none counts.
  if (authorization === null || authorizationFields !== 1) return null;
  if (connection.lastToken?.authorization !== authorization) {
    connection.lastToken = { authorization, secretHash: hashToken(authorization) };
  }
  return connection.lastToken.secretHash;
}

/** May they? A preflight carries no key by its nature and is not counted (WHATWG Fetch, CORS-preflight fetch). */
function decide(
  exchange: Exchange,
  limiter: RequestLimiter,
  freeLimits: PlanLimits,
  targets: PipelineServices['targets'],
): Answer | null {
  const route = routeOf(exchange);
  const caller = callerOf(exchange);
  const planLimits = caller.kind === 'key' ? route.limits : freeLimits;
  if (route.target.kind === 'upstream' && !route.target.limited) return null;
  exchange.decision = targets[route.target.kind].isPreflight(exchange.request)
    ? { refusal: null, rate: limiter.peek(caller, planLimits).rate }
    : limiter.take(caller, planLimits);
  return null;
}

/** Hands the exchange to where the route leads. */
function handOver(exchange: Exchange, services: PipelineServices): Answer | null {
  const route = routeOf(exchange);
  const { target } = route;
  services.onArrival?.(route, exchange.decision);
  if (exchange.capture !== null) exchange.handedMs = services.clock.monotonic();
  return target.kind === 'api' ? handToApi(exchange, services) : passOn(exchange, target, services);
}

/** The built-in API renders refusals in its own form. */
function handToApi(exchange: Exchange, services: PipelineServices): null {
  const { request, response, connection, keyId, decision } = exchange;
  if (decision === null) throw new Error('The limit stage has not run.');
  // A client that is going to be refused keeps its body (RFC 9110 §10.1.1).
  if (exchange.awaitsContinue && decision.refusal === null) response.writeContinue();
  const { scheme } = connection.listener;
  const pending = services.targets.api.handle(request, response, {
    route: routeOf(exchange),
    keyId,
    decision,
    scheme,
    authority: authorityOf(exchange),
    origin: `${scheme}://${exchange.authorityText}`,
  });
  if (pending instanceof Promise) pending.catch((error: unknown) => services.onTargetError(exchange, error));
  return null;
}

/** An upstream knows nothing of plans: the proxy refuses in its place. */
function passOn(exchange: Exchange, destination: UpstreamDestination, services: PipelineServices): Answer | null {
  const { request, response, decision, upgrade, connection } = exchange;
  if (decision !== null && decision.refusal !== null) {
    return refuse(withRate(problem.refusedByLimit(decision.refusal), decision.rate));
  }
  const rate = decision?.rate ?? null;
  const describe = (found: Problem): Problem => (rate === null ? found : withRate(found, rate));
  const context: UpstreamContext = {
    response,
    destination,
    from: {
      address: connection.address,
      scheme: connection.listener.scheme,
      port: connection.listener.port,
      authority: exchange.authorityText,
    },
    rate,
    goOn: exchange.awaitsContinue ? () => goOn(exchange) : null,
    answer: (found) => services.onTargetAnswer(exchange, refuse(describe(found))),
    cut: () => cutExchange(exchange),
  };
  if (upgrade === null) {
    if (hasBody(request)) followBody(exchange, services.clock);
    services.targets.upstream.handle(request, context);
  } else {
    const { socket, head } = upgrade;
    services.targets.upstream.upgrade(request as IncomingMessage, socket, head, {
      ...context,
      answer: (found) => answerRaw(socket, describe(found)),
      opened: (upstream) => {
        exchange.tunnelled = true;
        services.connections.countUpstream(upstream);
      },
    });
  }
  return null;
}

function goOn(exchange: Exchange): void {
  const { response } = exchange;
  exchange.awaitsContinue = false;
  if (!response.headersSent && !response.destroyed) response.writeContinue();
}

/** The long upload is no slow client as long as it moves. */
function followBody(exchange: Exchange, clock: PipelineServices['clock']): void {
  exchange.request.on('data', () => {
    exchange.activeMs = clock.monotonic();
  });
}

/** Node has let go of the socket of an upgrade, so its answer is written by hand. */
function answerRaw(socket: Socket, { code, status, message, headers }: Problem): void {
  if (socket.writable) socket.write(rawResponse({ code, status, message }, headers));
  socket.destroySoon();
}

const withRate = (found: Problem, rate: RateState): Problem => ({
  ...found,
  headers: { ...found.headers, ...rateFields(rate) },
});

/* What earlier stages have found out. The order of the stages makes sure of it; the compiler cannot know. */

function authorityOf({ authority }: Exchange): NonNullable<Exchange['authority']> {
  if (authority === null) throw new Error('The authority stage has not run.');
  return authority;
}

function routeOf({ route }: Exchange): NonNullable<Exchange['route']> {
  if (route === null) throw new Error('The route stage has not run.');
  return route;
}

function callerOf({ caller }: Exchange): Caller {
  if (caller === null) throw new Error('The identify stage has not run.');
  return caller;
}
