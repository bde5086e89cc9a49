import { app, type MessageBoxOptions, session } from 'electron';
import { join } from 'node:path';
import type { App } from '../app.ts';
import { openLogFile, createLog, type LogLevel, type LogLine } from '../base/log.ts';
import { askForSignInLink } from '../base/system/open-in-browser.ts';
import { realTime } from '../base/clock.ts';
import { type Config, VERSION } from '../base/config.ts';
import { DESKTOP_FOLDER } from '../base/system/data-folder.ts';
import type { DesktopFacts, OpenPreview, Sealer } from '../base/system/desktop.ts';
import { upgradeMessagePort } from '../rpc/session.ts';
import { type EngineStart, superviseEngine } from '../host/supervise.ts';
import { addBrowsing, restrictNavigation } from './navigation.ts';
import { createDesktopMenu } from './desktop-menu.ts';
import { catchUncaught, drainBeforeQuit, endWith } from './ending.ts';
import { type RunningElsewhere, startEngine, type StartFailure } from './engine-start.ts';
import {
  setAppIdentity,
  preparePaths,
  wasStartedAtLogin,
  createKeySealer,
  createSystemShell,
  describeDesktop,
} from './system.ts';
import { acceptPagePorts, registerPageScheme, servePage } from './page-channels.ts';
import { createPreviews } from './preview.ts';
import { closeNetwork, denyPermissions, pageOfLink, readOwnArguments } from './rules.ts';
import { createStage } from './stage.ts';
import { openDesktopMemory } from './window-state.ts';
import { createMainWindow, type ShowMessage } from './window.ts';

/** Services of the desktop that the engine uses. */
export interface DesktopServices {
  writeLog: (line: LogLine) => void;
  sealer: Sealer;
  openPreview: OpenPreview;
  describeDesktop: () => DesktopFacts;
}

export interface DesktopOptions {
  config: Config;
  logLevel: LogLevel;
  /** Whether it starts without its window, as at login. */
  isHidden: boolean;
  /** The page requested by a link of the system, or null. */
  page: string | null;
  /** Whether it runs on the default data folder. */
  isUsual: boolean;
  /** The `homepage` of package.json, which names the repository in a release. */
  homepage: unknown;
  /** The built page. */
  assetsDir: string;
  preloadFile: string;
  iconsDir: string;
  start: (start: EngineStart, desktopServices: DesktopServices) => Promise<App>;
  /** The Vivarium that already runs on the data folder, if any. */
  findRunning: () => RunningElsewhere | null;
  /** Runs `vivarium uninstall`; resolves with its output. */
  prepareRemoval: () => Promise<string>;
}

/**
 * Runs the desktop app. Everything that must precede Electron's `ready` event happens before the first await.
 * @throws VivariumError when the data folder cannot be used
 */
