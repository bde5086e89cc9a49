import { nssDatabases } from './nss-databases.ts';
import type { RunCommand } from './run-command.ts';
import { type SystemLayout, createLinuxStore } from './truststore-linux.ts';
import { createMacosStore } from './truststore-macos.ts';
import { createNssStore } from './truststore-nss.ts';
import { createWindowsStore } from './truststore-windows.ts';
import type { TrustStore } from './truststore.ts';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

export interface MachineOptions {
  platform: NodeJS.Platform;
  /** The home folder of the user who owns the stores. */
  home: string;
  environment: NodeJS.ProcessEnv;
  run: RunCommand;
  /** Whether the process may change the system without a password: user id 0. */
  privileged: boolean;
  /** The folder of Linux's system store; by default those of the known distributions. */
  layouts?: readonly SystemLayout[];
}

export function machineStores(options: MachineOptions): TrustStore[] {
  const { platform, environment, run } = options;
  // Windows has a different program of that name.
  const certutil = platform === 'win32' ? null : findProgram('certutil', environment, platform);
  const tstclnt = platform === 'win32' ? null : findProgram('tstclnt', environment, platform);
  const install = certutil === null ? certutilInstall(platform) : undefined;
  const nss = nssDatabases(options).map((database) =>
    createNssStore({ ...database, certutil, tstclnt, install, platform, run }),
  );
  return [systemStore(options), ...nss];
}

function systemStore({ platform, home, environment, run, privileged, layouts }: MachineOptions): TrustStore {
  if (platform === 'darwin') return createMacosStore({ home, run });
  if (platform === 'win32') return createWindowsStore({ environment, run });
  return createLinuxStore({ privileged, ...(layouts !== undefined && { layouts }) });
}

/** The program folders of Homebrew and MacPorts, which are missing from a desktop application's PATH. */
const MACOS_FOLDERS = [
  '/opt/homebrew/bin',
  '/usr/local/bin',
  '/opt/homebrew/opt/nss/bin',
  '/usr/local/opt/nss/bin',
  '/opt/local/bin',
];

/** The path of a program in the environment's PATH, or null. Skips relative entries. */
export function findProgram(name: string, environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | null {
  const listed = (environment.PATH ?? '').split(delimiter).filter(isAbsolute);
  const folders = platform === 'darwin' ? [...listed, ...MACOS_FOLDERS] : listed;
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** How each package manager installs NSS's `certutil`; the first one present is used. */
const INSTALLERS: readonly (readonly [program: string, install: string])[] = [
  ['apt-get', 'sudo apt-get install libnss3-tools'],
  ['dnf', 'sudo dnf install nss-tools'],
  ['yum', 'sudo yum install nss-tools'],
  ['pacman', 'sudo pacman -S nss'],
  ['zypper', 'sudo zypper install mozilla-nss-tools'],
  ['apk', 'sudo apk add nss-tools'],
];

/** The folders of package managers, whatever PATH contains. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/sbin', '/usr/sbin'];

/** The command that installs NSS's `certutil` here; undefined without a known package manager. */
export function certutilInstall(platform: NodeJS.Platform): string | undefined {
  if (platform === 'darwin') return 'brew install nss';
  if (platform === 'win32') return undefined;
  const isThere = (program: string) => SYSTEM_FOLDERS.some((folder) => isExecutable(join(folder, program)));
  return INSTALLERS.find(([program]) => isThere(program))?.[1];
}
