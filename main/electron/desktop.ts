import { app, Menu, type MessageBoxOptions, session } from 'electron';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../app.ts';
import { openLogFile, createLog, type Log, type LogLevel, type LogLine } from '../base/log.ts';
import { askForSignInLink } from '../base/system/open-in-browser.ts';
import { realTime } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { DESKTOP_FOLDER } from '../base/system/data-folder.ts';
import type { DesktopFacts, OpenPreview, Sealer } from '../base/system/desktop.ts';
import { VERSION } from '../base/version.ts';
import { upgradeMessagePort } from '../rpc/message-port.ts';
import { type EngineStart, superviseEngine } from '../host/supervise.ts';
import { addBrowsing, historyActions } from './browsing.ts';
import { catchUncaught, drainBeforeQuit, endWith } from './ending.ts';
import { type RunningElsewhere, startEngine, type StartFailure } from './engine-start.ts';
import { setAppIdentity, preparePaths } from './identity.ts';
import { type LoginItem, openLoginItem, wasStartedAtLogin } from './login-item.ts';
import { type MenuActions, type MenuChoice, menuTemplate } from './menu.ts';
import { restrictNavigation } from './navigation.ts';
import { acceptPagePorts, registerPageScheme, servePage } from './page-channels.ts';
import { notifyOfChanges, showNotification } from './notify.ts';
import { releasesOf, RELEASES_VARIABLE, watchVersions } from './newer-version.ts';
import { createPreviews } from './preview.ts';
import { closeNetwork, denyPermissions, pageOfLink, readOwnArguments } from './rules.ts';
import { prepareToRemove } from './removal.ts';
import { createKeySealer, createSystemShell, describeDesktop } from './system.ts';
import { createTray, followStatus, type StatusTray } from './tray.ts';
import { type DesktopMemory, openDesktopMemory } from './window-state.ts';
import { createMainWindow, type ShowMessage } from './window.ts';
import { messageOf } from '../base/error-code.ts';

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

  let engine: App | null = null;
  let tray: StatusTray | null = null;
  const ending = new AbortController();
  /** The page to show once the engine serves. */
  let { page } = options;
  let isWanted = page !== null;
  const { isQuitting, drain } = drainBeforeQuit({
    log,
    async drain() {
      ending.abort();
      window.hideForGood();
      tray?.remove();
      ports.closeAll();
      await supervisor.stop();
      log.info('Vivarium has stopped');
      logFile.close();
    },
  });
  const quit = () => app.quit();
  const showMessage: ShowMessage = (box) => window.showMessage(box);
  const tellFault = (message: string, error: unknown) => {
    log.error(message, { error });
    void showMessage({ type: 'error', message, detail: messageOf(error) });
  };
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
    onServing: follow,
    onFailed() {
      engine = null;
      ports.closeAll();
      tray?.update(['Vivarium failed and is starting again']);
    },
    mayStartAgain: async (error) => (await showMessage(failed(error, logsDir, ending.signal))) === 0,
    onEnd(error) {
      if (error === null) quit();
      else void endWith(error, { logsDir, drain });
    },
  });
  catchUncaught(log, supervisor.fail);
  const systemShell = createSystemShell({
    log,
    ownPorts: () => (engine === null ? [] : [engine.runtime.http.port, engine.runtime.https.port]),
    showMessage,
  });
  const iconFile = join(iconsDir, 'linux', '256x256.png');
  const previews = createPreviews({ log, iconFile });
  addBrowsing();
  restrictNavigation({ log, openExternal: (url) => void systemShell.openExternal(url), previews });
  const ports = acceptPagePorts({
    log,
    serve(port) {
      if (engine !== null) return upgradeMessagePort(engine.router, port);
      port.close();
      return () => undefined;
    },
  });
  const memory = openDesktopMemory(memoryFile, log);
  const window = createMainWindow({ log, memory, preloadFile, iconFile, isQuitting, quit });
  let loginItem: LoginItem | null = null;
  const releases = releasesOf(options.homepage, process.env[RELEASES_VARIABLE]);
  const actions: MenuActions = {
    showWindow: () => show(null),
    openInBrowser() {
      if (engine !== null) void systemShell.openExternal(engine.signInLink());
    },
    showLogs: () => systemShell.openPath(logsDir),
    showDataFolder: () => systemShell.openPath(config.dataDir),
    prepareToRemove() {
      const { openPath } = systemShell;
      prepareToRemove({ prepareRemoval: options.prepareRemoval, loginItem, logsDir, openPath, showMessage }).catch(
        (error: unknown) => tellFault('The removal could not be prepared', error),
      );
    },
    showReleases() {
      if (releases !== null) void systemShell.openExternal(releases.page);
    },
    ...historyActions,
    quit,
  };

  const notify = createNotifier({
    engine: () => engine,
    memory,
    ended: ending.signal,
    log,
    onClick: actions.showWindow,
  });

  // On macOS; elsewhere a link is an argument of a start. It may come before `ready`.
  app.on('open-url', (event, link) => {
    event.preventDefault();
    const linked = pageOfLink(link);
    if (linked !== null) show(linked);
  });
  // Without a listener, Electron quits with the last window; the servers must continue.
  app.on('window-all-closed', () => undefined);
  await app.whenReady();
  log.info('Vivarium starts', { version: VERSION, electron: process.versions.electron, dataDir: config.dataDir });
  denyPermissions(session.defaultSession);
  closeNetwork(session.defaultSession);
  servePage(options.assetsDir);
  setAppIdentity(iconFile);
  if (app.isPackaged && options.isUsual) loginItem = openLoginItem(process.env, homedir());
  const tellChoice = (label: string, error: unknown) => tellFault(`“${label}” could not be changed`, error);
  installMenu({ config, actions, loginItem, memory, notify, releases, log, onFault: tellChoice });

  const sealer = createKeySealer();
  const services: DesktopServices = {
    writeLog,
    sealer,
    openPreview: previews.open,
    describeDesktop: () => describeDesktop({ keyring: sealer.state(), tray: tray !== null }),
  };
  app.on('second-instance', (_event, argv) => show(readOwnArguments(argv).page));
  app.on('activate', actions.showWindow);
  isWanted ||= !options.isHidden && !wasStartedAtLogin();
  if (isWanted && app.isPackaged && process.platform === 'darwin' && !app.isInApplicationsFolder())
    void showMessage(NOT_IN_APPLICATIONS);
  await supervisor.start();

  /** Shows what an engine does, from its start on. */
  function follow(started: App): void {
    engine = started;
    const { http, https, dns, control } = started.runtime;
    log.info('Vivarium serves', { http: http.port, https: https.port, dns: dns.port, control: control.url });
    const shown = (tray ??= createTray(iconsDir, actions));
    followStatus(started, ending.signal, (status) => shown.update(status)).catch((error: unknown) =>
      log.warn('The tray no longer follows', { error }),
    );
    notify();
    if (isWanted) show(page);
  }

  /** Shows the window once the engine serves. */
  function show(wanted: string | null): void {
    isWanted = engine === null;
    page = wanted;
    if (engine !== null) window.show(wanted);
  }
}

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

