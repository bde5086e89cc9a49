import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { HOSTS, titleOf, useDesktop, windowState, type Desktop } from '../support/desktop/desktop.ts';
import { PREFERENCES } from '../support/electron-stand-in/preferences.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** A foreign document that requests a port to the engine, and reports the outcome in its title. */
const INTRUDER = `data:text/html,<title>waiting</title><script>
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('close', () => { document.title = 'refused'; });
  port1.onmessage = () => { document.title = 'answered'; };
  window.postMessage('vivarium:connect', '*', [port2]);
</script>`;

const ready = (page: Page) => page.getByRole('heading', { level: 1 }).waitFor();

/** Evaluates the expression `script` in the page, and asserts that the page has not changed. */
async function attempt(desktop: Desktop, script: string): Promise<unknown> {
  const page = await desktop.page();
  await ready(page);
  const result = await page.evaluate<unknown>(script);
  await ready(page);
  const { count, url } = await windowState(desktop);
  expect([count, url]).toEqual([1, expect.stringMatching(/^app:\/\/vivarium\//)]);
  return result;
}

for (const host of HOSTS) {
  describe.skipIf(host.missing !== null)(`the page of the desktop’s window, on ${titleOf(host)}`, () => {
    const app = useDesktop(host);
    let opened: Promise<void> | undefined;
    beforeEach(async () => {
      const desktop = app();
      // The app's own load could interrupt one that begins before its end.
      await (opened ??= desktop.page().then(ready));
      await desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.loadURL('app://vivarium/'));
    });

    it('exposes nothing of Node or Electron except a marker', async () => {
      const names = ['require', 'process', 'module', 'Buffer', 'electron', 'ipcRenderer', 'global', 'vivariumDesktop'];
      const found = await attempt(app(), `${JSON.stringify(names)}.filter((name) => name in globalThis)`);
      expect(found).toEqual(['vivariumDesktop']);
    });

    it('cannot navigate to another address', async () => {
      const desktop = app();
      for (const address of [
        'https://example.org/',
        'http://127.0.0.1:9/',
        'file:///etc/passwd',
        'data:text/html,x',
        'app://other/',
      ]) {
        await attempt(desktop, `void location.assign(${JSON.stringify(address)})`);
      }
    });

    it('cannot open windows', async () => {
      const opened = await attempt(
        app(),
        `(() => {
          const link = Object.assign(document.createElement('a'), { href: 'https://example.org/', target: '_blank' });
          document.body.append(link);
          link.click();
          link.remove();
          return [window.open('/'), window.open('https://example.org/', 'named')];
        })()`,
      );
      expect(opened).toEqual([null, null]);
    });

    it('cannot embed other documents', async () => {
      const desktop = app();
      await attempt(
        desktop,
        `for (const src of ['https://example.org/', location.href, 'data:text/html,<script>document.write("embed" + "ded")</script>']) {
          document.body.append(Object.assign(document.createElement('iframe'), { src }));
        }
        document.body.insertAdjacentHTML('beforeend', '<webview src="https://example.org/"></webview>');`,
      );
      const [, ...frames] = (await desktop.page()).frames();
      // A frame may still be loading the error page.
      const contents = () => Promise.all(frames.map((frame) => frame.evaluate<string>('document.body.innerText')));
      await expect.poll(async () => (await contents()).join('')).not.toMatch(/embedded|Vivarium/);
    });

    it('runs and reads only its own files', async () => {
      const desktop = app();
      await desktop.page();
      const { url } = desktop.runtime().control;
      const outcome = await attempt(
        desktop,
        `(async () => {
          const script = Object.assign(document.createElement('script'), { textContent: 'window.inlined = true' });
          document.body.append(script);
          const isRefused = (address) => fetch(address).then(() => false, () => true);
          return {
            inlined: 'inlined' in window,
            engine: await isRefused('${url}/api/openapi.json'),
            file: await isRefused('file:///etc/passwd'),
            socket: await new Promise((resolve) => {
              const socket = new WebSocket('${url.replace('http', 'ws')}/rpc');
              socket.onerror = () => resolve(true);
              socket.onopen = () => resolve(false);
            }),
          };
        })()`,
      );
      expect(outcome).toEqual({ inlined: false, engine: true, file: true, socket: true });
    });

    it('cannot be loaded from another folder', async () => {
      const desktop = app();
      const page = await desktop.page();
      const { origin } = new URL(page.url());
      for (const path of ['/%2e%2e%2fpackage.json', '/..%5c..%5cpackage.json', '/assets/..%2f..%2f..%2fpackage.json']) {
        const response = await page.goto(origin + path);
        expect([path, response?.status()]).toEqual([path, 400]);
        await expect.poll(() => page.content()).not.toContain('devDependencies');
      }
    });

    it('may write text to the clipboard, and is denied every other permission', async () => {
      const desktop = app();
      await (await desktop.page()).bringToFront();
      const outcome = await attempt(
        desktop,
        `(async () => {
          const name = (error) => error.name;
          await navigator.clipboard.writeText('copied by the page');
          return {
            read: await navigator.clipboard.readText().then(() => 'allowed', name),
            notifications: await Notification.requestPermission(),
            camera: await navigator.mediaDevices.getUserMedia({ video: true }).then(() => 'allowed', name),
            place: await new Promise((resolve) => {
              navigator.geolocation.getCurrentPosition(() => resolve('allowed'), ({ code }) => resolve(code));
            }),
          };
        })()`,
      );
      expect(outcome).toEqual({
        read: 'NotAllowedError',
        notifications: 'denied',
        camera: 'NotAllowedError',
        place: 1,
      });
      await expect.poll(() => desktop.evaluate(({ clipboard }) => clipboard.readText())).toBe('copied by the page');
    });

    it('is the only document connected to the engine: any other in such a window is refused', async () => {
      const desktop = app();
      await desktop.page();
      await desktop.evaluate(
        ({ BrowserWindow }, { url, preload, icon, preferences }) => {
          const window = new BrowserWindow({
            show: false,
            icon,
            webPreferences: {
              preload,
              ...preferences,
            },
          });
          return window.loadURL(url);
        },
        {
          url: INTRUDER,
          preload: join(ROOT, 'out', 'preload', 'preload.cjs'),
          icon: join(ROOT, 'resources', 'icons', 'linux', '256x256.png'),
          preferences: PREFERENCES,
        },
      );
      const intruder = await desktop.pageAt('data:');
      await expect.poll(() => intruder.title()).toBe('refused');
      await desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[1]?.destroy());
    });

    it('cannot be replaced by a foreign page, not even by the app itself', async () => {
      const desktop = app();
      await ready(await desktop.page());
      const load = desktop.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows()[0]?.loadURL('https://example.org/'),
      );
      await expect(load).rejects.toThrow('ERR_BLOCKED_BY_CLIENT');
    });
  });
}
