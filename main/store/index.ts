export { claimDataFolder, DATABASE_FILE } from './data-folder.ts';
export { openStore, type Store } from './store.ts';
