import type { Session, WebContents, WebFrameMain } from 'electron';
import type { Dialog, Page, Route } from 'playwright-core';
import { fromChromium, originOf, toChromium } from './addresses.ts';
import { ownApp } from './app.ts';
import { openPage, prepareBrowser } from './browser.ts';
import { fault, tell } from './driver.ts';
import { preparePages, type PageQuestion } from './page-world.ts';
import { attachPreload } from './preload-world.ts';
import { answerRequest, mayDownload, ownSession, type StandInSession } from './session.ts';
import { createEvent, StrictEmitter, strictly, type Typed } from './strict.ts';

const EVENTS = [
  ...['destroyed', 'render-process-gone', 'did-finish-load', 'will-frame-navigate', 'will-navigate'],
  ...['will-redirect', 'will-attach-webview', 'will-prevent-unload', 'context-menu'],
] as const;

type OpenHandler = Parameters<WebContents['setWindowOpenHandler']>[0];

const all = new Map<object, StandInContents>();
let lastId = 0;
/** What pages have copied. */
let copied = '';

export const clipboard = strictly('clipboard', {
  readText: () => Promise.resolve(copied),
  writeText(text: string) {
    copied = text;
    return Promise.resolve();
  },
});

/** One page, and the events that ask the program what the page may do. */
export class StandInContents extends StrictEmitter implements Typed<WebContents, StandInContents> {
  readonly id = ++lastId;
  readonly session: Session;
  readonly ofSession: StandInSession;
  readonly facade = strictly('webContents', this);
  readonly #preload: string | null;
  #page: Page | null = null;
  #opening: Promise<Page> | null = null;
  #closePorts: () => void = () => undefined;
  #stay: () => void = () => undefined;
  #openHandler: OpenHandler | null = null;
  /** Addresses that the program itself loads: no event is emitted for them. */
  #loading = new Set<string>();
  #destroyed = false;
  #webRtcPolicy = 'default';

  constructor(preload: string | null, ofSession: StandInSession) {
    super('webContents', EVENTS);
    this.ofSession = ofSession;
    this.session = ofSession.facade as unknown as Session;
    this.#preload = preload;
    ownApp.emit('web-contents-created', createEvent('web-contents-created', {}), this.facade);
  }

  getURL(): string {
    return this.#page === null ? '' : fromChromium(this.#page.url());
  }

  isDestroyed(): boolean {
    return this.#destroyed;
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#openHandler = handler;
  }

  getWebRTCIPHandlingPolicy(): string {
    return this.#webRtcPolicy;
  }

  setWebRTCIPHandlingPolicy(policy: Parameters<WebContents['setWebRTCIPHandlingPolicy']>[0]): void {
    this.#webRtcPolicy = policy;
  }

  /** The page's main frame, while it has one. */
  get mainFrame(): WebFrameMain {
    const url = this.getURL();
    return strictly('webFrameMain', { url, origin: originOf(url), parent: null }) as unknown as WebFrameMain;
  }

  async load(url: string): Promise<void> {
    const page = await this.#open();
    const address = toChromium(url);
    this.#loading.add(address);
    try {
      await page.goto(address);
    } finally {
      this.#loading.delete(address);
    }
    this.emit('did-finish-load');
  }

