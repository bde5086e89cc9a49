import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Desktop, HOSTS, startDesktop, titleOf, useDesktop, WAYLAND_SESSION } from '../support/desktop/desktop.ts';
import { FREE_PORTS } from '../support/program.ts';

/** Starting the app and a window, on a busy machine. */
const PREVIEW_MS = 180_000;

const HOSTNAME = 'www.happypaws.test';
const URL = `https://${HOSTNAME}/v1/openapi.json`;

/** A preview of a custom domain of the demo. */
async function openPreview(desktop: Desktop) {
  await (await desktop.page()).getByRole('heading', { level: 1 }).waitFor();
  const own = (await desktop.page()).context();
  const before = new Set((own.browser()?.contexts() ?? [own]).flatMap((context) => context.pages()));
  const answer = await desktop.call('reach.preview', { hostname: HOSTNAME });
  expect(answer).toEqual({ url: URL });
  const page = await vi.waitFor(async () => {
    const found = await desktop.pageAt(`https://${HOSTNAME}/`);
    // It belongs to the previous test, and is still closing.
    if (before.has(found)) throw new Error('The preview has no page yet.');
    return found;
  }, PREVIEW_MS);
  await page.getByText('"Animal Store API"').waitFor();
  return { desktop, page };
}

/** Makes the page ask before it closes; Chromium requires a click first. */
async function preventLeaving(page: Page): Promise<void> {
  await page.evaluate(`addEventListener('beforeunload', (event) => event.preventDefault())`);
  await page.locator('body').click();
}

const titles = (desktop: Desktop): Promise<string[]> =>
  desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((window) => window.getTitle()));

for (const host of HOSTS) {
  describe.skipIf(host.missing !== null)(`the preview window, on ${titleOf(host)}`, { timeout: PREVIEW_MS }, () => {
    // A session in which a hidden window is never drawn.
    const app = useDesktop(host, { args: FREE_PORTS, env: WAYLAND_SESSION });
    afterEach(async () => {
      await app().evaluate(({ BrowserWindow }) => {
        for (const window of BrowserWindow.getAllWindows()) if (window.getTitle() !== 'Vivarium') window.destroy();
      });
    });

    it('shows a hostname over verified HTTPS, without a browser or a trusted root', async () => {
      const { desktop } = await openPreview(app());
      const visible = () =>
        desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().map((window) => window.isVisible()));
      await expect.poll(visible).toEqual([true, true]);
      await expect.poll(() => desktop.call('reach.browser')).toMatchObject({ preview: true });
      await expect.poll(() => titles(desktop)).toEqual(['Vivarium', HOSTNAME]);
      // A page that sets another title.
      await desktop.evaluate(async ({ BrowserWindow }) => {
        const preview = BrowserWindow.getAllWindows().find((window) => window.getTitle() !== 'Vivarium');
        await preview?.loadURL('data:text/html,<title>Vivarium</title>');
      });
      await expect.poll(() => titles(desktop)).toEqual(['Vivarium', HOSTNAME]);
      const { items } = await desktop.call('traffic.list');
      expect(items).toContainEqual(expect.objectContaining({ authority: HOSTNAME, scheme: 'https' }));
    });

    it('is opened by the Preview button, which says why it opens no sixth one', async () => {
      const desktop = app();
      const own = await desktop.page();
      await own
        .getByRole('button', { name: /^Connect/ })
        .first()
        .click();
      const reach = own.getByRole('dialog');
      const preview = reach.getByRole('button', { name: 'Preview' });
      await preview.click();
      const page = await desktop.pageAt('https://demo.vivarium.localhost/');
      await page.getByText('"Animal Store API"').waitFor();
      await expect.poll(() => titles(desktop)).toEqual(['Vivarium', 'demo.vivarium.localhost']);
      for (let open = 1; open < 5; open++) await desktop.call('reach.preview', { hostname: HOSTNAME });
      await preview.click();
      await reach.getByText('No preview was opened.').waitFor();
      await reach.getByText('open already').waitFor();
    });

    it('navigates only to served hostnames, and reaches only the proxy', async () => {
      const { desktop, page } = await openPreview(app());
      const { control } = desktop.runtime();
      for (const address of ['https://example.org/', `${control.url}/`, 'file:///etc/passwd', 'app://vivarium/']) {
        await page.evaluate(`void location.assign(${JSON.stringify(address)})`);
        await expect.poll(() => page.url()).toBe(URL);
      }
      const outcome = await page.evaluate<unknown>(`(async () => {
      const isRefused = (address) => fetch(address, { mode: 'no-cors' }).then(() => false, () => true);
      return {
        elsewhere: await isRefused('https://example.org/'),
        control: await isRefused('${control.url.replace('http://', 'https://')}/'),
        file: await isRefused('file:///etc/passwd'),
        window: window.open('https://${HOSTNAME}/'),
        names: ['require', 'process', 'vivariumDesktop'].filter((name) => name in globalThis),
      };
    })()`);
      expect(outcome).toEqual({ elsewhere: true, control: true, file: true, window: null, names: [] });
      await page.goto('https://demo.vivarium.localhost/v1/openapi.json');
      await page.getByText('"Animal Store API"').waitFor();
    });

    it('sends no WebRTC datagrams past the proxy, shows only served hostnames, and is limited to five', async () => {
      const { desktop } = await openPreview(app());
      const policies = await desktop.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows()
          .filter((window) => window.getTitle() !== 'Vivarium')
          .map((window) => window.webContents.getWebRTCIPHandlingPolicy()),
      );
      expect(policies).toEqual(['disable_non_proxied_udp']);
      await expect(desktop.call('reach.preview', { hostname: 'example.org' })).rejects.toThrow(/Nothing is served at/);
      for (let open = 1; open < 5; open++) await desktop.call('reach.preview', { hostname: HOSTNAME });
      await expect(desktop.call('reach.preview', { hostname: HOSTNAME })).rejects.toThrow(/open already/);
    });

    it('leaves a page despite its `beforeunload` handler: by navigation, by its close button, and by Quit', async () => {
      const { desktop, page } = await openPreview(startDesktop(host, { args: FREE_PORTS }));
      await preventLeaving(page);
      await page.goto('https://demo.vivarium.localhost/v1/openapi.json');
      await preventLeaving(page);
      await desktop.evaluate(({ BrowserWindow }) => {
        const isPreview = (window: Electron.BrowserWindow) => window.getTitle() !== 'Vivarium';
        BrowserWindow.getAllWindows().find(isPreview)?.close();
      });
      await expect.poll(() => titles(desktop)).toEqual(['Vivarium']);
      await desktop.call('reach.preview', { hostname: HOSTNAME });
      const again = await desktop.pageAt(URL);
      await again.getByText('"Animal Store API"').waitFor();
      await preventLeaving(again);
      await again.evaluate(`void setTimeout(() => { for (;;); })`);
      expect((await desktop.quit()).code).toBe(0);
    });
  });
}
