export { type DomainRow } from './domains.ts';
export { DATABASE_FILE } from '../base/data-folder.ts';
export { claimDataFolder } from './data-folder.ts';
export { openStore, type Store } from './store.ts';
