import type { Answer } from '../base/http/answer.ts';
import { DEFAULT_PORT, originOf, type Scheme } from '../base/text/hostname.ts';
import type { Redirect, Route, UpstreamDestination } from '../model/route.ts';
import { type Problem, rateFields } from '../model/problem.ts';
import { redirectAnswer } from './answer.ts';
import type { SentAuthority } from './front/authority.ts';
import { type Connection, type Exchange, cutExchange, type RunningRecord } from './front/connection.ts';
import * as problem from './problem.ts';
import type { RouteTable, UpstreamTarget, UpstreamContext } from './route-table.ts';
import { isOwnPort } from './tunnels/tunnel.ts';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { type BodiedRequest, hasBody } from '../base/http/message.ts';
import type { RateState } from '../model/rate-decision.ts';
import { headText } from './capture.ts';
import type { Connections } from './front/connections.ts';
import type { FrameWatch } from './tunnels/frames.ts';

export interface DestinationServices {
  targets: { upstream: Pick<UpstreamTarget, 'hasPassedThroughHere'> };
  servesHttps: (hostname: string) => boolean;
  /** Why an attached hostname without a route is not served, as a sentence; null for any other hostname. */
  whyUnserved: (hostname: string) => string | null;
}

/** A parsed authority, with the form of its request target. */
export interface RequestedUrl {
  authority: SentAuthority;
  absolute: boolean;
  path: string;
}

/** Checks that the TLS connection was opened for the same hostname. */
export function checkServerName(asked: RequestedUrl, { serverName }: Connection, table: RouteTable): Problem | null {
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
export function findDestination(
  { authority: { authority, text }, absolute, path }: RequestedUrl,
  { request, connection: { listener }, record }: Exchange,
  table: RouteTable,
  { whyUnserved, targets, servesHttps }: DestinationServices,
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
export const HSTS_SECONDS = 3_600;

/** Certificate authorities validate over HTTP before a certificate exists (RFC 8555 §8.3). */
const ACME_CHALLENGES = '/.well-known/acme-challenge/';

const mustUseHttps = (
  scheme: Scheme,
  hostname: string,
  path: string,
  servesHttps: DestinationServices['servesHttps'],
): boolean => scheme === 'http' && !path.startsWith(ACME_CHALLENGES) && servesHttps(hostname);

/** Answers with a redirect to another hostname, or to HTTPS. */
export function redirectTo(
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

export interface ForwardServices {
  targets: { upstream: UpstreamTarget };
  connections: Pick<Connections, 'countUpstream'>;
  clock: Pick<Clock, 'monotonic'>;
  watchFrames: FrameWatch;
  /** Answers an exchange that a target has returned. */
  onTargetAnswer: (exchange: Exchange, answer: Answer) => void;
}

export interface Upgrade {
  socket: Socket;
  head: Buffer;
}

export interface ForwardedExchange {
  exchange: Exchange;
  upgrade: Upgrade | null;
  /** As the client wrote it. */
  authority: string;
  destination: UpstreamDestination;
  /** Null if the project's limits do not apply to its upstream. */
  rate: RateState | null;
  refuse: (found: Problem) => Answer;
}

export function forward(
  { exchange, upgrade, authority, destination, rate, refuse }: ForwardedExchange,
  services: ForwardServices,
): null {
  const { request, response, connection, record } = exchange;
  const describe = (found: Problem): Problem => (rate === null ? found : withRate(found, rate));
  const context: UpstreamContext = {
    response,
    destination,
    from: {
      address: connection.address,
      scheme: connection.listener.scheme,
      port: connection.listener.port,
      authority,
      client: record.client,
    },
    rate,
    sendContinue: record.awaitsContinue ? () => sendContinue(exchange) : null,
    answer: (found) => services.onTargetAnswer(exchange, refuse(describe(found))),
    cut: () => cutExchange(exchange),
  };
  if (upgrade === null) {
    if (hasBody(request)) followBody(request, record, services.clock);
    services.targets.upstream.handle(request, context);
    return null;
  }
  const { socket, head } = upgrade;
  services.targets.upstream.upgrade(request as IncomingMessage, socket, head, {
    ...context,
    opened: (upstream, { headers }) => {
      record.tunnelled = true;
      record.rawStatus = 101;
      const { capture, startedMs } = record;
      if (capture !== null) {
        capture.firstByteMs = capture.monotonic();
        capture.head = headText(101, 'Switching Protocols', headers);
        if (headers.upgrade?.toLowerCase() === 'websocket') services.watchFrames(socket, upstream, capture, startedMs);
      }
      services.connections.countUpstream(upstream);
    },
  });
  return null;
}

function sendContinue({ response, record }: Exchange): void {
  record.awaitsContinue = false;
  if (!response.headersSent && !response.destroyed) response.writeContinue();
}

/** A long upload is not a slow client as long as data moves. */
function followBody(request: BodiedRequest, record: RunningRecord, clock: ForwardServices['clock']): void {
  request.on('data', () => {
    record.activeMs = clock.monotonic();
  });
}

/** The problem with the fields of the caller's rate. */
export const withRate = (found: Problem, rate: RateState): Problem => ({
  ...found,
  headers: [...found.headers, ...rateFields(rate)],
});
