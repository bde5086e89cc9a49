import { ownCommand } from '../base/system/own-command.ts';
import type { DoctorArea, DoctorReport } from '../contract/doctor.ts';
import { type AbsentEngine, createFolderDoctor, type FolderReaders } from '../doctor/folder-doctor.ts';
import { boundConnections, readOpenFilesMax, DEFAULT_PROXY_LIMITS } from '../proxy/front/proxy-limits.ts';
import { readBackups } from '../store/copies/backups.ts';
import { DAILY_BYTES_MAX } from '../store/copies/daily-backup.ts';
import { isFolderLocked } from '../store/data-folder.ts';
import { readIntegrity, readIntegrityAtRest, restoration, sqliteVersion } from '../store/integrity.ts';

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
