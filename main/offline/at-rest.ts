import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClock } from '../base/clock.ts';
import { DATABASE_FILE } from '../base/system/data-folder.ts';
import { reasonOf } from '../base/error-code.ts';
import { readOwnRoots } from '../ca/authority.ts';
import { ROOT_CERTIFICATE_FILE } from '../ca/root-folder.ts';
import { createRunCommand } from '../ca/stores/run-command.ts';
import type { TrustStores } from '../ca/stores/truststores.ts';
import { openTrustStores } from '../composition/certificates.ts';
import { openMachine, openMachineLedger, trustLedger } from '../composition/machine.ts';
import { ownCommand } from '../base/system/own-command.ts';
import type { WrittenBackup } from '../contract/snapshots.ts';
import { conflict, notFound, orElse, unavailable } from '../contract/errors.ts';
import type { Machine } from '../machine/machine.ts';
import { findTraces, type Trace, type TraceFacts } from '../reach/traces.ts';
import { claimDataFolder, isFolderLocked } from '../store/data-folder.ts';
import { dropBadRowsOf, openAtRest } from '../store/database.ts';
import { type Restored, restoreFolder, writeBackupFile } from '../store/copies/folder-backup.ts';
import type { DoctorArea, DoctorReport } from '../contract/doctor.ts';
import { type AbsentEngine, createFolderDoctor, type FolderReaders } from '../doctor/folder-doctor.ts';
import { boundConnections, readOpenFilesMax, DEFAULT_PROXY_LIMITS } from '../proxy/front/proxy-limits.ts';
import { readBackups } from '../store/copies/backups.ts';
import { DAILY_BYTES_MAX } from '../store/copies/daily-backup.ts';
import { readIntegrity, readIntegrityAtRest, restoration, sqliteVersion } from '../store/integrity.ts';

/** Writes a backup of a data folder that no engine is using. @throws VivariumError from `writeBackupFile` */
export async function backUpAtRest(dataDir: string, target: { file: string; force: boolean }): Promise<WrittenBackup> {
  const database = join(dataDir, DATABASE_FILE);
  if (!existsSync(database)) throw notFound(`There is no Vivarium database in ${dataDir}.`);
  refuseReadOnly(dataDir);
  const folder = claimDataFolder(dataDir);
  try {
    const sqlite = openAtRest(database);
    try {
      return await writeBackupFile({ sqlite, dataDir, ...target });
    } finally {
      sqlite.close();
    }
  } finally {
    folder.release();
  }
}

/** Without the lock, an engine could change the files during the copy, through another path that is writable. */
function refuseReadOnly(dataDir: string): void {
  try {
    accessSync(dataDir, constants.W_OK);
  } catch (cause) {
    throw unavailable(
      `${dataDir} can't be locked for the backup (${reasonOf(cause)}): no backup was written. ` +
        'Copy the folder to a place where you can write, and back up the copy with --data-dir.',
      { cause },
    );
  }
}

export { isFolderLocked };

function refuseRunning(dataDir: string): void {
  if (isFolderLocked(dataDir) !== true) return;
  const stop = ownCommand(dataDir)('vivarium stop');
  throw conflict(`Vivarium is running on ${dataDir}; nothing was changed. Stop it first: ${stop}`);
}

/**
 * Replaces the content of a data folder with a backup.
 * @throws VivariumError from `restoreFolder`; `conflict` while the folder is in use
 */
export function restoreAtRest(dataDir: string, file: string): Restored {
  refuseRunning(dataDir);
  const folder = claimDataFolder(dataDir);
  let leaveNothing = true;
  try {
    const restored = restoreFolder(dataDir, file);
    leaveNothing = false;
    return restored;
  } finally {
    folder.release({ leaveNothing });
  }
}

/**
 * Leaves out the rows that a start refuses, after a copy in the folder of backups; returns what was wrong, and the copy.
 * @throws VivariumError `conflict` while the folder is in use; `not_found` without a database
 */
export function dropBadRowsAtRest(dataDir: string): { dropped: string[]; copy: string | null } {
  refuseRunning(dataDir);
  const folder = claimDataFolder(dataDir);
  try {
    return dropBadRowsOf(join(dataDir, DATABASE_FILE));
  } finally {
    folder.release();
  }
}

/** The parts that `vivarium uninstall` reads and undoes; `stores` is null if there is no root. */
export interface Installation {
  stores: Pick<TrustStores, 'list' | 'untrust'> | null;
  machine: Pick<Machine, 'status' | 'undo'>;
}

/** Reads a data folder without changing it. @throws VivariumError `unavailable` if the root cannot be read */
export function readInstallation(dataDir: string): Installation {
  const directory = join(dataDir, 'ca');
  const own = existsSync(directory) ? readOwnRoots(directory) : null;
  const clock = createClock();
  const run = createRunCommand({ clock, environment: process.env });
  const ledger = openMachineLedger('');
  const now = () => clock.state().realNow;
  const stores = own === null ? null : openTrustStores(run, () => own, trustLedger(ledger, { dataDir, now }));
  return { stores, machine: openMachine({ ledger, root: '', dataDir, clock, run, stores }) };
}

/** Changes on this machine that the user made on Vivarium's instructions. */
export const findTracesHere = (facts: {
  dataDir: string;
  home: string;
  environment: TraceFacts['environment'];
}): Trace[] =>
  findTraces({
    ...facts,
    platform: process.platform,
    caFile: join(facts.dataDir, 'ca', ROOT_CERTIFICATE_FILE),
    readText: (path) => orElse(() => readFileSync(path, 'utf8'), null),
  });

/** The readers of the store and the proxy, for the doctor. */
export const FOLDER_READERS: FolderReaders = {
  isFolderLocked,
  readIntegrity,
  readIntegrityAtRest,
  restoration,
  readBackups,
  dailyBytesMax: DAILY_BYTES_MAX,
  sqliteVersion,
  connectionLimits() {
    const max = readOpenFilesMax();
    const { connectionsMax: connectionsWanted } = DEFAULT_PROXY_LIMITS;
    return { max, connections: boundConnections(connectionsWanted, max), connectionsWanted };
  },
};

/** Checks the data folder, the ports and this machine when no engine answers. */
export const checkFolder = (engine: AbsentEngine, areas?: readonly DoctorArea[]): Promise<DoctorReport> =>
  createFolderDoctor(engine, FOLDER_READERS, ownCommand(engine.dataDir)).run(areas);
