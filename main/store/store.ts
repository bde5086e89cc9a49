import { dirname, join } from 'node:path';
import type { AdjustableClock, Clock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { WrittenBackup } from '../contract/snapshots.ts';
import { createAcmeRows } from './tables/acme.ts';
import { writeBackupFile } from './copies/folder-backup.ts';
import { SNAPSHOT_FOLDER } from '../base/system/data-folder.ts';
import { createBreaks } from './tables/breaks.ts';
import type { Connection } from './connection.ts';
import { createClockSettings, createSettings } from './tables/settings.ts';
import { scheduleDailyBackup } from './copies/daily-backup.ts';
import { openDatabase, refuseBackup, type DatabaseOptions, type OpenDatabase } from './database.ts';
import { createDatasets, createPurge } from './tables/datasets.ts';
import { createDeploys, createRequests, createProjects } from './tables/projects.ts';
import { createDomains, createRevocations } from './tables/domains.ts';
import { createKeys, createLimits } from './tables/keys.ts';
import { createOrders } from './tables/orders.ts';
import { createPets } from './tables/pets.ts';
import { createProviderItems } from './tables/provider-items.ts';
import { createOwned } from './tables/owned.ts';
import { createRecords } from './tables/records.ts';
import { createSnapshots } from './copies/snapshots.ts';
import { createSerials, createZones } from './tables/zones.ts';
import { copyFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { unavailable, type VivariumError } from '../contract/errors.ts';
import { syncFolder, syncPath } from '../base/system/files.ts';

/** How long changes may go to a file that no path leads to, which SQLite does not notice. Real time. */
const LOOK_MS = 500;

/**
 * The file of an open database, which another program can remove or replace on all systems but Windows.
 * @param onLost is called once, when the path no longer leads to the file
 */
function watchDatabaseFile(
  { connection, backups, file, schema }: OpenDatabase,
  { clock, onLost }: { clock: Pick<Clock, 'realTimer'>; onLost: (error: VivariumError) => void },
) {
  if (file === null) return { rescue: () => undefined, stop: () => undefined };
  const path = file;
  const identity = identityOf(path);
  let timer: Timer = { cancel: () => undefined };

  const look = () => {
    if (identityOf(path) === identity) timer = clock.realTimer(LOOK_MS, look);
    else onLost(lost(path));
  };
  look();

  return {
    /**
     * Restores the open database's content if its file is gone; makes a backup of it if another file has replaced it.
     * Call before closing the database. @throws if it cannot be written
     */
    rescue() {
      const found = identityOf(path);
      if (found === identity) return;
      const backup = backups.takeNow(connection.sqlite, schema);
      if (found !== null) return;
      // SQLite would apply the leftovers of the old log to the copy.
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
      copyFileSync(backup, `${path}.tmp`);
      syncPath(`${path}.tmp`, 'r+');
      renameSync(`${path}.tmp`, path);
      syncFolder(dirname(path));
    },
    stop: () => timer.cancel(),
  };
}

/** Null without a file. */
function identityOf(path: string): string | null {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? null : `${facts.dev} ${facts.ino}`;
}

const lost = (path: string): VivariumError =>
  unavailable(
    `Another program removed or replaced the database ${path}. A removed database is written again with all its ` +
      'content. If another file is in its place, that one is used, and the previous content is the newest backup.',
  );

export interface StoreOptions extends DatabaseOptions {
  clock: Pick<AdjustableClock, 'now' | 'realTimer' | 'state'>;
  /** For snapshots; by default beside the file. */
  snapshotFolder?: string;
  /** The open database can no longer be used: close the store, and open it again. Called once. */
  onFault?: (error: unknown) => void;
}

/**
 * Opens or creates the store in `file` (its folder must exist), or an ephemeral one in `:memory:`. @throws
 * VivariumError as `openDatabase`.
 */
export function openStore(options: StoreOptions) {
  const { clock, log, onFault = () => undefined } = options;
  const database = openDatabase(options);
  const { connection, backups, warnings } = database;

  const datasets = createDatasets(connection, log);
  const purge = createPurge(connection, log);
  const pets = createPets(connection, datasets);
  const projects = createProjects(connection, datasets, () => void purge.begin());
  const serials = createSerials(connection);
  const dailyBackup = scheduleDailyBackup(database, { clock, log });
  const watchedFile = watchDatabaseFile(database, { clock, onLost: onFault });
  connection.onBroken(onFault);
  void purge.begin();

  return {
    projects,
    deploys: createDeploys(connection),
    requests: createRequests(connection),
    keys: createKeys(connection),
    pets,
    orders: createOrders(connection, datasets),
    zones: createZones(connection, serials, purge.begin),
    records: createRecords(connection, serials),
    serials,
    domains: createDomains(connection),
    revocations: createRevocations(connection),
    settings: createSettings(connection),
    owned: createOwned(connection),
    providerItems: createProviderItems(connection),
    acme: createAcmeRows(connection),
    limits: createLimits(connection),
    breaks: createBreaks(connection),
    clock: createClockSettings(connection),
    quota: createQuota(connection),
    snapshots: createSnapshots({
      connection,
      folder: options.snapshotFolder ?? join(dirname(options.file), SNAPSHOT_FOLDER),
      clock,
      before: () => pets.flush(),
      after() {
        datasets.forget();
        void purge.begin();
      },
    }),
    /** Problems, in sentences; grows while the store is open. */
    warnings,
    /** Paths of the backups, newest first. */
    backupFiles: (): string[] => backups.list().map((backup) => backup.path),
    /** Writes everything that the data folder keeps into one file. @throws VivariumError as `writeBackupFile`. */
    async backUpTo(target: { file: string; force: boolean }): Promise<WrittenBackup> {
      if (database.file === null) refuseBackup();
      return await writeBackupFile({ sqlite: connection.sqlite, dataDir: dirname(database.file), ...target });
    },
    /** Commits queued writes, checkpoints the write-ahead log, and closes the file. Idempotent. */
    close(): void {
      if (!connection.sqlite.open) return;
      dailyBackup.cancel();
      watchedFile.stop();
      purge.stop();
      pets.close();
      try {
        watchedFile.rescue();
      } catch (error) {
        log.error('The content of the lost database could not be saved', { error: connection.explain(error) });
      }
      closeDatabase(database, log);
    },
  };
}

function closeDatabase({ connection, file }: OpenDatabase, log: Log): void {
  try {
    if (file !== null) connection.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    // The log stays beside the file; the next start reads it.
    log.warn('The write-ahead log could not be moved into the database', { file, error: connection.explain(error) });
  }
  connection.sqlite.close();
}

/** SQLite's own limit: it can't be less than the existing pages (sqlite.org/pragma.html#pragma_max_page_count). */
const PAGES_MIN = 1;
const PAGES_MAX = 4_294_967_294;

/** The maximum size of the database; a limit ends with the process. */
function createQuota({ sqlite, guarded }: Pick<Connection, 'sqlite' | 'guarded'>) {
  let limited = false;
  const set = guarded((pages: number, wanted: boolean) => {
    sqlite.pragma(`max_page_count = ${pages}`);
    limited = wanted;
  });
  return {
    /** Prevents further growth: data that doesn't fit is refused as on a full disk. */
    limit: (): void => set(PAGES_MIN, true),
    lift: (): void => set(PAGES_MAX, false),
    isLimited: (): boolean => limited,
  };
}
