import { app, safeStorage, shell } from 'electron';
import { basename, join, posix } from 'node:path';
import type { Log } from '../base/log.ts';
import { type DesktopFacts, type Sealer, AUTOSTART_ENTRY } from '../base/system/desktop.ts';
import { externalAddress, autostartEntry, HIDDEN_SWITCH } from './rules.ts';
import type { ShowMessage } from './window.ts';
import { mkdirSync, existsSync, rmSync } from 'node:fs';
import { DESKTOP_FOLDER, LOGS_FOLDER, prepareDataFolder } from '../base/system/data-folder.ts';
import { VERSION } from '../base/config.ts';
import { openTemporaryFolder } from '../base/system/temporary-folder.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';

export type SystemShell = ReturnType<typeof createSystemShell>;

/** Passes addresses and folders to other programs. The only user of `shell`. */
export function createSystemShell(options: { log: Log; ownPorts: () => readonly number[]; showMessage: ShowMessage }) {
  const { log, ownPorts, showMessage } = options;
  return {
    /** Opens an address in the system's browser if allowed; otherwise only logs it. Never rejects. */
    async openExternal(url: string): Promise<void> {
      const address = externalAddress(url, ownPorts());
      if (address === null)
        return log.warn('An address was not opened, because it is not suitable for a browser', { url });
      await shell
        .openExternal(address)
        .catch((error: unknown) => log.warn('The browser could not be opened', { error }));
    },
    /** Opens a folder in the system's file manager, or a file in its own program; shows the path if that fails. */
    openPath(path: string): void {
      void shell.openPath(path).then((fault) => {
        if (fault !== '')
          void showMessage({
            type: 'error',
            message: `${basename(path)} could not be opened`,
            detail: `${path}\n\n${fault}`,
          });
      });
    },
  };
}

/**
 * Prefix of data that Chromium on Linux encrypts with a constant if no keyring answers (`posix_key_provider.cc`). No
 * API reports this in advance: `isAsyncEncryptionAvailable` is still true, and `getSelectedStorageBackend` checks other
 * providers.
 */
const CONSTANT_TAG = 'v10';

const NO_KEYRING =
  'This session had no keyring (Secret Service or KWallet) that could be opened, and sealing it with Chromium’s constant ' +
  'would protect nothing. Start one, and then Vivarium again.';

interface KeySealer extends Sealer {
  state(): DesktopFacts['keyring'];
}

/**
 * Seals with the macOS keychain, Windows data protection, or the session's keyring on Linux. On Linux, only a result
 * shows whether there is a keyring; until then, sealing is attempted. Call after `ready`.
 */
export function createKeySealer(platform: NodeJS.Platform = process.platform): KeySealer {
  let refusal: string | null = null;
  let hasSealed = false;
  const isConstant = (sealed: Uint8Array) =>
    platform === 'linux' && Buffer.from(sealed).toString('latin1', 0, CONSTANT_TAG.length) === CONSTANT_TAG;
  return {
    refusal: () => refusal,
    state: () =>
      refusal !== null ? { state: 'refused', reason: refusal } : { state: hasSealed ? 'sealed' : 'untried' },
    async seal(text) {
      const sealed = await safeStorage.encryptStringAsync(text);
      refusal = isConstant(sealed) ? NO_KEYRING : null;
      if (refusal !== null) throw new Error(refusal);
      hasSealed = true;
      return sealed;
    },
    async open(sealed) {
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(Buffer.from(sealed));
      hasSealed ||= !isConstant(sealed);
      return { text: result, outdated: shouldReEncrypt || isConstant(sealed) };
    },
  };
}

/** Facts for the doctor. Call after `ready`. */
export function describeDesktop(known: Pick<DesktopFacts, 'keyring' | 'tray'>): DesktopFacts {
  const { versions, platform, env } = process;
  const server = env['XDG_SESSION_TYPE'] ?? (env['WAYLAND_DISPLAY'] === undefined ? 'x11' : 'wayland');
  return {
    electron: versions.electron,
    chromium: versions.chrome,
    // Electron’s Node uses BoringSSL, which has no versions.
    cryptography: versions.openssl === '0.0.0' ? 'BoringSSL' : `OpenSSL ${versions.openssl}`,
    session: platform === 'linux' ? `${env['XDG_CURRENT_DESKTOP'] ?? 'a desktop'} on ${server}` : platform,
    gpu: app.getGPUFeatureStatus().gpu_compositing,
    sandboxed: !app.commandLine.hasSwitch('no-sandbox'),
    ...known,
  };
}

