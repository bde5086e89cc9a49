/** What the composition root and the services take from here; everything else is for this folder and its tests. */
export type { CaaRequest } from './caa-walk.ts';
export { explainCaa } from './caa.ts';
export { caaLookupOver } from './caa-lookup.ts';
export type { DnsLookup } from './dns-lookup.ts';
export type { AttachedDomain, HeldLeaf } from './domain.ts';
export { judgeHostname } from './hostname-rules.ts';
export { createLifecycle, type Lifecycle } from './lifecycle.ts';
export { presentDomain } from './present.ts';
export type { ProviderFacts, ProviderRecord } from './provider.ts';
export { judgeRedirects } from './redirects.ts';
export { createServedLeaves } from './served-leaves.ts';
export { buildSnapshot, type PublishedSnapshot, type SnapshotSource } from './snapshot.ts';
export { whyUnserved } from './unserved.ts';
