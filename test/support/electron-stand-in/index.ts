/**
 * A stand-in for the module `electron`, for machines where its binary is unavailable: the app's main process runs in plain
 * Node, its pages in the system's Chromium, its preload script in a separate world beside them.
 *
 * Its parts are typed by Electron's own `electron.d.ts`. It does what it supports as documented; if a program uses
 * anything else (a member, an event, an option, a value), the process ends and names what is missing, so that no test
 * can pass on something that is not executed.
 *
 * It cannot show what needs pixels, a kernel or Electron's own binary:
 * - Node with BoringSSL (as its version shows), V8 with pointer compression and its sandbox, the speed of Chromium's
 *   event loop;
 * - `app:` as a scheme: pages have an https address (addresses.ts), with its rules for CSP, modules, storage and
 *   caches;
 * - permissions and the clipboard: answered in the page's own world (page-world.ts), not by the browser process;
 * - `webRequest` for WebSockets, `blob:`, `devtools:`, preconnections and service workers;
 * - the network service: node:tls sends a preview's requests (proxied-request.ts), without HSTS, caches and
 *   `ERR_CERT_*`;
 * - structured clone: ports carry texts, bytes, numbers, booleans and null, and refuse the rest (message-port.ts);
 * - menus, the tray, notifications and accelerators as systems draw and route them;
 * - the archive: programs run from files (the package test reads the archive), so `fd`s and integrity are as on disk;
 * - window managers, which round sizes, refuse positions, and show windows later;
 * - the duration of a real start (processes, the GPU, D-Bus), beyond the delay that a test sets.
 */
import { onCommand, tell } from './driver.ts';
import * as electron from './index.ts';
import { menus, trays } from './menu.ts';
import { clickNotification } from './notification.ts';

export { app } from './app.ts';
export { BaseWindow } from './base-window.ts';
export { BrowserWindow } from './browser-window.ts';
export { dialog } from './dialog.ts';
export { Menu, Tray } from './menu.ts';
export { Notification } from './notification.ts';
export { ipcMain } from './preload-world.ts';
export { safeStorage } from './safe-storage.ts';
export { screen } from './screen.ts';
export { protocol, session } from './session.ts';
export { nativeTheme, powerMonitor, shell } from './system.ts';
export { clipboard } from './web-contents.ts';

// As Playwright's `ElectronApplication.evaluate`: a function of the test runs here, with the module as its argument, and
// with what Electron does not expose, such as the tray.
onCommand((command) => {
  if (command.kind !== 'evaluate') return;
  const { id, source, argument } = command;
  void (async () => {
    try {
      const run = new Function(`return (${source})`)() as (...values: unknown[]) => unknown;
      tell({ kind: 'evaluated', id, value: await run({ ...electron, menus, trays, clickNotification }, argument) });
    } catch (error) {
      tell({ kind: 'evaluated', id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  })();
});
