import type { BrowserWindow, BrowserWindowConstructorOptions, Rectangle, WebContents } from 'electron';
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ownApp, requireReady } from './app.ts';
import { fault } from './driver.ts';
import { PREFERENCES } from './preferences.ts';
import { primaryDisplay } from './screen.ts';
import { sessionOf } from './session.ts';
import { createEvent, refuseUnknown, StrictEmitter, strictly, type Typed } from './strict.ts';
import { StandInContents } from './web-contents.ts';

const EVENTS = [
  ...['ready-to-show', 'show', 'hide', 'close', 'closed', 'resize', 'move', 'maximize', 'unmaximize'],
  ...['enter-full-screen', 'leave-full-screen', 'unresponsive', 'responsive', 'page-title-updated'],
  'app-command',
] as const;

const OPTIONS = [
  ...['x', 'y', 'width', 'height', 'minWidth', 'minHeight', 'title', 'icon', 'backgroundColor', 'show'],
  ...['fullscreen', 'webPreferences'],
];

/**
 * Wayland draws no hidden window: `ready-to-show` is emitted when it is shown, if ever. It neither reports nor accepts
 * positions.
 */
const ON_WAYLAND = process.env['ELECTRON_STAND_IN_SESSION'] === 'wayland';

const windows = new Set<StandInWindow>();

/** A window without a screen: its content is Chromium's page, and it only remembers whether it would be visible. */
class StandInWindow extends StrictEmitter implements Typed<BrowserWindow, StandInWindow> {
  readonly facade = strictly('BrowserWindow', this);
  readonly #contents: StandInContents;
  #title: string;
  #bounds: Rectangle;
  #visible = false;
  #minimized = false;
  #maximized = false;
  #fullScreen = false;
  #destroyed = false;
  #sized = Promise.resolve();
  /** Whether `ready-to-show` is still to be emitted for a loaded page. */
  #undrawn = false;

