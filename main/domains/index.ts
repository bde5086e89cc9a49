/** What the composition root and the services take from here; everything else is for this folder and its tests. */
export { caaLookupOver } from './caa-lookup.ts';
export type { AttachedDomain } from './domain.ts';
export { judgeHostname } from './hostname-rules.ts';
export { createLifecycle, type Lifecycle } from './lifecycle.ts';
export { presentDomain } from './present.ts';
export type { ProviderFacts, ProviderRecord } from './provider.ts';
export { judgeRedirects } from './redirects.ts';
export { createServedLeaves } from './served-leaves.ts';
export { buildSnapshot, type PublishedSnapshot, type SnapshotSource } from './snapshot.ts';
export { whyUnserved } from './hostname-machine.ts';
