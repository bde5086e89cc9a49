import { app } from 'electron';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { posix } from 'node:path';
import { AUTOSTART_ENTRY } from '../base/desktop.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/files.ts';
import { autostartEntry, HIDDEN_SWITCH } from './rules.ts';

/** Whether the system starts Vivarium when the user logs in. */
export interface LoginItem {
  isOn(): boolean;
  /** @throws Error when the system's files cannot be written */
  set(on: boolean): void;
}

/** Call after `ready`. */
export const openLoginItem = (env: NodeJS.ProcessEnv, homeDir: string): LoginItem =>
  process.platform === 'linux' ? inAutostart(env, homeDir) : inSystemSettings();

/** macOS passes no arguments, and reports only afterwards. */
export const wasStartedAtLogin = (): boolean =>
  process.platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin;

/** Windows also compares the arguments. */
const inSystemSettings = (): LoginItem => ({
  isOn: () => app.getLoginItemSettings({ args: [HIDDEN_SWITCH] }).openAtLogin,
  set: (openAtLogin) => app.setLoginItemSettings({ openAtLogin, args: [HIDDEN_SWITCH] }),
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
