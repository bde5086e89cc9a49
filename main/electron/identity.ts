import { app } from 'electron';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DESKTOP_FOLDER, LOGS_FOLDER, prepareDataFolder } from '../base/system/data-folder.ts';
import { VERSION } from '../base/version.ts';
import { openTemporaryFolder } from '../base/system/temporary-folder.ts';

/** As in `electron-builder.yml`: Windows groups windows and shortcuts by this id. */
const APP_ID = 'localhost.vivarium.app';

/** Folders of the desktop's own files, all inside the data folder. */
export interface DesktopPaths {
  logsDir: string;
  memoryFile: string;
}

/**
 * Sets Electron's app name and redirects its own files. Call before `ready`.
 * @throws VivariumError when the data folder cannot be used
 */
export function preparePaths(dataDir: string): DesktopPaths {
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
