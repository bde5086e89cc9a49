import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type SecureClientSessionOptions,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import { createClock, type Clock } from '../../../main/base/clock.ts';
import { type FaultSource, NO_FAULTS } from '../../../main/model/fault.ts';
import type { Decision, Caller } from '../../../main/model/rate-decision.ts';
import { silentLog, type Log } from '../../../main/base/log.ts';
import { hashSecret } from '../../../main/base/secret.ts';
import type { PlanLimits } from '../../../main/contract/projects.ts';
import { loadErrorPages } from '../../../main/proxy/answer.ts';
import type { ExchangeSummary } from '../../../main/model/exchange-record.ts';
import type { ProxyLimits } from '../../../main/proxy/front/proxy-limits.ts';
import type { Recording } from '../../../main/proxy/exchanges.ts';
import type { OwnPaths } from '../../../main/proxy/front/own-paths.ts';
import { track } from '../engine.ts';
import { createInternalTokens } from '../../../main/proxy/identify.ts';
import type { ProviderTarget, Target } from '../../../main/proxy/route-table.ts';
import { createProxy, type ProxyOptions } from '../../../main/proxy/proxy.ts';
import type { Route, Snapshot, TargetContext } from '../../../main/model/route.ts';
import { hasBody, type HttpRequest } from '../../../main/base/http/message.ts';
import type { TestCertificates } from './proxy-certificates.ts';

export const PAGES_DIRECTORY = join(import.meta.dirname, '../../../resources/pages');
export const FREE: PlanLimits = { perMinute: 60, perDay: 1000 };
export const PRO: PlanLimits = { perMinute: 300, perDay: 10_000 };

export const DEMO = 'demo.vivarium.localhost';
export const STAGING = 'demo-staging.vivarium.localhost';
export const SHOP = 'shop.acme.test';
export const MOVED = 'old.acme.test';
export const DEFAULT_LEAF = 'vivarium.localhost';

export const DEMO_SECRET = `viv_${'d'.repeat(32)}`;
export const SHOP_SECRET = `viv_${'s'.repeat(32)}`;

export function routeFor(hostname: string, projectId: string, more: Partial<Route> = {}): Route {
  return {
    hostname,
    projectId,
    projectName: projectId,
    slug: 'demo',
    environment: 'production',
    plan: 'pro',
    limits: PRO,
    target: { kind: 'api' },
    ...more,
  };
}

/** Two projects, one of them with two hostnames and a redirect. */
export function testSnapshot(more: Partial<Snapshot> = {}): Snapshot {
  return {
    routes: [
      routeFor(DEMO, 'prj_demo'),
      routeFor(STAGING, 'prj_demo', { environment: 'staging' }),
      routeFor(SHOP, 'prj_shop'),
    ],
    redirects: new Map([[MOVED, { to: SHOP, status: 301 as const, secure: false, hsts: false }]]),
    apiKeys: new Map([
      [hashSecret(DEMO_SECRET), { keyId: 'key_demo', projectId: 'prj_demo' }],
      [hashSecret(SHOP_SECRET), { keyId: 'key_shop', projectId: 'prj_shop' }],
    ]),
    ...more,
  };
}

function createRecordingLimiter() {
  const rate = { limit: 60, remaining: 59, resetAtMs: 1_800_000_000_000 };
  const refusal = { code: 'rate_limit_exceeded', retryAfterSeconds: 7, message: 'The minute is used up.' } as const;
  const answering =
    (method: 'take' | 'peek') =>
    (caller: Caller, limits: PlanLimits): Decision => {
      limiter.asked.push({ method, caller, limits });
      return { refusal: limiter.refusing ? refusal : null, rate };
    };
  const asked: { method: 'take' | 'peek'; caller: Caller; limits: PlanLimits }[] = [];
  const limiter = { asked, refusing: false, take: answering('take'), peek: answering('peek') };
  return limiter;
}

export type Handler = (request: HttpRequest, response: ServerResponse, context: TargetContext) => void | Promise<void>;

/** Calls `then` after the body; over HTTP/1.1, a request without one emits no `end`. */
export function afterBody(request: HttpRequest, then: () => void): void {
  if (!hasBody(request) || request.readableEnded) then();
  else request.once('end', then).resume();
}

/** Echoes the request after reading its body. */
export const echo: Handler = (request, response, context) => {
  let bytes = 0;
  if (hasBody(request)) request.on('data', (chunk: Buffer) => (bytes += chunk.length));
  afterBody(request, () => {
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({
        method: request.method,
        url: request.url,
        bytes,
        hostname: context.route.hostname,
        keyId: context.keyId,
        scheme: context.scheme,
        origin: context.origin,
        httpVersion: request.httpVersion,
      }),
    );
  });
};

