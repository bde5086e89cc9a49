/** What the composition root takes from here; everything else is for this folder and its tests. */
export type { Caller, Limiter } from './caller.ts';
export { loadErrorPages, type ErrorPages } from './error-pages.ts';
export { BODY_BYTES_MAX } from './capture.ts';
export type { ExchangeSummary } from './exchange.ts';
export type { Recording } from './exchanges.ts';
export { createLoopback, type Loopback, type LoopbackResponse } from './loopback.ts';
export { createPasses, type Passes } from './passes.ts';
export { createProxy, type ListenerAddress, type Proxy, type ProxyOptions } from './proxy.ts';
export { DEFAULT_PROXY_LIMITS, type ProxyLimits } from './proxy-limits.ts';
export { createRequestRates } from './request-rates.ts';
export type { ApiKeyOwner, Redirect, Route, Snapshot, UpstreamDestination } from './snapshot.ts';
export { dialUpstream } from './upstream/dial.ts';
export { probeUpstream } from './upstream/probe.ts';
export type { ProxyRequest, ProxyResponse, Scheme, Target, TargetContext } from './target.ts';
