import { app } from 'electron';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DESKTOP_FOLDER, LOGS_FOLDER, prepareDataFolder } from '../base/data-folder.ts';
import { VERSION } from '../base/version.ts';

/** As in `electron-builder.yml`: Windows groups windows and shortcuts by it. */
const APP_ID = 'localhost.vivarium.app';

/** Where the desktop's own files are, all of them in the data folder. */
export interface DesktopPlaces {
  logsDir: string;
  memoryFile: string;
}

/**
 * Tells Electron who it is, and where its own files go. Before the app is ready.
 * @throws VivariumError when the data folder cannot be used
 */
export function settleIn(dataDir: string): DesktopPlaces {
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
 * Sends Electron's own files to a temporary folder. It makes some even when nothing is shown, by default in
 * `appData/Vivarium`, which is the usual data folder on Windows and macOS. Before the app is ready.
 * @returns removes the folder
 */
export function settleInScratch(): () => void {
  const scratch = mkdtempSync(join(tmpdir(), 'vivarium-scratch-'));
  app.setPath('userData', scratch);
  return () => {
    try {
      rmSync(scratch, { recursive: true, force: true });
    } catch {
      // Windows removes no file that is open. Nothing of Vivarium's is among them.
    }
  };
}

/** What "About Vivarium" shows. */
export function introduce(iconFile: string): void {
  const { electron, chrome, node } = process.versions;
  app.setAboutPanelOptions({
    applicationName: 'Vivarium',
    applicationVersion: VERSION,
    version: `Electron ${electron}, Chromium ${chrome}, Node ${node}`,
    copyright: 'The Animal Store API on your own machine. MIT licence.',
    iconPath: iconFile,
  });
}
