import { statSync } from 'node:fs';
import { arch, release } from 'node:os';
import { join } from 'node:path';
import { type AdjustableClock, createClock } from '../base/clock.ts';
import { LOOPBACK_ADDRESSES, platformHostname, RUNTIME_FILE } from '../base/config.ts';
import { DATABASE_FILE, LOGS_FOLDER } from '../base/data-folder.ts';
import { findPortHolder } from '../base/port-holder.ts';
import { VERSION } from '../base/version.ts';
import {
  type AbsenceEvidence,
  countOpenFiles,
  createDoctor,
  type Doctor,
  judgeAbsence,
  judgeBackups,
  judgeDatabase,
  judgeDisk,
  judgeFolder,
  judgeFreePort,
  judgeLocalhost,
  judgeLogs,
  judgeMachineClock,
  judgeOpenFiles,
  judgeRoot,
  judgeRootKey,
  judgeVersions,
  mayListen,
  type PortName,
  type Probe,
  readDisk,
  readFolder,
  readLogs,
  readRoot,
  resolveBySystem,
  takenAddresses,
} from '../doctor/index.ts';
import { DEFAULT_PROXY_LIMITS } from '../proxy/proxy-limits.ts';
import { boundConnections, readOpenFilesMax } from '../proxy/open-files.ts';
import {
  DAILY_BYTES_MAX,
  type IntegrityReading,
  isFolderLocked,
  readBackups,
  readIntegrity,
  readIntegrityAtRest,
  restoration,
  sqliteVersion,
} from '../store/index.ts';
import { ownCommand } from './own-command.ts';

export interface FolderParts {
  dataDir: string;
  /** Where root and control token are. */
  stateDir: string;
  /** Null where nothing is kept. */
  databaseFile: string | null;
  clock: Pick<AdjustableClock, 'state'>;
  readIntegrity: (file: string) => IntegrityReading | Promise<IntegrityReading>;
  /** Of the root that signs now; null without an engine. */
  usedFingerprint: () => string | null;
  /** A platform hostname. */
  hostname: () => string;
}

const { platform } = process;
const UNREAD = { state: 'unread', why: 'there is none.' } as const;

/** What can be looked at with and without an engine: the data folder, the root's files, this machine. */
export function folderProbes(parts: FolderParts): Probe[] {
  const { dataDir, stateDir, databaseFile, clock, readIntegrity, usedFingerprint, hostname } = parts;
  const realNowMs = () => clock.state().realNow;
  const rootFolder = join(stateDir, 'ca');
  return [
    { area: 'data', name: 'disk', title: 'Disk space', look: () => [judgeDisk(readDisk(existing(dataDir)))] },
    { area: 'data', name: 'folder', title: 'Permissions', look: () => [judgeFolder(readFolder(dataDir, platform))] },
    {
      area: 'data',
      name: 'database',
      title: 'Database',
      async look() {
        const path = databaseFile;
        const bytes = path === null ? null : sizeOf(path);
        const integrity = path === null || bytes === null ? UNREAD : await readIntegrity(path);
        const restore = path !== null && integrity.state === 'damaged' ? restoration(path) : null;
        return [judgeDatabase({ path, bytes, integrity, restore })];
      },
    },
    {
      area: 'data',
      name: 'backups',
      title: 'Backups',
      look() {
        const read = databaseFile === null ? { folder: '', backups: null } : readBackups(databaseFile);
        const facts = databaseFile === null ? undefined : statSync(databaseFile, { throwIfNoEntry: false });
        return [
          judgeBackups({
            ...read,
            realNowMs: realNowMs(),
            databaseMadeAtMs: facts?.birthtimeMs ?? null,
            databaseBytes: facts?.size ?? 0,
            dailyBytesMax: DAILY_BYTES_MAX,
          }),
        ];
      },
    },
    { area: 'data', name: 'logs', title: 'Logs', look: () => [judgeLogs(readLogs(join(dataDir, LOGS_FOLDER)))] },
    {
      area: 'root',
      name: 'files',
      title: 'Root',
      look() {
        const { root, key } = readRoot(rootFolder, platform);
        return [
          judgeRoot({ ...root, usedFingerprint: usedFingerprint(), realNowMs: realNowMs(), platform }),
          judgeRootKey(key),
        ];
      },
    },
    {
      area: 'clock',
      name: 'machine',
      title: 'The machine’s clock',
      look: () => [judgeMachineClock({ realNowMs: realNowMs(), past: pastMoments(rootFolder, databaseFile) })],
    },
    {
      area: 'dns',
      name: 'localhost',
      title: '*.localhost on this system',
      async look() {
        return [judgeLocalhost({ hostname: hostname(), result: await resolveBySystem(hostname()), platform })];
      },
    },
    {
      area: 'system',
      name: 'open-files',
      title: 'Open files',
      look() {
        const max = readOpenFilesMax();
        const { connectionsMax: connectionsWanted } = DEFAULT_PROXY_LIMITS;
        const connections = boundConnections(connectionsWanted, max);
        return [judgeOpenFiles({ max, open: countOpenFiles(), connections, connectionsWanted, platform })];
      },
    },
    {
      area: 'system',
      name: 'versions',
      title: 'Versions',
      look: () => [
        judgeVersions({
          vivarium: VERSION,
          versions: process.versions,
          sqlite: sqliteVersion(),
          platform,
          release: release(),
          arch: arch(),
        }),
      ],
    },
  ];
}

