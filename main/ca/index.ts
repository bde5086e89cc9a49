/** What the composition root and the services take from here; everything else is for this folder and its tests. */
export { describeLeaf, describeRoot, type LeafDescription, type RootDescription } from './describe.ts';
export { createLeaf, isRenewalDue, type CreateLeafOptions, type Leaf } from './leaf.ts';
export { createLeafContexts, type LeafContexts, type LeafContextsOptions } from './leaf-contexts.ts';
export { loadOrCreateRoot, type LoadOrCreateRootOptions, ROOT_CERTIFICATE_FILE } from './root-folder.ts';
export type { Root } from './root.ts';
