import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  chooseFromMenu,
  HOSTS,
  ownErrors,
  startDesktop,
  titleOf,
  useDesktop,
  WAYLAND_SESSION,
  windowState,
  type Desktop,
} from '../support/desktop/desktop.ts';

/** The one project gets a name over the control port, and the page shows it. */
async function seeLiveChange(desktop: Desktop, name: string): Promise<void> {
  const page = await desktop.page();
  await page.getByRole('heading', { level: 1 }).waitFor();
  const [project] = await desktop.call('projects.list');
  if (project === undefined) await desktop.call('projects.create', { name });
  else await desktop.call('projects.update', { projectId: project.id, name });
  await page.getByText(name).first().waitFor();
}

async function expectDrained(desktop: Desktop): Promise<void> {
  const ended = await desktop.ended;
  expect([ended.code, ownErrors(ended)]).toEqual([0, '']);
  expect(() => desktop.runtime()).toThrow('ENOENT');
  expect(readFileSync(join(desktop.dataDir, 'logs', 'vivarium.log'), 'utf8')).toMatch(/Vivarium has stopped\n$/);
}

for (const host of HOSTS) {
  describe.skipIf(host.missing !== null)(`the desktop app, on ${titleOf(host)}`, () => {
    // A session in which a hidden window is never drawn.
    const app = useDesktop(host, { env: WAYLAND_SESSION });

    it('opens one window, whose page receives the engine’s changes without signing in, also after a reload', async () => {
      const desktop = app();
      await seeLiveChange(desktop, 'Glasshouse');
      await expect.poll(() => windowState(desktop)).toMatchObject({ count: 1, visible: true });
      await expect.poll(async () => (await windowState(desktop)).url).toMatch(/^app:\/\/vivarium\//);
      await (await desktop.page()).reload();
      await seeLiveChange(desktop, 'Orangery');
    });

    it('keeps serving when its window is closed, says so once, and shows the window when it is started again', async () => {
      const desktop = app();
      await desktop.page();
      const closeWindow = () =>
        desktop.evaluate(({ BrowserWindow }) => {
          BrowserWindow.getAllWindows()[0]?.close();
        });
      const dialog = desktop.nextDialog();
      await closeWindow();
      const { message, press } = await dialog;
      expect(message).toBe('Vivarium keeps running without its window');
      press('Keep serving');
      await expect.poll(async () => (await windowState(desktop)).visible).toBe(false);
      await expect(desktop.call('status.get')).resolves.toHaveProperty('version');

      const again = startDesktop(host, { dataDir: desktop.dataDir });
      expect((await again.ended).code).toBe(0);
      await expect.poll(() => windowState(desktop)).toMatchObject({ count: 1, visible: true });
      await closeWindow();
      await expect.poll(async () => (await windowState(desktop)).visible).toBe(false);
      await desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.show());
    });

    it('runs once for each data folder', async () => {
      const other = startDesktop(host, { hidden: true });
      await Promise.all([app().serving(), other.serving()]);
      expect(app().runtime().pid).not.toBe(other.runtime().pid);
    });

    it('offers to reload a crashed page, while its servers keep running', async () => {
      const desktop = app();
      const page = await desktop.page();
      const dialog = desktop.nextDialog();
      const crash = page.waitForEvent('crash');
      page.goto('chrome://crash').catch(() => undefined);
      const { message, press } = await dialog;
      await crash;
      expect(message).toBe('The window’s page ended unexpectedly');
      await expect(desktop.call('status.get')).resolves.toHaveProperty('version');
      press('Reload');
      await seeLiveChange(desktop, 'Again');
    });

    it('finds text on its page, as a browser does', async () => {
      const desktop = app();
      const page = await desktop.page();
      await seeLiveChange(desktop, 'Glasshouse');
      // The bar searches what is there when a letter is typed.
      await page.locator('.content').getByText('Glasshouse').first().waitFor();
      await page.keyboard.press('ControlOrMeta+f');
      const bar = page.getByRole('search');
      await page.keyboard.type('glasshouse');
      await bar.getByText(/^1 of [1-9]/).waitFor();
      const marked = () => page.evaluate(`[...(CSS.highlights.get('found-now') ?? [])].map(String).join(' ')`);
      // The name, or the address that has it in lower case.
      await expect.poll(async () => String(await marked()).toLowerCase()).toBe('glasshouse');
      await page.keyboard.type('s');
      await bar.getByText('Not found').waitFor();
      await page.keyboard.press('Escape');
      await bar.waitFor({ state: 'detached' });
      await expect.poll(marked).toBe('');
    });

    it('ends a page that loops before it loads it again, and takes its question back when the page answers', async () => {
      const desktop = app();
      await seeLiveChange(desktop, 'Glasshouse');
      const emit = (event: string) =>
        desktop.evaluate(({ BrowserWindow }, name) => {
          (BrowserWindow.getAllWindows()[0] as unknown as NodeJS.EventEmitter).emit(name);
        }, event);
      const first = desktop.nextDialog();
      await emit('unresponsive');
      const { message, isWithdrawn = () => true } = await first;
      expect(message).toBe('The window’s page does not answer');
      await emit('responsive');
      await expect.poll(isWithdrawn).toBe(true);
      const page = await desktop.page();
      const second = desktop.nextDialog();
      const crash = page.waitForEvent('crash');
      page.evaluate('for (;;);').catch(() => undefined);
      await emit('unresponsive');
      (await second).press('Reload');
      await crash;
      await seeLiveChange(desktop, 'Fernery');
    });

    it('survives a failure of its engine, restarts it on the same ports and data, and shows the reason', async () => {
      const desktop = app();
      await seeLiveChange(desktop, 'Glasshouse');
      const page = await desktop.page();
      const { http } = desktop.runtime();
      const failWith = (reason: string) =>
        desktop.evaluate((_electron, text) => void setImmediate(() => Promise.reject(new Error(text))), reason);
      await failWith('the test made it fail');
      await page.getByText('was started again. the test made it fail.').first().waitFor();
      await page.getByText('Glasshouse').first().waitFor();
      expect(desktop.runtime().http).toEqual(http);

      for (const suffix of ['', '-wal', '-shm']) rmSync(join(desktop.dataDir, `vivarium.db${suffix}`));
      await page.getByText('removed or replaced the database').first().waitFor();
      await seeLiveChange(desktop, 'Orangery');

      const dialog = desktop.nextDialog();
      await failWith('it fails again');
      await page.getByText('was started again. it fails again.').first().waitFor();
      await desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.hide());
      await failWith('and again');
      const { message, detail, press } = await dialog;
      expect([message, detail]).toEqual(['Vivarium failed', expect.stringContaining('The last failure: and again.')]);
      // On macOS a box can block the process; its servers would then accept connections without answering.
      expect(() => desktop.runtime()).toThrow('ENOENT');
      await expect.poll(async () => (await windowState(desktop)).visible).toBe(true);
      press('Start again');
      await page.getByText('was started again. and again.').first().waitFor();
      await seeLiveChange(desktop, 'Palm house');
      await expect.poll(() => windowState(desktop)).toMatchObject({ count: 1, visible: true });
    });

    it('drains and ends with 0 at Quit or SIGTERM, and reopens at its last position', async () => {
      const first = startDesktop(host);
      await first.page();
      const place = { x: 60, y: 80, width: 1000, height: 700 };
      await first.evaluate(({ BrowserWindow }, bounds) => BrowserWindow.getAllWindows()[0]?.setBounds(bounds), place);
      await chooseFromMenu(first, 'Quit Vivarium');
      await expectDrained(first);
      const again = startDesktop(host, { dataDir: first.dataDir });
      await again.page();
      const bounds = await again.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getNormalBounds());
      expect(bounds).toEqual(place);
      // On Windows, a signal ends the process at once.
      if (process.platform === 'win32') return;
      again.signal('SIGTERM');
      await expectDrained(again);
    });
  });
}
