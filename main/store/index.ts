export { claimDataFolder, DATABASE_FILE } from './data-folder.ts';
export { openStore } from './store.ts';
