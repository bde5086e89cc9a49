import { ipcMain, protocol, type MessagePortMain, type WebContents } from 'electron';
import type { Log } from '../base/log.ts';
import { createPageFiles, isOwnPage, PAGE_SCHEME } from './rules.ts';

/** Makes `app:` an origin like `https:`, with storage, modules and its own policy. Call before `ready`. */
export function registerPageScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: PAGE_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

/** Serves the page from the folder of the built interface. Call after `ready`. */
export function servePage(folder: string): void {
  protocol.handle(PAGE_SCHEME, createPageFiles(folder));
}

/** Channel on which the preload script sends the page's port. */
const CONNECT_CHANNEL = 'vivarium:connect';

export interface PagePortOptions {
  log: Log;
  /** Serves a port of the window's own page; returns a function that disconnects it. */
  serve: (port: MessagePortMain) => () => void;
}

/**
 * Accepts ports from the window's own page only. A page has one port at a time: a new port, a reload, a crash or a
 * closed window disconnects the previous one. The only place that listens to `ipcMain`.
 */
export function acceptPagePorts({ log, serve }: PagePortOptions): { closeAll(): void } {
  const open = new Map<WebContents, () => void>();
  const watched = new WeakSet<WebContents>();

  function disconnect(contents: WebContents): void {
    open.get(contents)?.();
    open.delete(contents);
  }

  ipcMain.on(CONNECT_CHANNEL, ({ senderFrame, sender, ports }) => {
    const [port, ...surplus] = ports;
    if (port === undefined || surplus.length > 0 || !isOwnPage(senderFrame)) {
      log.warn('A message port from another page was refused', { url: senderFrame?.url, ports: ports.length });
      for (const refused of ports) refused.close();
      return;
    }
    watch(sender);
    disconnect(sender);
    open.set(sender, serve(port));
  });

  function watch(contents: WebContents): void {
    if (watched.has(contents)) return;
    watched.add(contents);
    contents.once('destroyed', () => disconnect(contents));
    contents.on('render-process-gone', () => disconnect(contents));
  }

  return {
    closeAll() {
      for (const contents of [...open.keys()]) disconnect(contents);
    },
  };
}
