import type { App } from 'electron';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import packageFile from '../../../package.json' with { type: 'json' };
import { fault, tell } from './driver.ts';
import { createEvent, refuseUnknown, StrictEmitter, strictly, type Typed } from './strict.ts';

type PathName = Parameters<App['getPath']>[0];

const EVENTS = [
  ...['ready', 'before-quit', 'will-quit', 'quit', 'window-all-closed', 'second-instance', 'activate'],
  ...['open-url', 'web-contents-created', 'browser-window-created', 'child-process-gone'],
] as const;

const CLOSE_MS_MAX = 1_000;

const LOCK_FILE = 'SingletonLock';
const MESSAGE_FILE = 'SingletonMessage';
/** What Chromium leaves in the folder of `userData`, which it creates if necessary. */
const STATE_FILE = 'Local State';
const APP_DATA = process.env['ELECTRON_STAND_IN_APP_DATA'];
/** Electron waits for the GPU and D-Bus, up to seconds; the stand-in waits until this file exists, if one is named. */
const READY_FILE = process.env['ELECTRON_STAND_IN_READY_FILE'];
/** Whether the system's own settings refuse to start the app at login. */
const REFUSES_LOGIN_ITEMS = process.env['ELECTRON_STAND_IN_LOGIN_ITEMS'] === 'refused';

const READY_LOOK_MS = 20;

/** What the windows do when the app quits. */
export interface Closable {
  /** Asks the window to close; false when the program or its page keeps it. */
  askToClose(): Promise<boolean>;
  /** Closes it without asking. */
  destroy(): void;
}

/** The app's life: ready once the program's modules have run, and ended when it quits and nothing prevents it. */
class StandInApp extends StrictEmitter implements Typed<App, StandInApp> {
  name = packageFile.productName;
  readonly isPackaged = process.env['ELECTRON_STAND_IN_PACKAGED'] !== undefined;
  readonly commandLine = strictly('app.commandLine', {
    hasSwitch: (name: string) => process.argv.includes(`--${name}`),
  }) as unknown as App['commandLine'];
  /** Only macOS has one. */
  readonly dock = undefined;
  /** Not part of Electron: what was set, for the test to inspect. */
  readonly standIn = {
    sandboxed: false,
    about: null as Parameters<App['setAboutPanelOptions']>[0] | null,
    windows: new Set<Closable>(),
    beforeExit: [] as (() => Promise<void>)[],
    /** Boxes without a window, during which macOS blocks this process. */
    blockingBoxes: 0,
    isLeaving: () => this.#ending || this.#quitting,
  };
  readonly #paths = new Map<string, string>();
  #ready = false;
  #ending = false;
  #quitting = false;
  #opensAtLogin = false;
  readonly #whenReady: Promise<void>;