/** What the command line knows of an engine that gave no answer, or that is not there. */
export interface AbsentEngine {
  dataDir: string;
  runtime: AbsenceEvidence['runtime'];
  silence: string | null;
  /** Those that it has, or that the next start would take; 0 is any free one. */
  ports: readonly PortName[];
}

/** The doctor without an engine: looks at the data folder, the ports and this machine, and leaves all of it as it is. */
export function createFolderDoctor({ dataDir, runtime, silence, ports }: AbsentEngine): Doctor {
  const clock = createClock();
  const locked = isFolderLocked(dataDir);
  const pid = runtime.state === 'read' && locked === true ? runtime.pid : null;

  const portProbe = (port: PortName): Probe => ({
    area: 'listeners',
    name: port.name,
    title: port.title,
    async look() {
      const taken = port.port === 0 ? [] : await takenAddresses(LOOPBACK_ADDRESSES, port.port, clock);
      const holder = port.port === 0 ? null : holderOf(port.port, port.name);
      return [judgeFreePort({ port, taken, holder, permitted: mayListen(port.port, platform), pid })];
    },
  });

  const probes = (): Probe[] => [
    {
      area: 'engine',
      name: 'process',
      title: 'Process',
      look: () => [
        judgeAbsence({ dataDir, runtimeFile: join(dataDir, RUNTIME_FILE), runtime, locked, silence, platform }),
      ],
    },
    ...ports.map(portProbe),
    ...folderProbes({
      dataDir,
      stateDir: dataDir,
      databaseFile: join(dataDir, DATABASE_FILE),
      clock,
      // What somebody has open has its log beside it already, and part of its content in there.
      readIntegrity: (file) => (locked === true ? readIntegrity(file, () => false) : readIntegrityAtRest(file)),
      usedFingerprint: () => null,
      hostname: () => platformHostname('demo', 'production'),
    }),
  ];
  return createDoctor({ clock, probes, running: false, ownCommand: ownCommand(dataDir) });
}

export const databaseIn = (dataDir: string): string => join(dataDir, DATABASE_FILE);

export const holderOf = (port: number, name: string) =>
  findPortHolder(port) ?? (name === 'dns' ? findPortHolder(port, { transport: 'udp' }) : null);

const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null;

/** What has certainly happened on this machine, by what it left behind. */
function pastMoments(rootFolder: string, databaseFile: string | null): { what: string; atMs: number }[] {
  const { certificate } = readRoot(rootFolder, platform).root;
  const written = databaseFile === null ? undefined : statSync(databaseFile, { throwIfNoEntry: false })?.mtimeMs;
  return [
    ...(certificate.state === 'read' ? [{ what: 'the root was made', atMs: certificate.notBeforeMs }] : []),
    ...(written === undefined ? [] : [{ what: 'the database was written', atMs: written }]),
  ];
}

/** The folder, or the nearest one above it that is there. */
function existing(path: string): string {
  const parent = join(path, '..');
  return sizeOf(path) !== null || parent === path ? path : existing(parent);
}
