import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

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

function isExecutable(path: string): boolean {
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
