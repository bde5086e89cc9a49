export { claimDataFolder, DATABASE_FILE, type FolderLock } from './data-folder.ts';
export { openStore, type Store, type StoreOptions } from './store.ts';
