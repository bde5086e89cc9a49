/** What the composition root and the services take from here; everything else is for this folder and its tests. */
export { openAuthority, type Authority } from './authority.ts';
export { describeRoot, type RootDescription } from './describe.ts';
export { openKeyVault, type KeyStorage } from './key-vault.ts';
export { createLeaf, type CreateLeafOptions } from './leaf.ts';
export { createLeafContexts, type LeafContexts, type LeafContextsOptions } from './leaf-contexts.ts';
export { machineStores } from './machine-stores.ts';
export { trustInHome } from './nss-database.ts';
export { findProgram } from './programs.ts';
export { createRevocationList } from './revocation-list.ts';
export { ROOT_CERTIFICATE_FILE } from './root-folder.ts';
export type { Root } from './root.ts';
export { createRunCommand } from './run-command.ts';
export { createTrustStores, type TrustStores } from './truststores.ts';