  /** The title of its page; empty once it is closed. */
  async title(): Promise<string> {
    return (await this.#page?.title().catch(() => '')) ?? '';
  }

  async resize(size: { width: number; height: number }): Promise<void> {
    await (await this.#open()).setViewportSize(size);
  }

  /** Runs the page's `beforeunload` after user interaction; false if it keeps the page. */
  async mayUnload(): Promise<boolean> {
    if (this.#page === null) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#page.once('close', () => resolve(true));
    this.#stay = () => resolve(false);
    await this.#page.close({ runBeforeUnload: true });
    return promise;
  }

  /** As in Electron, no question is shown: the page stays unless the program prevents that. */
  #answerUnload(question: Dialog): void {
    if (question.type() !== 'beforeunload') return void question.dismiss();
    const event = createEvent('will-prevent-unload', {});
    this.emit('will-prevent-unload', event);
    if (event.defaultPrevented) return void question.accept();
    void question.dismiss();
    this.#stay();
  }

  readonly navigationHistory = strictly('navigationHistory', {
    canGoBack: () => true,
    canGoForward: () => true,
    goBack: () => void this.#page?.evaluate('history.back()'),
    goForward: () => void this.#page?.evaluate('history.forward()'),
  }) as unknown as WebContents['navigationHistory'];

  /** The only way out of a page that loops, and so of the busiest: another document would wait in its process. */
  forcefullyCrashRenderer(): void {
    void this.#page
      ?.context()
      .browser()
      ?.newBrowserCDPSession()
      .then((cdp) => cdp.send('SystemInfo.getProcessInfo'))
      .then(({ processInfo }) => {
        const renderers = processInfo.filter(({ type }) => type === 'renderer');
        const [busiest] = renderers.toSorted((one, other) => other.cpuTime - one.cpuTime);
        if (busiest !== undefined) process.kill(busiest.id, 'SIGKILL');
      });
  }

  /** Closes the page with its window. */
  async destroy(): Promise<void> {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#closePorts();
    this.emit('destroyed');
    if (this.#page !== null) all.delete(this.#page);
    await this.#page?.close();
  }

  #open(): Promise<Page> {
    return (this.#opening ??= this.#openPage());
  }

  /** A crashed page can no longer be driven: a new one replaces it. */
  async #openPage(): Promise<Page> {
    const page = await openPage();
    this.#page = page;
    all.set(page, this);
    page.on('crash', () => {
      this.#closePorts();
      all.delete(page);
      this.#page = null;
      this.#opening = null;
      void page.close();
      const details = strictly('the details of a crash', { reason: 'crashed', exitCode: 139 });
      this.emit('render-process-gone', createEvent('render-process-gone', {}), details);
    });
    page.on('dialog', (question) => this.#answerUnload(question));
    page.on('download', (download) => {
      const url = fromChromium(download.url());
      const prevented = !mayDownload(url, this.facade, this.ofSession);
      if (prevented) void download.cancel();
      tell({ kind: 'download', url, prevented });
    });
    if (this.#preload === null) return page;
    const cdp = await page.context().newCDPSession(page);
    this.#closePorts = await attachPreload(cdp, this.#preload, {
      contents: this.facade,
      frame: () => (this.#page === null ? null : this.mainFrame),
    });
    return page;
  }

  /** Whether a navigation of the page itself may continue. */
  mayNavigate(address: string, isMainFrame: boolean): boolean {
    if (isMainFrame && this.#loading.has(address)) return true;
    const url = fromChromium(address);
    const event = createEvent('will-frame-navigate', { url, isMainFrame, isSameDocument: false });
    this.emit('will-frame-navigate', event);
    if (event.defaultPrevented || !isMainFrame) return !event.defaultPrevented;
    const main = createEvent('will-navigate', { url, isMainFrame, isSameDocument: false });
    this.emit('will-navigate', main);
    return !main.defaultPrevented;
  }

  async answer(source: { url: string; isMainFrame: boolean }, question: PageQuestion): Promise<unknown> {
    switch (question.kind) {
      case 'open':
        return this.#askToOpen(fromChromium(question.url));
      case 'permission':
        return this.#askPermission(question.permission, fromChromium(source.url), source.isMainFrame);
      case 'permission-state':
        return this.#checkPermission(question.permission, fromChromium(source.url), source.isMainFrame);
      case 'copied':
        copied = question.text;
        return null;
    }
  }

  #askToOpen(url: string): void {
    if (this.#openHandler === null) return fault('opens no second window, which is what no handler means.');
    const details = strictly('the details of a window to open', { url });
    const { action } = this.#openHandler(details as Parameters<OpenHandler>[0]);
    if (action !== 'deny') fault(`does not open windows: "${action}" of a window open handler.`);
  }

  #askPermission(permission: string, url: string, isMainFrame: boolean): Promise<boolean> {
    const handler = this.ofSession.permissionHandlers.request;
    // As documented: without a handler everything is permitted.
    if (handler === null) return Promise.resolve(true);
    const details = strictly('the details of a permission request', { requestingUrl: url, isMainFrame });
    return new Promise((resolve) => {
      handler(
        this.facade as unknown as WebContents,
        permission as Parameters<typeof handler>[1],
        resolve,
        details as Parameters<typeof handler>[3],
      );
    });
  }

  #checkPermission(permission: string, url: string, isMainFrame: boolean): boolean {
    const handler = this.ofSession.permissionHandlers.check;
    if (handler === null) return true;
    const details = strictly('the details of a permission check', { requestingUrl: url, isMainFrame });
    return handler(
      this.facade as unknown as WebContents,
      permission as Parameters<typeof handler>[1],
      `${originOf(url)}/`,
      details as unknown as Parameters<typeof handler>[3],
    );
  }
}

async function route(intercepted: Route): Promise<void> {
  const request = intercepted.request();
  const frame = request.isNavigationRequest() ? request.frame() : null;
  if (frame !== null) {
    const contents = all.get(frame.page());
    if (contents === undefined || !contents.mayNavigate(request.url(), frame.parentFrame() === null)) {
      return intercepted.abort('aborted');
    }
  }
  const asking = all.get(request.frame().page());
  await answerRequest(intercepted, asking?.ofSession ?? ownSession);
}

prepareBrowser(async (context) => {
  await preparePages(context, ({ page, ...source }, question) => {
    const contents = all.get(page);
    return contents === undefined ? Promise.resolve(false) : contents.answer(source, question);
  });
  await context.route('**/*', (intercepted) => route(intercepted).catch((error: unknown) => fault(String(error))));
});
