import { nssDatabases } from './nss-databases.ts';
import { type RunCommand, type Command, curlHandshake } from './run-command.ts';
import { type SystemLayout, createLinuxStore } from './truststore-linux.ts';
import { createNssStore } from './truststore-nss.ts';
import { createWindowsStore } from './truststore-windows.ts';
import type { TrustStore, StoreReading } from './truststore.ts';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { VivariumError } from '../../contract/errors.ts';
import { certificatesIn, identify, sha1Of, type OwnRoots } from './vivarium-roots.ts';

/** Every macOS has it here, independent of PATH. */
const SECURITY = '/usr/bin/security';

/** errSecItemNotFound, the exit code of `security` for a keychain without certificates. */
const NOTHING_FOUND = 44;

/** The user's login keychain: Safari, Chrome and, by default, Firefox use it on macOS. */
export function createMacosStore({ home, run }: { home: string; run: RunCommand }): TrustStore {
  const keychain = join(home, 'Library/Keychains/login.keychain-db');

  async function read(own: OwnRoots): Promise<StoreReading> {
    const listed = await run(macosListCommand(keychain)).catch(asFailure);
    if (listed.exitCode !== 0 && listed.exitCode !== NOTHING_FOUND) {
      return {
        available: false,
        message: `The keychain ${keychain} cannot be read: ${listed.stderr.trim().slice(0, 300)}`,
        needs: 'a login keychain; Keychain Access creates one',
      };
    }
    const found = certificatesIn(listed.stdout).flatMap((der) => {
      const root = identify(der, own);
      return root === null ? [] : [{ ...root, handle: sha1Of(der) }];
    });
    // The keychain holds certificates, and trust settings hold their uses; only macOS can evaluate both.
    const isTrusted =
      found.some((root) => root.identity === 'current') && (await run(macosVerifyCommand(own.file))).exitCode === 0;
    return {
      available: true,
      roots: found.map((root) => ({ ...root, trusted: root.identity === 'current' ? isTrusted : true })),
    };
  }

  return {
    id: 'system',
    title: 'Login keychain: Safari, Chrome, and Firefox by default',
    read,
    trust: ({ file }, superseded) => [
      ...superseded.map(({ handle }) => macosUntrustCommand(keychain, handle ?? '')),
      macosTrustCommand(keychain, file),
    ],
    handshake: (served) => curlHandshake('/usr/bin/curl', '/dev/null', served),
    handleOf: ({ current }) => sha1Of(current.certificate.raw),
    untrust: (targets) => targets.map(({ handle }) => macosUntrustCommand(keychain, handle ?? '')),
  };
}

const macosListCommand = (keychain: string): Command => ({
  command: SECURITY,
  args: ['find-certificate', '-a', '-p', keychain],
  needsPassword: false,
  explains: 'lists the certificates of the login keychain',
});

/** `-l`: the certificate is an authority's; `-L`: offline. Exits with 0 when macOS trusts it. */
const macosVerifyCommand = (file: string): Command => ({
  command: SECURITY,
  args: ['verify-cert', '-c', file, '-p', 'basic', '-l', '-L'],
  needsPassword: false,
  explains: 'asks macOS whether it trusts the root',
});

/** The user's trust settings, not the administrator's (`-d`): macOS asks for the user's password in a dialogue. */
const macosTrustCommand = (keychain: string, file: string): Command => ({
  command: SECURITY,
  args: ['add-trusted-cert', '-r', 'trustRoot', '-p', 'ssl', '-p', 'basic', '-k', keychain, file],
  needsPassword: true,
  explains: 'adds the root to the login keychain and trusts it for websites',
});

/** `-t` also deletes the user's trust settings of the certificate. */
const macosUntrustCommand = (keychain: string, sha1: string): Command => ({
  command: SECURITY,
  args: ['delete-certificate', '-Z', sha1, '-t', keychain],
  needsPassword: true,
  explains: 'removes the root and its trust settings from the login keychain',
});

function asFailure(error: unknown) {
  if (error instanceof VivariumError) return { exitCode: null, stdout: '', stderr: error.message };
  throw error;
}

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
