/** What the composition root takes from here; everything else is for this folder and its tests. */
export { loadErrorPages, type ErrorPages } from './error-pages.ts';
export type { Recording } from './exchanges.ts';
export { createLoopback, type Loopback, type LoopbackResponse } from './loopback.ts';
export { createPasses, type Passes } from './passes.ts';
export { createProxy, type ListenerAddress, type Proxy, type ProxyOptions } from './proxy.ts';
export { DEFAULT_PROXY_LIMITS, type ProxyLimits } from './proxy-limits.ts';
export { createRequestRates } from './request-rates.ts';
export { dialUpstream } from './upstream/dial.ts';
export { probeUpstream } from './upstream/probe.ts';
export type { Target } from './target.ts';