  constructor(options: BrowserWindowConstructorOptions = {}) {
    super('BrowserWindow', EVENTS);
    requireReady('BrowserWindow');
    refuseUnknown('BrowserWindow', options, OPTIONS);
    if (options.fullscreen === false)
      fault('takes full screen from no window, which `fullscreen: false` does on macOS.');
    const { webPreferences = {}, width = 800, height = 600, icon } = options;
    refuseUnknown('webPreferences', webPreferences, [...Object.keys(PREFERENCES), 'preload', 'session']);
    if (!ownApp.standIn.sandboxed) fault('carries out sandboxed pages only: app.enableSandbox() was not called.');
    for (const [name, wanted] of Object.entries(PREFERENCES)) {
      const given = (webPreferences as Record<string, unknown>)[name];
      if (given !== wanted) fault(`carries out ${name}: ${wanted} only, not ${String(given)}.`);
    }
    const { preload = null } = webPreferences;
    if (preload !== null && !isAbsolute(preload)) throw new Error('The preload script must be an absolute path.');
    if (typeof icon !== 'string' || !existsSync(icon)) fault(`finds no icon at ${JSON.stringify(icon)}.`);
    const { workArea } = primaryDisplay();
    this.#title = options.title ?? '';
    this.#fullScreen = options.fullscreen ?? false;
    this.#bounds = {
      x: options.x ?? Math.round(workArea.x + (workArea.width - width) / 2),
      y: options.y ?? Math.round(workArea.y + (workArea.height - height) / 2),
      width,
      height,
    };
    this.#contents = new StandInContents(preload, sessionOf(webPreferences.session));
    windows.add(this);
    ownApp.standIn.windows.add(this);
    ownApp.emit('browser-window-created', createEvent('browser-window-created', {}), this.facade);
    if (options.show !== false) this.show();
  }

  /** Without a window manager, the last one that was shown. */
  static getFocusedWindow(): BrowserWindow | null {
    const shown = [...windows].findLast((window) => window.#visible);
    return (shown?.facade ?? null) as unknown as BrowserWindow | null;
  }

  get webContents(): WebContents {
    return this.#contents.facade as unknown as WebContents;
  }

  async loadURL(url: string): Promise<void> {
    const { width, height } = this.#bounds;
    // In the order of the calls, of which the last wins.
    this.#sized = this.#sized.catch(() => undefined).then(() => this.#contents.resize({ width, height }));
    await this.#sized;
    await this.#contents.load(url);
    await this.#followTitle();
    this.#undrawn = true;
    this.#draw();
  }

  /** As documented: a window takes the title of its page, unless the program prevents that. */
  async #followTitle(): Promise<void> {
    const title = await this.#contents.title();
    if (title === '' || this.#destroyed) return;
    const event = createEvent('page-title-updated', {});
    this.emit('page-title-updated', event, title, true);
    if (!event.defaultPrevented) this.#title = title;
  }

  #draw(): void {
    if (!this.#undrawn || this.#destroyed || !(this.#visible || !ON_WAYLAND)) return;
    this.#undrawn = false;
    this.emit('ready-to-show');
  }

  getTitle(): string {
    return this.#title;
  }

  show(): void {
    this.#visible = true;
    this.emit('show');
    this.#draw();
  }

  hide(): void {
    this.#visible = false;
    this.emit('hide');
  }

  focus(): void {
    if (this.#destroyed) throw new Error('Object has been destroyed');
  }

  isVisible(): boolean {
    return this.#visible;
  }

  isMinimized(): boolean {
    return this.#minimized;
  }

  minimize(): void {
    this.#minimized = true;
  }

  restore(): void {
    this.#minimized = false;
  }

  isMaximized(): boolean {
    return this.#maximized;
  }

  /** Shows it too, as documented. */
  maximize(): void {
    this.#maximized = true;
    this.show();
    this.emit('maximize');
    this.emit('resize');
  }

  unmaximize(): void {
    this.#maximized = false;
    this.emit('unmaximize');
    this.emit('resize');
  }

  isFullScreen(): boolean {
    return this.#fullScreen;
  }

  setFullScreen(flag: boolean): void {
    if (flag === this.#fullScreen) return;
    this.#fullScreen = flag;
    // In reality, after an animation.
    setImmediate(() => this.emit(flag ? 'enter-full-screen' : 'leave-full-screen'));
  }

  getBounds(): Rectangle {
    return this.#maximized || this.#fullScreen ? primaryDisplay().workArea : this.getNormalBounds();
  }

  getNormalBounds(): Rectangle {
    return { ...this.#bounds, ...(ON_WAYLAND && { x: 0, y: 0 }) };
  }

  /** Window managers take their time. */
  setBounds(bounds: Partial<Rectangle>): void {
    setImmediate(() => {
      this.#bounds = { ...this.#bounds, ...bounds };
      this.emit('move');
      this.emit('resize');
    });
  }

  isDestroyed(): boolean {
    return this.#destroyed;
  }

  close(): void {
    void this.askToClose();
  }

  async askToClose(): Promise<boolean> {
    if (this.#destroyed) return true;
    const event = createEvent('close', {});
    this.emit('close', event);
    if (event.defaultPrevented || !(await this.#contents.mayUnload())) return false;
    this.destroy();
    return true;
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#visible = false;
    windows.delete(this);
    ownApp.standIn.windows.delete(this);
    void this.#contents.destroy();
    this.emit('closed');
    if (windows.size > 0 || ownApp.standIn.isLeaving()) return;
    // As documented: without a listener, the app quits with its last window.
    if (!ownApp.emit('window-all-closed')) ownApp.quit();
  }

  static getAllWindows(): BrowserWindow[] {
    return [...windows].map(({ facade }) => facade as unknown as BrowserWindow);
  }
}

const constructed = new Proxy(StandInWindow, {
  construct: (target, [options]: [BrowserWindowConstructorOptions?]) => new target(options).facade,
});

export { constructed as BrowserWindow };
