import { statSync } from 'node:fs';
import { arch, release } from 'node:os';
import { join } from 'node:path';
import { type AdjustableClock, createClock } from '../base/clock.ts';
import { LOOPBACK_ADDRESSES, platformHostname, RUNTIME_FILE, VERSION } from '../base/config.ts';
import { DATABASE_FILE, LOGS_FOLDER } from '../base/system/data-folder.ts';
import { findPortHolder } from '../base/system/port-holder.ts';
import { askSystem } from '../base/system/system-names.ts';
import { machineTimeSeen, rootSeen, systemSeen, createDoctor, type Doctor, probe, type Probe } from './checkup.ts';
import { evaluateMachineClock, countOpenFiles, evaluateOpenFiles, evaluateVersions } from './system.ts';
import type { OpenFilesEvidence } from './system.ts';
import {
  evaluateDisk,
  evaluateFolder,
  evaluateLogs,
  readDisk,
  readFolder,
  readLogs,
  type BackupEvidence,
  type Integrity,
  evaluateBackups,
  evaluateDatabase,
} from './data-folder.ts';
import { evaluateLocalhost } from './dns.ts';
import { type AbsenceEvidence, evaluateAbsence } from './engine.ts';
import { evaluateFreePort, mayListen, type PortName, takenAddresses } from './ports.ts';
import { evaluateRoot, evaluateRootKey, readRoot } from './root.ts';

export interface FolderReaders {
  /** Whether a Vivarium holds the folder; null if unknown. */
  isFolderLocked: (dataDir: string) => boolean | null;
  /** Reads a database that is open here, until `isOver`. */
  readIntegrity: (file: string, isOver: () => boolean) => Promise<Integrity>;
  /** Reads a database that no program has open, and leaves no files beside it. */
  readIntegrityAtRest: (file: string) => Integrity;
  /** Commands that restore the newest usable backup; null if there is none. */
  restoration: (file: string) => string[] | null;
  readBackups: (file: string) => { folder: string; backups: readonly BackupEvidence[] };
  /** Larger databases get no daily backup. */
  dailyBytesMax: number;
  sqliteVersion: () => string;
  connectionLimits: () => Pick<OpenFilesEvidence, 'max' | 'connections' | 'connectionsWanted'>;
}

export interface FolderParts {
  dataDir: string;
  /** Folder of the root and the control token. */
  stateDir: string;
  /** Null for an ephemeral Vivarium. */
  databaseFile: string | null;
  clock: Pick<AdjustableClock, 'state' | 'realTimer'>;
  readers: FolderReaders;
  readIntegrity: (file: string) => Integrity | Promise<Integrity>;
  /** Fingerprint of the root in use; null without an engine. */
  usedFingerprint: () => string | null;
  hostnames: () => readonly [string, ...string[]];
  /** Whether a break keeps the database from growing. */
  isLimited?: () => boolean;
}

const { platform } = process;
const UNREAD = { state: 'unread', why: 'there is none.' } as const;

