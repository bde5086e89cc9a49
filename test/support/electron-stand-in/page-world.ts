import type { BrowserContext } from 'playwright-core';
import { EXPOSE_EVENT } from './preload-world.ts';

/** A page's request that Electron decides, or lets the program decide. */
export type PageQuestion =
  | { kind: 'open'; url: string }
  | { kind: 'permission'; permission: string }
  | { kind: 'permission-state'; permission: string }
  | { kind: 'copied'; text: string };

const BINDING = 'electronStandInAsk';

/** Replaces Chromium's own answers with Electron's, in the world of every page of `context`. */
export async function preparePages(
  context: BrowserContext,
  answer: (source: { page: object; url: string; isMainFrame: boolean }, question: PageQuestion) => Promise<unknown>,
): Promise<void> {
  await context.exposeBinding(BINDING, ({ page, frame }, question: PageQuestion) =>
    answer({ page, url: frame.url(), isMainFrame: frame.parentFrame() === null }, question),
  );
  await context.addInitScript(`(() => {
  document.addEventListener('${EXPOSE_EVENT}', ({ detail }) => {
    const [key, value] = JSON.parse(detail);
    Object.defineProperty(window, key, { value, enumerable: true });
  });
  const ask = (question) => window['${BINDING}'](question);
  const denied = () => { throw new DOMException('Permission denied.', 'NotAllowedError'); };
  const permit = async (permission) => (await ask({ kind: 'permission', permission })) || denied();

  // New windows: denied ones are null to the page; no other answer is supported.
  window.open = (url) => { ask({ kind: 'open', url: new URL(url ?? 'about:blank', location.href).href }); return null; };
  window.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (link === null || event.defaultPrevented || ['', '_self', '_top', '_parent'].includes(link.target)) return;
    event.preventDefault();
    ask({ kind: 'open', url: link.href });
  });

  if (navigator.clipboard) {
    const readsAndWrites = Object.getPrototypeOf(navigator.clipboard);
    readsAndWrites.writeText = async (text) => {
      await permit('clipboard-sanitized-write');
      await ask({ kind: 'copied', text: String(text) });
    };
    readsAndWrites.write = () => denied();
    readsAndWrites.readText = readsAndWrites.read = async () => { await permit('clipboard-read'); denied(); };
  }
  const position = Object.getPrototypeOf(navigator.geolocation);
  position.getCurrentPosition = position.watchPosition = (_found, failed) => {
    ask({ kind: 'permission', permission: 'geolocation' }).then(() => failed?.({ code: 1, message: 'Permission denied.' }));
  };
  if (navigator.mediaDevices) {
    const media = Object.getPrototypeOf(navigator.mediaDevices);
    media.getUserMedia = async () => { await permit('media'); denied(); };
    media.getDisplayMedia = async () => { await permit('display-capture'); denied(); };
  }
  Notification.requestPermission = async () => (await ask({ kind: 'permission', permission: 'notifications' })) ? 'granted' : 'denied';
  Object.getPrototypeOf(navigator.permissions).query = async ({ name }) =>
    ({ name, state: (await ask({ kind: 'permission-state', permission: name })) ? 'granted' : 'denied' });
})();`);
}
