export { type DomainRow } from './domains.ts';
export { DATABASE_FILE } from '../base/data-folder.ts';
export { type BackupReading, readBackups } from './backup-reading.ts';
export { DAILY_BYTES_MAX } from './daily-backup.ts';
export { claimDataFolder, isFolderLocked } from './data-folder.ts';
export { type IntegrityReading, readIntegrity, readIntegrityAtRest, restoration, sqliteVersion } from './integrity.ts';
export { openStore, type Store } from './store.ts';