/** Probes that need no engine: the data folder, the root's files, this machine. */
export function folderProbes(parts: FolderParts): Probe[] {
  const { dataDir, stateDir, databaseFile, clock, readers, readIntegrity, usedFingerprint, hostnames } = parts;
  const { isLimited = () => false } = parts;
  const realNowMs = () => clock.state().realNow;
  const rootFolder = join(stateDir, 'ca');
  return [
    probe('data', 'disk', 'Disk space', () => [evaluateDisk({ ...readDisk(existing(dataDir)), limited: isLimited() })]),
    probe('data', 'folder', 'Permissions', () => [evaluateFolder(readFolder(dataDir, platform))]),
    probe('data', 'database', 'Database', async () => {
      const path = databaseFile;
      const bytes = path === null ? null : sizeOf(path);
      const integrity = path === null ? UNREAD : await readIntegrity(path);
      const restore = path !== null && integrity.state === 'damaged' ? readers.restoration(path) : null;
      return [evaluateDatabase({ path, bytes, integrity, restore })];
    }),
    probe('data', 'backups', 'Backups', () => {
      const read = databaseFile === null ? { folder: '', backups: null } : readers.readBackups(databaseFile);
      const facts = databaseFile === null ? undefined : statSync(databaseFile, { throwIfNoEntry: false });
      return [
        evaluateBackups({
          ...read,
          realNowMs: realNowMs(),
          databaseMadeAtMs: facts?.birthtimeMs ?? null,
          databaseBytes: facts?.size ?? 0,
          dailyBytesMax: readers.dailyBytesMax,
        }),
      ];
    }),
    probe('data', 'logs', 'Logs', () => [evaluateLogs(readLogs(join(dataDir, LOGS_FOLDER)))]),
    probe('root', 'files', 'Root', (find) => {
      const { root, key } = readRoot(rootFolder, platform);
      const certificate = rootSeen(find, root.certificate, realNowMs());
      return [
        evaluateRoot({
          ...{ ...root, certificate, platform },
          usedFingerprint: usedFingerprint(),
          realNowMs: realNowMs(),
        }),
        evaluateRootKey(key),
      ];
    }),
    probe('clock', 'machine', 'The machine’s clock', (find) => [
      evaluateMachineClock({
        realNowMs: machineTimeSeen(find, realNowMs()),
        past: pastMoments(rootFolder, databaseFile),
      }),
    ]),
    probe('dns', 'localhost', '*.localhost on this system', async (find) => {
      const all = hostnames();
      const answer = systemSeen(find, all[0], await askSystem(all[0], clock));
      return [evaluateLocalhost({ hostnames: all, answer, platform })];
    }),
    probe('system', 'open-files', 'Open files', () => [
      evaluateOpenFiles({ ...readers.connectionLimits(), open: countOpenFiles(), platform }),
    ]),
    probe('system', 'versions', 'Versions', () => [
      evaluateVersions({
        vivarium: VERSION,
        versions: process.versions,
        sqlite: readers.sqliteVersion(),
        platform,
        release: release(),
        arch: arch(),
      }),
    ]),
  ];
}

/** The command line's knowledge of an engine that does not answer or does not run. */
export interface AbsentEngine {
  dataDir: string;
  runtime: AbsenceEvidence['runtime'];
  silence: string | null;
  /** Its ports, or those of the next start; 0 means any free one. */
  ports: readonly PortName[];
}

/** The doctor without an engine: checks the data folder, the ports and this machine without changing them. */
export function createFolderDoctor(
  { dataDir, runtime, silence, ports }: AbsentEngine,
  readers: FolderReaders,
  ownCommand: (command: string) => string,
): Doctor {
  const clock = createClock();
  const locked = readers.isFolderLocked(dataDir);
  const pid = runtime.state === 'read' && locked === true ? runtime.pid : null;

  const portProbe = (port: PortName): Probe =>
    probe('listeners', port.name, port.title, async () => {
      const taken = port.port === 0 ? [] : await takenAddresses(LOOPBACK_ADDRESSES, port.port, clock);
      const holder = port.port === 0 ? null : holderOf(port.port, port.name);
      return [evaluateFreePort({ port, taken, holder, permitted: mayListen(port.port, platform), pid })];
    });

  const probes = (): Probe[] => [
    probe('engine', 'process', 'Process', () => [
      evaluateAbsence({ dataDir, runtimeFile: join(dataDir, RUNTIME_FILE), runtime, locked, silence }),
    ]),
    ...ports.map(portProbe),
    ...folderProbes({
      dataDir,
      stateDir: dataDir,
      databaseFile: join(dataDir, DATABASE_FILE),
      clock,
      readers,
      // An open database has a log beside it, with part of its content.
      readIntegrity: (file) =>
        locked === true ? readers.readIntegrity(file, () => false) : readers.readIntegrityAtRest(file),
      usedFingerprint: () => null,
      hostnames: () => [platformHostname('demo', 'production')],
    }),
  ];
  return createDoctor({ clock, probes, running: false, ownCommand });
}

export const holderOf = (port: number, name: string) =>
  findPortHolder(port) ?? (name === 'dns' ? findPortHolder(port, { transport: 'udp' }) : null);

const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null;

/** Past events of this machine, from file times. */
function pastMoments(rootFolder: string, databaseFile: string | null): { what: string; atMs: number }[] {
  const { certificate } = readRoot(rootFolder, platform).root;
  const written = databaseFile === null ? undefined : statSync(databaseFile, { throwIfNoEntry: false })?.mtimeMs;
  return [
    ...(certificate.state === 'read' ? [{ what: 'the root was made', atMs: certificate.notBeforeMs }] : []),
    ...(written === undefined ? [] : [{ what: 'the database was written', atMs: written }]),
  ];
}

/** The folder, or its nearest existing parent. */
function existing(path: string): string {
  const parent = join(path, '..');
  return sizeOf(path) !== null || parent === path ? path : existing(parent);
}
