import { app } from 'electron';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DESKTOP_FOLDER, LOGS_FOLDER, prepareDataFolder } from '../base/data-folder.ts';
import { codeOf } from '../base/error-code.ts';
import { VERSION } from '../base/version.ts';

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

/** Names the process, because Electron still writes while it ends: a later start removes the leftovers. */
const TEMPORARY = /^vivarium-temporary-(\d+)-/;

/** A new folder for this process only, removed when it ends. Removes those of processes that have ended. */
export function openTemporaryFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    const pid = TEMPORARY.exec(name)?.[1];
    if (pid !== undefined && hasEnded(Number(pid))) removeWhole(join(tmpdir(), name));
  }
  const folder = mkdtempSync(join(tmpdir(), `vivarium-temporary-${process.pid}-`));
  process.on('exit', () => removeWhole(folder));
  return folder;
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

/** Windows cannot remove open files; one that remains does not keep the others. */
function removeWhole(folder: string): void {
  for (const path of [...readdirSync(folder).map((name) => join(folder, name)), folder]) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // A later start tries again.
    }
  }
}

/** Sets the content of "About Vivarium". */
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