/** Follows the engine while the setting is on; to be called after each change of either. */
function createNotifier(options: {
  engine: () => App | null;
  memory: DesktopMemory;
  ended: AbortSignal;
  log: Log;
  onClick: () => void;
}): () => void {
  const { memory, ended, log, onClick } = options;
  let notifying: AbortController | null = null;
  return () => {
    notifying?.abort();
    notifying = null;
    const engine = options.engine();
    if (engine === null || !memory.get().notifies) return;
    notifying = new AbortController();
    const signal = AbortSignal.any([notifying.signal, ended]);
    const onFault = (error: unknown) => {
      if (!signal.aborted) log.warn('Notifications do not follow', { error });
    };
    notifyOfChanges(engine, { signal, onClick, onFault }).catch(onFault);
  };
}

/** Shows the menu with its choices, and watches for newer versions, which the menu names. */
function installMenu(options: {
  config: Config;
  actions: MenuActions;
  loginItem: LoginItem | null;
  memory: DesktopMemory;
  notify: () => void;
  releases: ReturnType<typeof releasesOf>;
  log: Log;
  onFault: (label: string, error: unknown) => void;
}): void {
  const { config, actions, loginItem, memory, notify, releases, log, onFault } = options;
  const choices: MenuChoice[] = loginItem === null ? [] : [{ label: 'Start at Login', ...loginItem }];
  choices.push({
    label: 'Notify of Lost Domains and Banned Keys',
    isOn: () => memory.get().notifies,
    set(notifies) {
      memory.set({ notifies });
      notify();
    },
  });
  const showMenu = () => {
    const template = menuTemplate(process.platform, actions, choices, onFault, versions?.newer());
    Menu.setApplicationMenu(Menu.buildFromTemplate(template));
  };
  const versions = config.ephemeral
    ? null
    : watchVersions({
        releases,
        memory,
        time: realTime,
        log,
        onNewer(version) {
          showMenu();
          const title = `Vivarium ${version} is available`;
          const body = 'Help → Get Vivarium opens the page of its releases.';
          showNotification({ title, body }, actions.showReleases);
        },
      });
  if (versions !== null) choices.push(versions);
  showMenu();
  versions?.start();
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
