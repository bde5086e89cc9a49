import { nssDatabases } from './nss-databases.ts';
import { type Command, command, curlHandshake, type RunCommand } from './run-command.ts';
import { type SystemLayout, createLinuxStore } from './truststore-linux.ts';
import { createNssStore } from './truststore-nss.ts';
import { certificatesIn, identify, sha1Of, ROOT_NAME } from './truststore.ts';
import type { TrustStore, StoreReading, OwnRoots, FoundRoot } from './truststore.ts';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, win32 } from 'node:path';
import { orElse, VivariumError } from '../../contract/errors.ts';

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

const macosListCommand = (keychain: string): Command =>
  command(SECURITY, ['find-certificate', '-a', '-p', keychain], 'lists the certificates of the login keychain');

/** `-l`: the certificate is an authority's; `-L`: offline. Exits with 0 when macOS trusts it. */
const macosVerifyCommand = (file: string): Command =>
  command(SECURITY, ['verify-cert', '-c', file, '-p', 'basic', '-l', '-L'], 'asks macOS whether it trusts the root');

/** The user's trust settings, not the administrator's (`-d`): macOS asks for the user's password in a dialogue. */
const macosTrustCommand = (keychain: string, file: string): Command =>
  command(
    SECURITY,
    ['add-trusted-cert', '-r', 'trustRoot', '-p', 'ssl', '-p', 'basic', '-k', keychain, file],
    'adds the root to the login keychain and trusts it for websites',
    { needsPassword: true },
  );

/** `-t` also deletes the user's trust settings of the certificate. */
const macosUntrustCommand = (keychain: string, sha1: string): Command =>
  command(
    SECURITY,
    ['delete-certificate', '-Z', sha1, '-t', keychain],
    'removes the root and its trust settings from the login keychain',
    { needsPassword: true },
  );

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

export const isExecutable = (path: string): boolean =>
  orElse(() => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  }, false);

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

/** The current user's trusted authorities: Edge, Chrome and, by default, Firefox use them. Needs no administrator. */
export function createWindowsStore(options: { environment: NodeJS.ProcessEnv; run: RunCommand }): TrustStore {
  const { environment, run } = options;
  const tool = windowsCertutil(environment);

  async function read(own: OwnRoots): Promise<StoreReading> {
    const listed = await run(windowsListCommand(tool)).catch(asFailure);
    if (listed.exitCode === 0) return { available: true, roots: readWindowsStore(listed.stdout, own) };
    return {
      available: false,
      message: `The user’s trusted authorities cannot be read: ${(listed.stderr + listed.stdout).trim().slice(0, 300)}`,
      needs: `${tool}, which is part of Windows`,
    };
  }

  return {
    id: 'system',
    title: 'Windows, current user: Edge, Chrome, and Firefox by default',
    read,
    trust: ({ file }, superseded) => [
      windowsTrustCommand(tool, file),
      ...superseded.map((root) => windowsUntrustCommand(tool, root)),
    ],
    handshake: (served) =>
      curlHandshake(win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32', 'curl.exe'), 'NUL', served),
    handleOf: ({ current }) => sha1Of(current.certificate.raw),
    untrust: (targets) => targets.map((root) => windowsUntrustCommand(tool, root)),
  };
}

/** By its full path: NSS has a program of the same name. */
export const windowsCertutil = (environment: NodeJS.ProcessEnv): string =>
  win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32', 'certutil.exe');

const windowsListCommand = (tool: string): Command =>
  command(tool, ['-user', '-store', 'Root'], 'lists the trusted authorities of the user');

/** Windows asks the user to confirm a change in a dialogue. */
const ASKS = { asks: true };

const windowsTrustCommand = (tool: string, file: string): Command =>
  command(tool, ['-user', '-addstore', 'Root', file], 'adds the root to the user’s trusted authorities', ASKS);

const windowsUntrustCommand = (tool: string, { handle }: Pick<FoundRoot, 'handle'>): Command => {
  const args = ['-user', '-delstore', 'Root', handle ?? ''];
  return command(tool, args, 'removes the root from the user’s trusted authorities', ASKS);
};

/** `certutil.exe` separates certificates by `==== Certificate 3 ====`, with the word localised. */
const SEPARATOR = /^={4,}.*={4,}\s*$/m;
/** SHA-1 in certutil.exe's notation: unbroken, before Windows 10 in pairs. Our serial numbers are shorter. */
const SHA1 = /(?<![0-9a-f])(?:[0-9a-f]{40}|[0-9a-f]{2}(?: [0-9a-f]{2}){19})(?![0-9a-f])/gi;

/**
 * The Vivarium roots in the output of `certutil -store`. It is localised and lacks the certificates themselves, so this
 * matches common names and SHA-1, by which Windows identifies certificates.
 */
function readWindowsStore(
  text: string,
  own: Pick<OwnRoots, 'older'> & { current: { certificate: { raw: Uint8Array } } },
): FoundRoot[] {
  const current = sha1Of(own.current.certificate.raw);
  const older = new Set(own.older.map((certificate) => sha1Of(certificate.raw)));
  return text.split(SEPARATOR).flatMap((part) => {
    const name = ROOT_NAME.exec(part)?.[0];
    const handle = [...part.matchAll(SHA1)].at(-1)?.[0].replaceAll(' ', '').toUpperCase();
    if (name === undefined || handle === undefined) return [];
    const identity = handle === current ? 'current' : older.has(handle) ? 'older' : 'other';
    return [{ identity, name, fingerprint: handle.replace(/..(?=.)/g, '$&:'), trusted: true, handle }];
  });
}
