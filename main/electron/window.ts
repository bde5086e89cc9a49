import { BrowserWindow, dialog, type MessageBoxOptions, nativeTheme, screen, type WebPreferences } from 'electron';
import { realTime } from '../base/clock.ts';
import { nextTurn } from '../base/turns.ts';
import type { Log } from '../base/log.ts';
import { PAGE_URL } from './rules.ts';
import { findBounds, nameScreens, placeWindow, revealInTime, storeBounds, WINDOW_SIZE_MIN } from './window-state.ts';
import type { DesktopMemory } from './window-state.ts';

/** Gives the page no access to the machine. Most values are Electron's defaults, spelled out to keep them. */
export const PAGE_PREFERENCES = {
  sandbox: true,
  contextIsolation: true,
  nodeIntegration: false,
  nodeIntegrationInWorker: false,
  nodeIntegrationInSubFrames: false,
  webSecurity: true,
  allowRunningInsecureContent: false,
  experimentalFeatures: false,
  webviewTag: false,
  navigateOnDragDrop: false,
  spellcheck: false,
} as const satisfies WebPreferences;

/** `--ground` of `renderer/app/styles/tokens.css`: visible until the page is drawn. */
const GROUND = { light: '#f1f3ee', dark: '#131713' };

/** Dragging a window's edge emits an event per pixel. */
const REMEMBER_AFTER_MS = 500;

export interface MainWindowOptions {
  log: Log;
  memory: DesktopMemory;
  preloadFile: string;
  iconFile: string;
  isQuitting: () => boolean;
  quit: () => void;
}

/** Shows a message box; resolves with the number of the button. */
export type ShowMessage = (options: MessageBoxOptions) => Promise<number>;

export type MainWindow = ReturnType<typeof createMainWindow>;

/** The only app window. Closing it hides it: page and servers keep running. */
export function createMainWindow(options: MainWindowOptions) {
  let window: BrowserWindow | null = null;
  let rememberNow: () => void = () => undefined;
  return {
    /**
     * Brings the window to the front; creates it if necessary.
     * @param page the address of the page to show, if not the current one
     */
    show(page: string | null = null): void {
      if (window === null) {
        ({ window, rememberNow } = openWindow(options, page ?? PAGE_URL));
        window.once('closed', () => {
          window = null;
        });
        return;
      }
      bringToFront(window);
      if (page !== null) void load(window, page, options);
    },
    /**
     * Shows a box that belongs to the window, and the window, because macOS shows no box of a hidden one. Before there is
     * a window, it belongs to none, or on macOS to one of its own: without, macOS would stop the servers meanwhile.
     */
    async showMessage(message: MessageBoxOptions): Promise<number> {
      if (window !== null) return ask(window, message);
      if (process.platform !== 'darwin') return (await dialog.showMessageBox(message)).response;
      const { iconFile: icon } = options;
      const own = new BrowserWindow({
        width: 600,
        height: 320,
        title: 'Vivarium',
        icon,
        webPreferences: PAGE_PREFERENCES,
      });
      return ask(own, message).finally(() => own.destroy());
    },
    /** Hides it for good. The app exits afterwards without closing windows one by one. */
    hideForGood(): void {
      rememberNow();
      window?.hide();
    },
  };
}

function bringToFront(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}

/** Shows a box that belongs to this window; resolves with the number of the button. */
async function ask(window: BrowserWindow, message: MessageBoxOptions): Promise<number> {
  bringToFront(window);
  return (await dialog.showMessageBox(window, message)).response;
}

function openWindow(options: MainWindowOptions, page: string): { window: BrowserWindow; rememberNow: () => void } {
  const { log, memory, preloadFile, iconFile, isQuitting } = options;
  const { bounds, maximized, fullScreen } = memory.get();
  const areas = [screen.getPrimaryDisplay(), ...screen.getAllDisplays()].map(({ workArea }) => workArea);
  const window = new BrowserWindow({
    ...placeWindow(findBounds(bounds, connectedScreens()), areas),
    minWidth: WINDOW_SIZE_MIN.width,
    minHeight: WINDOW_SIZE_MIN.height,
    title: 'Vivarium',
    icon: iconFile,
    backgroundColor: nativeTheme.shouldUseDarkColors ? GROUND.dark : GROUND.light,
    show: false,
    // An explicit `false` would remove the full-screen button on macOS.
    ...(fullScreen && { fullscreen: true }),
    webPreferences: { ...PAGE_PREFERENCES, preload: preloadFile },
  });
  const show = () => {
    if (isQuitting()) return;
    if (maximized) window.maximize();
    window.show();
  };
  const reveal = revealInTime(window, show, realTime);
  const rememberNow = rememberBounds(window, memory);
  offerReload(window, { log, isQuitting });
  window.on('close', (event) => {
    if (isQuitting()) return;
    event.preventDefault();
    void leave(window, options);
  });
  // Keeps the title: Electron would rename the window after its page.
  window.on('page-title-updated', (event) => event.preventDefault());
  void load(window, page, options).finally(reveal);
  return { window, rememberNow };
}