/** As in `electron-builder.yml`: Windows groups windows and shortcuts by this id. */
const APP_ID = 'localhost.vivarium.app';

/**
 * Sets Electron's app name and redirects its own files into the data folder. Call before `ready`.
 * @throws VivariumError when the data folder cannot be used
 */
export function preparePaths(dataDir: string): { logsDir: string; memoryFile: string } {
  prepareDataFolder(dataDir);
  const own = join(dataDir, DESKTOP_FOLDER);
  const logsDir = join(dataDir, LOGS_FOLDER);
  for (const folder of [own, logsDir]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  app.setName('Vivarium');
  app.setPath('userData', own);
  app.setAppLogsPath(logsDir);
  if (process.platform === 'win32') app.setAppUserModelId(APP_ID);
  return { logsDir, memoryFile: join(own, 'window.json') };
}

/**
 * Sends Electron's own files to a temporary folder. Electron writes some even without a window, by default to
 * `appData/Vivarium`, which is the usual data folder on Windows and macOS. Call before `ready`.
 */
export function prepareScratchPaths(): void {
  app.setPath('userData', openTemporaryFolder());
}

export function setAppIdentity(iconFile: string): void {
  const { electron, chrome, node } = process.versions;
  app.setAboutPanelOptions({
    applicationName: 'Vivarium',
    applicationVersion: VERSION,
    version: `Electron ${electron}, Chromium ${chrome}, Node ${node}`,
    copyright: 'The Animal Store API on your own machine. MIT licence.',
    // GTK reads this file itself, and cannot look into the archive.
    iconPath: iconFile.replace('app.asar', 'app.asar.unpacked'),
  });
}

/** Whether the system starts Vivarium when the user logs in. */
export interface LoginItem {
  isOn(): boolean;
  /** @throws Error when the system's files cannot be written, or the system does not accept it */
  set(on: boolean): void;
}

/** Call after `ready`. */
export const openLoginItem = (env: NodeJS.ProcessEnv, homeDir: string): LoginItem =>
  process.platform === 'linux' ? inAutostart(env, homeDir) : inSystemSettings();

/** macOS passes no arguments, and reports only afterwards. */
export const wasStartedAtLogin = (): boolean =>
  process.platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin;

/** Windows also compares the arguments. */
const STARTED = { args: [HIDDEN_SWITCH] };

/** Task Manager and macOS's settings can switch it off without the app. */
function isAllowed(): boolean {
  const { openAtLogin, executableWillLaunchAtLogin } = app.getLoginItemSettings(STARTED);
  return openAtLogin && (process.platform !== 'win32' || executableWillLaunchAtLogin);
}

const inSystemSettings = (): LoginItem => ({
  isOn: isAllowed,
  set(openAtLogin) {
    app.setLoginItemSettings({ ...STARTED, openAtLogin });
    if (!openAtLogin || isAllowed()) return;
    const { status } = app.getLoginItemSettings(STARTED);
    throw new Error(
      status === 'requires-approval'
        ? 'macOS asks you first: allow Vivarium in System Settings, General, Login Items.'
        : 'The system did not accept it. macOS only accepts an app that is in Applications, and that it trusts.',
    );
  },
});

/** Desktop Application Autostart Specification 0.5: entries in `$XDG_CONFIG_HOME/autostart`. */
function inAutostart(env: NodeJS.ProcessEnv, homeDir: string): LoginItem {
  const config = env['XDG_CONFIG_HOME'] ?? '';
  const folder = posix.join(posix.isAbsolute(config) ? config : posix.join(homeDir, '.config'), 'autostart');
  const file = posix.join(folder, AUTOSTART_ENTRY);
  return {
    isOn: () => existsSync(file),
    set(on) {
      if (!on) return rmSync(file, { force: true });
      mkdirSync(folder, { recursive: true });
      // An AppImage is mounted at a different place each time.
      writeFileAtomically(file, autostartEntry(env['APPIMAGE'] ?? process.execPath), OWNER_ONLY);
    },
  };
}