  constructor() {
    super('app', EVENTS);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#whenReady = promise;
    // Once every module of the program has run its first turn.
    const look = () => {
      if (READY_FILE !== undefined && !existsSync(READY_FILE)) return void setTimeout(look, READY_LOOK_MS);
      this.#ready = true;
      this.#requireReopening();
      const folder = this.getPath('userData');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, STATE_FILE), '{}');
      this.emit('ready', createEvent('ready', {}));
      resolve(undefined);
    };
    setTimeout(look, 0);
  }

  isReady(): boolean {
    return this.#ready;
  }

  whenReady(): Promise<void> {
    return this.#whenReady;
  }

  getName(): string {
    return this.name;
  }

  setName(name: string): void {
    this.name = name;
  }

  getVersion(): string {
    return '0.0.0';
  }

  getPath(name: PathName): string {
    switch (name) {
      case 'userData':
      case 'sessionData':
        return this.#paths.get(name) ?? this.#paths.get('userData') ?? join(this.getPath('appData'), this.name);
      case 'appData':
        return APP_DATA ?? fault('has no folder for the data of apps: ELECTRON_STAND_IN_APP_DATA is not set.');
      case 'temp':
        return tmpdir();
      case 'home':
        return homedir();
      default:
        return this.#paths.get(name) ?? fault(`does not know the path "${name}".`);
    }
  }

  setPath(name: string, path: string): void {
    if (this.#ready && (name === 'userData' || name === 'sessionData')) {
      throw new Error(`"${name}" must be set before the app is ready.`);
    }
    // As documented: such a folder has to exist.
    if (!existsSync(path)) throw new Error(`Failed to set path "${name}": ${path} does not exist.`);
    this.#paths.set(name, path);
  }

  setAppLogsPath(path?: string): void {
    if (path === undefined) return fault('does not choose a folder for logs.');
    mkdirSync(path, { recursive: true });
    this.#paths.set('logs', path);
  }

  getGPUFeatureStatus(): ReturnType<App['getGPUFeatureStatus']> {
    return strictly('the GPU’s features', { gpu_compositing: 'disabled_software' }) as ReturnType<
      App['getGPUFeatureStatus']
    >;
  }

  setAboutPanelOptions(options: Parameters<App['setAboutPanelOptions']>[0]): void {
    this.standIn.about = options;
  }

  showAboutPanel(): void {
    if (!this.#ready) throw new Error('The about panel cannot be shown before the app is ready.');
  }

  enableSandbox(): void {
    if (this.#ready) throw new Error('app.enableSandbox() can only be called before the app is ready.');
    this.standIn.sandboxed = true;
  }

  /** Scoped to the folder of `userData`, as documented. */
  requestSingleInstanceLock(additionalData?: Record<string, unknown>): boolean {
    const folder = this.getPath('userData');
    const lock = join(folder, LOCK_FILE);
    if (isHeld(lock)) {
      const message = { argv: process.argv, workingDirectory: process.cwd(), additionalData };
      writeFileSync(join(folder, `${MESSAGE_FILE}.new`), JSON.stringify(message));
      renameSync(join(folder, `${MESSAGE_FILE}.new`), join(folder, MESSAGE_FILE));
      return false;
    }
    writeFileSync(lock, String(process.pid));
    const watcher = watch(folder, (_event, name) => {
      if (name === MESSAGE_FILE) this.#takeMessage(join(folder, MESSAGE_FILE));
    });
    watcher.unref();
    process.on('exit', () => rmSync(lock, { force: true }));
    return true;
  }

  #takeMessage(file: string): void {
    if (!existsSync(file)) return;
    const { argv, workingDirectory, additionalData } = JSON.parse(readFileSync(file, 'utf8')) as Record<
      string,
      unknown
    >;
    rmSync(file);
    // As documented: not before the app is ready.
    void this.#whenReady.then(() =>
      setImmediate(() =>
        this.emit('second-instance', createEvent('second-instance', {}), argv, workingDirectory, additionalData),
      ),
    );
  }

  quit(): void {
    if (this.standIn.isLeaving()) return;
    const event = createEvent('before-quit', {});
    this.emit('before-quit', event);
    if (event.defaultPrevented) return;
    this.#quitting = true;
    void this.#quitWithoutWindows();
  }

  /** A window that stays open cancels the quit. */
  async #quitWithoutWindows(): Promise<void> {
    const closed = await Promise.all([...this.standIn.windows].map((window) => window.askToClose()));
    const last = createEvent('will-quit', {});
    if (!closed.includes(false)) this.emit('will-quit', last);
    this.#quitting = false;
    if (!closed.includes(false) && !last.defaultPrevented) this.exit(0);
  }

  exit(exitCode = 0): void {
    if (this.#ending) return;
    this.#ending = true;
    for (const window of [...this.standIn.windows]) window.destroy();
    this.emit('quit', createEvent('quit', {}), exitCode);
    // A page that hangs does not keep Electron's processes; Playwright kills its browser as this process exits.
    const exit = () => process.exit(exitCode);
    setTimeout(exit, CLOSE_MS_MAX);
    void Promise.allSettled(this.standIn.beforeExit.map((close) => close())).then(exit);
  }

  /** Task Manager and macOS's settings may have the last word; Task Manager's is not that of `openAtLogin`. */
  getLoginItemSettings(): ReturnType<App['getLoginItemSettings']> {
    this.#requireLoginItems();
    const isRefused = REFUSES_LOGIN_ITEMS && process.platform === 'darwin';
    // Nothing here logs in.
    return strictly('the login item', {
      openAtLogin: this.#opensAtLogin && !isRefused,
      executableWillLaunchAtLogin: this.#opensAtLogin && !REFUSES_LOGIN_ITEMS,
      status: isRefused ? 'requires-approval' : 'enabled',
      wasOpenedAtLogin: false,
    }) as ReturnType<App['getLoginItemSettings']>;
  }

  isInApplicationsFolder(): boolean {
    if (process.platform !== 'darwin') fault('has app.isInApplicationsFolder on macOS only, as Electron has.');
    return process.env['ELECTRON_STAND_IN_PLACE'] === undefined;
  }

  setLoginItemSettings(settings: Parameters<App['setLoginItemSettings']>[0]): void {
    this.#requireLoginItems();
    refuseUnknown('setLoginItemSettings', settings, ['openAtLogin', 'args']);
    this.#opensAtLogin = settings.openAtLogin ?? false;
  }

  /** macOS opens an app by an event to its process, and takes a command of the app for that process as well. */
  #requireReopening(): void {
    if (process.platform !== 'darwin' || !process.argv.includes('--command-line')) return;
    for (const event of ['activate', 'open-url'])
      if (this.listenerCount(event) === 0) fault(`sends "${event}" to a command that does not listen for it.`);
  }

  #requireLoginItems(): void {
    if (process.platform === 'linux') fault('has no login items on Linux, as Electron has none.');
  }
}

function isHeld(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}

// Electron's own loop keeps the process alive until the app ends.
setInterval(() => undefined, 60_000);

export const ownApp = new StandInApp();
export const app = strictly('app', ownApp);

/** Electron refuses early calls in the same way. */
export function requireReady(what: string): void {
  if (!ownApp.isReady()) throw new Error(`${what} cannot be used before the app is ready.`);
}

// Once the app is ready, Chromium's handlers replace the program's. Each quits once; a second signal kills. The
// stand-in listens from the start: unlike Chromium, Node drops a pending signal when its last listener is removed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  const kill = () => {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  };
  let quits = 0;
  const onSignal = () => {
    if (!ownApp.isReady()) return process.listenerCount(signal) === 1 ? kill() : undefined;
    if (ownApp.standIn.blockingBoxes > 0) return;
    return ++quits > 1 ? kill() : ownApp.quit();
  };
  process.on(signal, onSignal);
  void ownApp.whenReady().then(() => {
    for (const listener of process.listeners(signal)) if (listener !== onSignal) process.off(signal, listener);
  });
}

// Chromium's output on a system without D-Bus, unless the log level silences it.
if (!process.argv.includes('--log-level=3'))
  process.stderr.write(`[${process.pid}:0101/000000.000000:ERROR:dbus/bus.cc:408] Failed to connect to the bus\n`);

// Electron shows a box, and continues, unless the program listens itself.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') > 1) return;
  const content = String(error.stack);
  tell({ kind: 'error-box', title: 'A JavaScript error occurred in the main process', content });
  if (process.send !== undefined) return;
  // No test sees the box.
  process.stderr.write(`${content}\n`);
  process.exit(1);
});