/** Loads the page; only logs a failure. */
function load(
  window: BrowserWindow,
  page: string,
  { log, isQuitting }: Pick<MainWindowOptions, 'log' | 'isQuitting'>,
): Promise<void> {
  return window.loadURL(page).catch((error: unknown) => {
    if (!isQuitting()) log.error('The page could not be loaded', { error });
  });
}

const connectedScreens = (): string => nameScreens(screen.getAllDisplays().map(({ workArea }) => workArea));

/** Stores the window's bounds soon after it moved. @returns stores them immediately */
function rememberBounds(window: BrowserWindow, memory: DesktopMemory): () => void {
  let timer: { cancel(): void } | null = null;
  const remember = () => {
    timer?.cancel();
    if (window.isDestroyed() || window.isMinimized()) return;
    memory.set({
      bounds: storeBounds(memory.get().bounds, connectedScreens(), window.getNormalBounds()),
      maximized: window.isMaximized(),
      fullScreen: window.isFullScreen(),
    });
  };
  const rememberSoon = () => {
    timer?.cancel();
    timer = realTime.schedule(REMEMBER_AFTER_MS, remember);
  };
  window.on('resize', rememberSoon);
  window.on('move', rememberSoon);
  window.on('close', remember);
  return remember;
}

/** Hides the window; the first time, explains that the servers keep running. */
async function leave(window: BrowserWindow, { memory, quit }: MainWindowOptions): Promise<void> {
  if (!memory.get().closeExplained) {
    memory.set({ closeExplained: true });
    const response = await ask(window, {
      type: 'info',
      message: 'Vivarium keeps running without its window',
      detail:
        'Open the window from the icon in the tray, or by starting Vivarium again. Quit stops the servers. This message appears only once.',
      buttons: ['Keep serving', 'Quit Vivarium'],
      cancelId: 0,
    });
    if (response === 1) return quit();
  }
  if (!window.isFullScreen()) return window.hide();
  // Hiding a full-screen window leaves a black screen on macOS.
  window.once('leave-full-screen', () => window.hide());
  window.setFullScreen(false);
}

/** Offers to reload the page when its process has ended or hangs. The servers run in another process. */
function offerReload(window: BrowserWindow, options: { log: Log; isQuitting: () => boolean }): void {
  const { log, isQuitting } = options;
  /** The open question, withdrawn when it no longer applies. */
  let asking: AbortController | null = null;
  let hangs: 'no' | 'asking' | 'ending' = 'no';
  const reload = () => load(window, PAGE_URL, options);

  async function offer(message: string, buttons: [reload: string, leave: string]): Promise<boolean> {
    if (isQuitting() || window.isDestroyed()) return false;
    asking?.abort();
    const { signal } = (asking = new AbortController());
    const response = await ask(window, {
      type: 'warning',
      message,
      detail: 'The servers are running; only the window is affected.',
      buttons,
      cancelId: 1,
      signal,
    });
    return response === 0 && !signal.aborted && !window.isDestroyed();
  }

  window.webContents.on('render-process-gone', async (_event, { reason, exitCode }) => {
    const isExpected = hangs === 'ending';
    hangs = 'no';
    // In the same turn, it could be the old process again (electron/electron#48661).
    if (isExpected) return nextTurn().then(reload);
    if (reason === 'clean-exit') return;
    log.error('The page’s process ended', { reason, exitCode });
    if (await offer('The window’s page ended unexpectedly', ['Reload', 'Leave it'])) await reload();
  });
  window.on('unresponsive', async () => {
    log.warn('The page does not answer');
    hangs = 'asking';
    if (!(await offer('The window’s page does not answer', ['Reload', 'Wait']))) return;
    // Another document would wait in the process that hangs.
    hangs = 'ending';
    window.webContents.forcefullyCrashRenderer();
  });
  window.on('responsive', () => {
    if (hangs !== 'asking') return;
    hangs = 'no';
    asking?.abort();
  });
}