export async function runDesktop(options: DesktopOptions): Promise<void> {
  const { config, preloadFile, iconsDir } = options;
  const { logsDir, memoryFile } = preparePaths(config.dataDir);
  if (!isOnly(options)) return;
  registerPageScheme();
  app.enableSandbox();

  const logFile = openLogFile(logsDir, (text) => process.stderr.write(text));
  const writeLog = (line: LogLine) => logFile.write(line);
  const log = createLog({ now: () => realTime.now() }, writeLog, options.logLevel);

  const ending = new AbortController();
  const { isQuitting, drain } = drainBeforeQuit({
    log,
    async drain() {
      ending.abort();
      window.hideForGood();
      stage.removeTray();
      ports.closeAll();
      await supervisor.stop();
      log.info('Vivarium has stopped');
      logFile.close();
    },
  });
  const quit = () => app.quit();
  const showMessage: ShowMessage = (box) => window.showMessage(box);
  const supervisor = superviseEngine({
    config,
    log,
    time: realTime,
    start: ({ config: chosen, ...rest }) =>
      startEngine({
        config: chosen,
        start: (next) => options.start({ config: next, ...rest }, services),
        findRunning: options.findRunning,
        ask: async (failure) =>
          failure.choices[await showMessage(asBox(failure, ending.signal))] ?? { do: 'quit', label: 'Quit' },
        openInterface: async (running) => systemShell.openExternal(await askForSignInLink(running)),
        showLogs: actions.showLogs,
        log,
      }),
    onServing: (started) => stage.follow(started),
    onFailed() {
      stage.lose();
      ports.closeAll();
    },
    mayStartAgain: async (error) => (await showMessage(failed(error, logsDir, ending.signal))) === 0,
    onEnd(error) {
      if (error === null) quit();
      else void endWith(error, { logsDir, drain });
    },
  });
  catchUncaught(log, supervisor.fail);
  const engine = () => stage.engine();
  const systemShell = createSystemShell({ log, ownPorts: () => pagePorts(engine()), showMessage });
  const iconFile = join(iconsDir, 'linux', '256x256.png');
  const previews = createPreviews({ log, iconFile });
  addBrowsing();
  restrictNavigation({ log, openExternal: (url) => void systemShell.openExternal(url), previews });
  const ports = acceptPagePorts({
    log,
    serve(port) {
      const serving = engine();
      if (serving !== null) return upgradeMessagePort(serving.router, port);
      port.close();
      return () => undefined;
    },
  });
  const memory = openDesktopMemory(memoryFile, log);
  const window = createMainWindow({ log, memory, preloadFile, iconFile, isQuitting, quit });
  const showWindow = () => stage.show(null);
  const desktopMenu = createDesktopMenu({
    ...options,
    ...{ engine, log, logsDir, memory, systemShell, showMessage, showWindow, quit, ended: ending.signal },
  });
  const { actions, notify } = desktopMenu;
  const stage = createStage({ page: options.page, iconsDir, window, actions, notify, ended: ending.signal, log });

  // On macOS; elsewhere a link is an argument of a start. It may come before `ready`.
  app.on('open-url', (event, link) => {
    event.preventDefault();
    const linked = pageOfLink(link);
    if (linked !== null) stage.show(linked);
  });
  // Without a listener, Electron quits with the last window; the servers must continue.
  app.on('window-all-closed', () => undefined);
  await app.whenReady();
  log.info('Vivarium starts', { version: VERSION, electron: process.versions.electron, dataDir: config.dataDir });
  denyPermissions(session.defaultSession);
  closeNetwork(session.defaultSession);
  servePage(options.assetsDir);
  setAppIdentity(iconFile);
  desktopMenu.install();

  const sealer = createKeySealer();
  const services: DesktopServices = {
    writeLog,
    sealer,
    openPreview: previews.open,
    describeDesktop: () => describeDesktop({ keyring: sealer.state(), tray: stage.hasTray() }),
  };
  app.on('second-instance', (_event, argv) => stage.show(readOwnArguments(argv).page));
  app.on('activate', showWindow);
  const isWanted = stage.want(!options.isHidden && !wasStartedAtLogin());
  if (isWanted && app.isPackaged && process.platform === 'darwin' && !app.isInApplicationsFolder())
    void showMessage(NOT_IN_APPLICATIONS);
  await supervisor.start();
}

/** The ports of an engine that serve pages of projects. */
const pagePorts = (engine: App | null): number[] =>
  engine === null ? [] : [engine.runtime.http.port, engine.runtime.https.port];

/** Whether this process gets the lock of its data folder; ends it otherwise. */
function isOnly({ config, findRunning }: DesktopOptions): boolean {
  // One app per data folder: Electron keeps the lock in its own files there.
  if (app.requestSingleInstanceLock()) return true;
  if (findRunning() !== null) {
    app.quit();
    return false;
  }
  // Electron also refuses a lock that it cannot read or create, without saying which.
  const held = `The lock in ${join(config.dataDir, DESKTOP_FOLDER)} is held, and no Vivarium answers for it`;
  process.stderr.write(`${held}: another one is starting, or its files Singleton… have to be removed.\n`);
  app.exit(1);
  return false;
}

/** Where an app was downloaded to, macOS may run it from another folder each time. */
const NOT_IN_APPLICATIONS: MessageBoxOptions = {
  type: 'info',
  message: 'Vivarium is not in Applications',
  detail:
    'Quit it, and move it there in Finder. Until then, the command vivarium, vivarium:// links and Start at Login may ' +
    'lead nowhere after the next start.',
};

/** The question after too many failures; a quit meanwhile counts as the last button. */
const failed = ({ message }: Error, logsDir: string, signal: AbortSignal): MessageBoxOptions => ({
  type: 'error',
  message: 'Vivarium failed',
  detail: `${message}\n\nThe logs have the details: ${logsDir}`,
  buttons: ['Start again', 'Quit'],
  cancelId: 1,
  signal,
});

/** Why Vivarium could not start, as a box; a quit meanwhile counts as the last choice. */
const asBox = ({ message, detail, choices }: StartFailure, signal: AbortSignal): MessageBoxOptions => ({
  type: 'error',
  message,
  detail,
  buttons: choices.map(({ label }) => label),
  cancelId: choices.length - 1,
  signal,
});
