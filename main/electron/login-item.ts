import { app } from 'electron';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { posix } from 'node:path';
import { AUTOSTART_ENTRY } from '../base/system/desktop.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import { autostartEntry, HIDDEN_SWITCH } from './rules.ts';

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