export const targetOf = (handle: Handler): Target => ({
  isPreflight: (request) =>
    request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined,
  corsFields: () => ['Access-Control-Allow-Origin', '*'],
  // Over HTTP/2 the compatibility layer has the same methods.
  handle: ({ request, response }, context) => handle(request, response as ServerResponse, context),
  refuse: ({ response }, _context, { status, message, headers }) =>
    void (response as ServerResponse).writeHead(status, headers as string[]).end(message),
});

export type RunningProxy = Awaited<ReturnType<typeof launch>>;

/** The date in broken answers. */
export const REAL_NOW_MS = Date.UTC(2026, 10, 22, 12);

export interface ProxyStart {
  handle?: Handler;
  certificates?: TestCertificates;
  limits?: Partial<ProxyLimits>;
  snapshot?: Snapshot;
  clock?: Clock;
  log?: Log;
  whyUnserved?: (hostname: string) => string | null;
  trustedProxies?: readonly string[];
  serverTiming?: boolean;
  recording?: Recording;
  ownPaths?: OwnPaths;
  faults?: FaultSource;
  brokenFor?: ProxyOptions['brokenFor'];
}

/** A proxy on free ports with the test snapshot published, stopped after the test. */
export async function startProxy(options: ProxyStart = {}): Promise<RunningProxy> {
  const running = await launch(options);
  track(running.stop);
  return running;
}

/** The same for all tests of a file; call it while the file is loaded. */
export async function shareProxy(options: ProxyStart = {}): Promise<RunningProxy> {
  const running = await launch(options);
  afterAll(running.stop);
  return running;
}

/** No host leads to it. */
const NO_PROVIDERS: ProviderTarget = {
  isNamedIn: () => false,
  guard: () => undefined,
  identify: () => ({ route: null, keyId: null, isEmulated: false, refused: 'missing_token' }),
  decide: () => null,
  handle: () => undefined,
  refuse: () => undefined,
};

async function launch(options: ProxyStart) {
  const limiter = createRecordingLimiter();
  const summaries: ExchangeSummary[] = [];
  const proxy = createProxy({
    clock: options.clock ?? createClock(),
    log: options.log ?? silentLog,
    limiter,
    targets: { api: targetOf(options.handle ?? echo), provider: NO_PROVIDERS },
    providerPlace: () => null,
    contextFor: (hostname) => options.certificates?.contextFor(hostname ?? DEFAULT_LEAF) ?? null,
    whyUnserved: options.whyUnserved ?? (() => null),
    trustedProxies: () => options.trustedProxies ?? [],
    isTimed: () => options.serverTiming ?? false,
    recording: () => options.recording ?? 'off',
    ownPaths: options.ownPaths ?? new Map(),
    defaultHostname: DEFAULT_LEAF,
    pseudonym: 'vivarium-test',
    faults: options.faults ?? NO_FAULTS,
    realNow: () => REAL_NOW_MS,
    pages: loadErrorPages(PAGES_DIRECTORY),
    limits: options.limits ?? {},
    brokenFor: options.brokenFor ?? (() => null),
    internalTokens: createInternalTokens(),
    looks: { answer: () => null },
    ownSites: new Map(),
    onArrival: () => undefined,
    onExchange: (summary) => summaries.push(summary),
  });
  const { http, https } = await proxy.start({ httpPort: 0, httpsPort: 0 });
  proxy.publish(options.snapshot ?? testSnapshot());
  return { proxy, httpPort: http.port, httpsPort: https.port, limiter, summaries, stop: () => proxy.stop(0) };
}

/** Waits, turn by turn of the event loop, until the proxy has that many connections. */
export async function untilConnections({ proxy }: RunningProxy, count: number): Promise<void> {
  while (proxy.connections() !== count) await new Promise((resolve) => setImmediate(resolve));
}

/** What an HTTP/2 stream receives until its end. */
export async function answerOn(stream: ClientHttp2Stream) {
  let trailers: IncomingHttpHeaders = {};
  stream.on('trailers', (fields) => (trailers = fields));
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & IncomingHttpStatusHeader];
  return { status: headers[':status'], headers, text: await text(stream), trailers };
}

/** An HTTP/2 session with a hostname at the proxy, destroyed after the test. */
export function openHttp2(
  { httpsPort }: RunningProxy,
  { hostname = DEMO, ...options }: SecureClientSessionOptions & { hostname?: string } = {},
): ClientHttp2Session {
  const session = connectHttp2(`https://${hostname}:${httpsPort}`, {
    lookup: (_hostname, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    rejectUnauthorized: false,
    ...options,
  });
  // The proxy stops after the test, and may reset what is still open.
  session.on('error', () => undefined);
  track(() => session.destroy());
  return session;
}
