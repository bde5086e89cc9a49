/**
 * Behaviour that only the stand-in exposes: questions before there is a window, the tray, and links and files opened in
 * other programs.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  chooseFromMenu,
  DESKTOP_PROGRAM,
  type Desktop,
  type DesktopStart,
  type ElectronModule,
  hideWindow,
  ownErrors,
  STAND_IN,
  startDesktop,
  useDesktop,
  windowState,
} from '../support/desktop/desktop.ts';
import { ELECTRON } from '../support/desktop/desktop-on-stand-in.ts';
import { signInWith } from '../support/rpc/rpc-control.ts';
import { track } from '../support/engine.ts';
import { FREE_PORTS, runProgram, startProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { takenPort } from '../support/ports.ts';

const start = (options: DesktopStart = {}) => startDesktop(STAND_IN, options);

/** A path and the folders above it. */
const ancestorsOf = (path: string): string[] =>
  dirname(path) === path ? [path] : [path, ...ancestorsOf(dirname(path))];

/** Whether other users may get through a folder, or read a file. */
const isOpen = (path: string): boolean => (statSync(path).mode & (statSync(path).isDirectory() ? 0o001 : 0o004)) !== 0;

/** Starts the app without a window, and waits until it serves: Chromium would take half of the time. */
async function startHidden(options: DesktopStart = {}) {
  const desktop = start({ ...options, hidden: true });
  await desktop.serving();
  return desktop;
}

/** The port of a server that listens until the test ends. */
async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  track(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Resolves once the app has a window, with or without its page. */
const opened = (desktop: Desktop) => expect.poll(async () => (await windowState(desktop)).count).toBe(1);

const logOf = (dataDir: string): string => readFileSync(join(dataDir, 'logs', 'vivarium.log'), 'utf8');

describe('a failing start', () => {
  it('names the port in use, takes another one, and then opens the link of a second start', async () => {
    const port = await takenPort();
    const desktop = start({ args: [...FREE_PORTS, '--http-port', String(port), '--empty'], hidden: true });
    const { message, detail, buttons, press } = await desktop.nextDialog();
    expect(message).toBe('Vivarium can’t use the port for HTTP');
    expect(detail).toMatch(new RegExp(`^Port ${port} .* is taken`));
    expect(buttons).toEqual(['Try again', 'Use another port this time', 'Quit']);
    const again = await start({ dataDir: desktop.dataDir, link: 'vivarium://doctor' }).ended;
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('another one is starting')]);
    press('Use another port this time');
    await desktop.pageAt('app://vivarium/doctor');
    expect(desktop.runtime().http.port).not.toBe(port);
  });

  it.each(['linux', 'darwin'])('ends on %s at SIGTERM while its question is open', async (platform) => {
    const port = await takenPort();
    const env = { ELECTRON_STAND_IN_PLATFORM: platform };
    const desktop = start({ args: [...FREE_PORTS, '--https-port', String(port)], env });
    await desktop.nextDialog();
    desktop.signal('SIGTERM');
    expect((await desktop.ended).code).toBe(0);
  });

  it('offers the interface of the headless Vivarium that uses the data folder', async () => {
    const headless = await startProgram(['--empty']);
    const desktop = start({ dataDir: headless.dataDir });
    const { message, press } = await desktop.nextDialog();
    expect(message).toBe('Vivarium is already running on this data folder, without a window');
    const { url, token } = headless.runtime.control;
    press('Try again');
    const again = await desktop.nextDialog();
    again.press('Open its interface');
    const ended = await desktop.ended;
    expect([ended.code, ownErrors(ended)]).toEqual([0, '']);
    const [link = ''] = desktop.opened;
    expect(link.startsWith(`${url}/`)).toBe(true);
    expect((await signInWith(link)).status).toBe(200);
    expect(logOf(headless.dataDir)).not.toContain(token);
  });

  it('reports an unknown option, and creates no files in the default data folder on Windows and macOS', async () => {
    const appData = temporaryFolder();
    const env = { ELECTRON_STAND_IN_APP_DATA: appData };
    const failed = start({ args: ['--data-folder', 'x'], env });
    expect((await failed.ended).code).toBe(1);
    expect(failed.errorBoxes).toMatchObject([
      { title: 'Vivarium could not start', content: expect.stringContaining('--data-folder') as string },
    ]);
    expect(readdirSync(appData)).toEqual([]);
    await startHidden({ dataDir: join(appData, 'Vivarium'), env });
  });

  it('reports a lock that is held without a running Vivarium', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    mkdirSync(join(dataDir, 'desktop'), { recursive: true });
    writeFileSync(join(dataDir, 'vivarium.lock'), '');
    writeFileSync(join(dataDir, 'desktop', 'SingletonLock'), String(process.pid));
    const again = start({ dataDir });
    const { code, stderr } = await again.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining(`The lock in ${join(dataDir, 'desktop')} is held`)]);
  });

  it('leaves a folder with foreign files untouched', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'thesis.txt'), '');
    const desktop = start({ dataDir: folder });
    expect((await desktop.ended).code).toBe(1);
    expect(desktop.errorBoxes[0]?.content).toContain('holds files that are not Vivarium');
    expect(readdirSync(folder)).toEqual(['thesis.txt']);
  });
});

describe('the desktop app', () => {
  const HOME = mkdtempSync(join(tmpdir(), 'home-'));
  const app = useDesktop(STAND_IN, { env: { HOME } });

  it('shows in the tray its addresses, its projects, and that its clock differs from the real time', async () => {
    const desktop = app();
    await desktop.page();
    const { http, https, dns } = desktop.runtime();
    await expect
      .poll(async () => (await desktop.trayLabels()).slice(0, 2))
      .toEqual([`Serving HTTP ${http.port}, HTTPS ${https.port}, DNS ${dns.port}`, '0 projects, 0 custom domains']);
    await desktop.call('projects.create', { name: 'Glasshouse' });
    await expect.poll(async () => (await desktop.trayLabels())[1]).toBe('1 project, 0 custom domains');
    await desktop.call('clock.freeze');
    await expect.poll(async () => (await desktop.trayLabels())[2]).toMatch(/^! The app’s clock is frozen/);
    await desktop.call('clock.resume');
    await hideWindow(desktop);
    await desktop.clickTray('Open Vivarium');
    await expect.poll(() => windowState(desktop)).toMatchObject({ count: 1, visible: true });
  });

  it('opens in other programs a single-use sign-in link, the logs, the data folder and links of the page', async () => {
    const desktop = app();
    const page = await desktop.page();
    await page.getByRole('heading', { level: 1 }).waitFor();
    const { url } = desktop.runtime().control;
    for (const [index, item] of ['Open in Browser', 'Show Logs', 'Show Data Folder'].entries()) {
      await chooseFromMenu(desktop, item);
      await expect.poll(() => desktop.opened).toHaveLength(index + 1);
    }
    await page.evaluate(
      `window.open('https://www.rfc-editor.org/rfc/rfc8659'); window.open('smb://example.org/share')`,
    );
    await expect
      .poll(() => desktop.opened)
      .toEqual([
        expect.stringMatching(new RegExp(`^${url}/#ticket=\\w{43}$`)),
        join(desktop.dataDir, 'logs'),
        desktop.dataDir,
        'https://www.rfc-editor.org/rfc/rfc8659',
      ]);
    await expect.poll(() => logOf(desktop.dataDir)).toContain('smb://example.org/share');
  });

  it('has Back and Forward, in the menu and on a mouse', async () => {
    const desktop = app();
    const page = await desktop.page();
    const inRail = (name: string) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name });
    await inRail('DNS').click();
    const at = async (path: string) =>
      expect.poll(async () => new URL((await windowState(desktop)).url).pathname).toContain(path);
    await at('/dns');
    await inRail('Certificates').click();
    await at('/certificates');
    await chooseFromMenu(desktop, 'Back');
    await at('/dns');
    await chooseFromMenu(desktop, 'Forward');
    await at('/certificates');
    await desktop.evaluate(({ BrowserWindow }) => {
      const [window] = BrowserWindow.getAllWindows() as unknown as NodeJS.EventEmitter[];
      window?.emit('app-command', {}, 'browser-backward');
    });
    await at('/dns');
  });

  it('has a menu at the pointer, with what can be done there', async () => {
    const desktop = app();
    await desktop.page();
    const labels = await desktop.evaluate(async (electron) => {
      const { BrowserWindow, clipboard, menus } = electron as typeof electron & { menus: Electron.Menu[] };
      const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as NodeJS.EventEmitter;
      const place = { linkURL: 'https://shop.acme.test/', selectionText: 'shop', isEditable: false };
      contents.emit('context-menu', {}, { ...place, editFlags: { canCopy: true } });
      const items = menus.at(-1)?.items ?? [];
      items.find(({ label }) => label === 'Copy Link')?.click();
      return [...items.map(({ label, role }) => role ?? label), await clipboard.readText()];
    });
    expect(labels).toEqual(['Copy Link', '', 'copy', '', 'selectAll', 'https://shop.acme.test/']);
  });

  it('saves downloads that its page generates, and prevents all others', async () => {
    const desktop = app();
    const page = await desktop.page();
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const address of [`URL.createObjectURL(new Blob(['a zone']))`, `'data:text/plain,foreign'`]) {
      const download = page.waitForEvent('download');
      await page.evaluate(
        `document.body.appendChild(Object.assign(document.createElement('a'), { href: ${address}, download: 'x' })).click()`,
      );
      await download;
    }
    await expect
      .poll(() => desktop.downloads)
      .toEqual([
        { url: expect.stringMatching(/^blob:app:\/\/vivarium\//) as string, prevented: false },
        { url: 'data:text/plain,foreign', prevented: true },
      ]);
  });

  it('suggests npm start for ports 80 and 443, not capabilities, with which Electron would not run', async () => {
    const desktop = app();
    const hostname = 'glasshouse.vivarium.localhost';
    const { changes } = await desktop.call('machine.plan', { hostname });
    const ports = changes.find(({ id }) => id === 'ports');
    expect(JSON.stringify(ports)).not.toContain('setcap');
    expect(ports?.note).toContain(`npm start -- --data-dir ${desktop.dataDir} --http-port 80 --https-port 443`);
  });

  it('has doctor checks for its runtime, and seals no key without a keyring', async () => {
    const desktop = app();
    const ask = async () => {
      const { checks } = await desktop.call('doctor.run', { areas: ['desktop', 'domains'] });
      return Object.fromEntries(checks.map(({ id, status }) => [id, status]));
    };
    const before = await ask();
    expect(before).toEqual({
      'domains.platform': 'ok',
      'desktop.runtime': 'ok',
      'desktop.sandbox': 'ok',
      'desktop.keyring': 'skipped',
      'desktop.tray': 'ok',
    });
    await expectNoSeal(desktop);
    const after = await ask();
    expect(after).toMatchObject({ 'desktop.keyring': 'warning' });
  });

  it('runs "vivarium uninstall" before its removal, and opens the output', async () => {
    const desktop = app();
    await chooseFromMenu(desktop, 'Prepare to Remove…');
    (await desktop.nextDialog()).press('Cancel');
    await chooseFromMenu(desktop, 'Prepare to Remove…');
    (await desktop.nextDialog()).press('Prepare');
    const file = join(desktop.dataDir, 'logs', 'removal.txt');
    await expect.poll(() => desktop.opened.at(-1)).toBe(file);
    expect(readFileSync(file, 'utf8')).toContain(`${desktop.dataDir} stays, with its projects, keys, backups`);
  });

  it('answers its own command line without taking it for another start', async () => {
    const desktop = app();
    const { code, stdout } = await run('--data-dir', desktop.dataDir, 'call', 'status.get').ended;
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ dataDir: desktop.dataDir })]);
    await expect.poll(() => windowState(desktop)).toMatchObject({ count: 1 });
    const missing = await run('--data-dir', desktop.dataDir, 'call', 'projects.get', '{"projectId":"prj_x"}').ended;
    expect([missing.code, JSON.parse(missing.stderr)]).toEqual([1, expect.objectContaining({ code: 'not_found' })]);
  });

  it('shows a box for files that it cannot open or write, and keeps serving', async () => {
    const desktop = app();
    rmSync(join(desktop.dataDir, 'logs'), { recursive: true });
    const dialog = desktop.nextDialog();
    await chooseFromMenu(desktop, 'Show Logs');
    const { message, detail, press } = await dialog;
    expect([message, detail]).toEqual(['logs could not be opened', expect.stringContaining('logs')]);
    press('OK');
    await chooseFromMenu(desktop, 'Prepare to Remove…');
    (await desktop.nextDialog()).press('Prepare');
    const fault = await desktop.nextDialog();
    expect([fault.message, fault.detail]).toEqual([
      'What stays could not be written to a file',
      expect.stringContaining(`${desktop.dataDir} stays`),
    ]);
    fault.press('OK');
    await expect(desktop.call('status.get')).resolves.toHaveProperty('version');
  });
});

const VERSION_CHOICE = 'Check for a Newer Version Every Day';

/** Whether the menu item is checked; undefined if it does not exist. */
const isChecked = (desktop: Desktop, wanted: string): Promise<boolean | undefined> =>
  desktop.evaluate(
    ({ Menu }, label) =>
      Menu.getApplicationMenu()
        ?.items.flatMap(({ submenu }) => submenu?.items ?? [])
        .find((item) => item.label === label)?.checked,
    wanted,
  );

async function expectNoSeal(desktop: Desktop): Promise<void> {
  await expect(desktop.call('settings.update', { caKey: 'keyring' })).rejects.toThrow('This session had no keyring');
  await expect.poll(() => desktop.call('ca.get')).toMatchObject({ key: { storage: 'file', sealable: false } });
  expect(readdirSync(join(desktop.dataDir, 'ca')).sort()).toEqual(['intermediate.pem', 'root-key.pem', 'root.pem']);
}

describe('starting at login', () => {
  /** Starts the installed app on its default data folder. */
  function startInstalled(platform: string, env: Record<string, string> = {}) {
    const home = temporaryFolder();
    const [folder, config] = [join(home, 'data'), join(home, 'config')];
    const dataDir =
      platform === 'linux' ? join(folder, 'vivarium') : join(home, 'Library/Application Support/Vivarium');
    const place = { HOME: home, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: config, ELECTRON_STAND_IN_PLATFORM: platform };
    const desktop = start({ dataDir, env: { ...place, ELECTRON_STAND_IN_PACKAGED: '1', ...env }, hidden: true });
    return { desktop, entry: join(config, 'autostart', 'localhost.vivarium.app.desktop') };
  }

  it('uses an entry in the autostart folder on Linux, and stays off if it cannot be written', async () => {
    const { desktop, entry } = startInstalled('linux');
    await desktop.serving();
    await expect.poll(() => isChecked(desktop, 'Start at Login')).toBe(false);
    await chooseFromMenu(desktop, 'Start at Login');
    await expect
      .poll(async () => [await isChecked(desktop, 'Start at Login'), readFileSync(entry, 'utf8')])
      .toEqual([true, expect.stringContaining(`Exec="${ELECTRON}" --hidden\n`)]);
    await chooseFromMenu(desktop, 'Start at Login');
    await expect
      .poll(async () => [await isChecked(desktop, 'Start at Login'), existsSync(entry)])
      .toEqual([false, false]);
    await chooseFromMenu(desktop, 'Start at Login');
    await expect.poll(() => existsSync(entry)).toBe(true);
    await chooseFromMenu(desktop, 'Prepare to Remove…');
    (await desktop.nextDialog()).press('Prepare');
    await expect.poll(() => existsSync(entry)).toBe(false);
    // An entry that cannot be written is reported.
    rmSync(dirname(entry), { recursive: true });
    writeFileSync(dirname(entry), '');
    await chooseFromMenu(desktop, 'Start at Login');
    const { message } = await desktop.nextDialog();
    expect(message).toBe('“Start at Login” could not be changed');
    await expect.poll(() => isChecked(desktop, 'Start at Login')).toBe(false);
  });

  it('uses a setting of the system on macOS', async () => {
    const { desktop } = startInstalled('darwin');
    // The engine's database for macOS does not run here.
    await desktop.nextDialog();
    await chooseFromMenu(desktop, 'Start at Login');
    await expect.poll(() => isChecked(desktop, 'Start at Login')).toBe(true);
  });

  it('says that macOS wants to be asked, and stays off', async () => {
    const { desktop } = startInstalled('darwin', { ELECTRON_STAND_IN_LOGIN_ITEMS: 'refused' });
    // The engine's database for macOS does not run here.
    await desktop.nextDialog();
    await chooseFromMenu(desktop, 'Start at Login');
    expect(await desktop.nextDialog()).toMatchObject({
      detail: expect.stringContaining('System Settings, General, Login Items') as string,
    });
    await expect.poll(() => isChecked(desktop, 'Start at Login')).toBe(false);
  });

  it('is off on Windows if it was switched off in Task Manager', async () => {
    const loginItem = JSON.stringify(join(import.meta.dirname, '..', '..', 'main', 'electron', 'system.ts'));
    const program = `import { app } from 'electron';
      import { openLoginItem } from ${loginItem};
      await app.whenReady();
      app.setLoginItemSettings({ openAtLogin: true });
      console.log(openLoginItem({}, '').isOn());
      app.exit();`;
    const printed = ['refused', 'allowed'].map(async (answer) => {
      const env = { ELECTRON_STAND_IN_PLATFORM: 'win32', ELECTRON_STAND_IN_LOGIN_ITEMS: answer };
      return (await runOnStandIn(program, env)).stdout.trim();
    });
    expect(await Promise.all(printed)).toEqual(['false', 'true']);
  });

  it('opens no window before the user asks for one, and is not offered for another data folder', async () => {
    const desktop = await startHidden({ env: { ELECTRON_STAND_IN_PACKAGED: '1' } });
    await expect.poll(() => isChecked(desktop, 'Start at Login')).toBeUndefined();
    await expect.poll(() => desktop.trayLabels()).toContain('Open Vivarium');
    await expect.poll(async () => (await windowState(desktop)).count).toBe(0);
    await desktop.clickTray('Open Vivarium');
    await expect.poll(async () => (await windowState(desktop)).visible).toBe(true);
  });
});

it('an app on macOS that was not moved to Applications says what does not last until it was', async () => {
  const env = { ELECTRON_STAND_IN_PLATFORM: 'darwin', ELECTRON_STAND_IN_PACKAGED: '1' };
  const { message, buttons } = await start({ env: { ...env, ELECTRON_STAND_IN_PLACE: 'Downloads' } }).nextDialog();
  expect([message, buttons]).toEqual(['Vivarium is not in Applications', ['OK']]);
  expect((await start({ env }).nextDialog()).message).not.toBe('Vivarium is not in Applications');
});

it('a link passed by the system opens its page, even in an existing window or before Electron is ready', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const readyFile = join(temporaryFolder(), 'ready');
  const first = start({ dataDir, env: { ELECTRON_STAND_IN_READY_FILE: readyFile } });
  await expect.poll(() => existsSync(join(dataDir, 'desktop', 'SingletonLock'))).toBe(true);
  expect((await start({ dataDir, link: 'vivarium://doctor' }).ended).code).toBe(1);
  writeFileSync(readyFile, '');
  await first.pageAt('app://vivarium/doctor');
  expect((await start({ dataDir, link: 'vivarium://settings' }).ended).code).toBe(0);
  await first.pageAt('app://vivarium/settings');
  // As macOS passes links; the first one has a query, which is not allowed.
  await first.evaluate(({ app }) => {
    for (const link of ['vivarium://doctor?repair=all', 'vivarium://domains'])
      app.emit('open-url', { preventDefault: () => undefined }, link);
  });
  await first.pageAt('app://vivarium/domains');
  await hideWindow(first);
  await first.evaluate(({ app }) => void app.emit('activate'));
  await expect.poll(() => windowState(first)).toMatchObject({ count: 1, visible: true });
});

it('notifications report a domain that is no longer served, and a newer version, once they are switched on', async () => {
  const releases = createServer((request, response) => void response.end('{"tag_name": "v99.0.0"}'));
  const api = `http://127.0.0.1:${await portOf(releases)}/latest`;
  const desktop = await startHidden({ args: FREE_PORTS, env: { VIVARIUM_RELEASES_URL: api } });
  const projects = await desktop.call('projects.list');
  const projectId = projects.find(({ slug }) => slug === 'happy-paws')?.id;
  const setPlan = (plan: string) => desktop.call('projects.update', { projectId, plan });
  await setPlan('free');
  await setPlan('pro');
  await chooseFromMenu(desktop, 'Notify of Lost Domains and Banned Keys');
  await setPlan('free');
  await expect
    .poll(() => desktop.notifications.toSorted())
    .toEqual(['happypaws.example is no longer served', 'www.happypaws.test is no longer served']);
  await chooseFromMenu(desktop, VERSION_CHOICE);
  await expect.poll(() => desktop.notifications.at(-1)).toBe('Vivarium 99.0.0 is available');
  // The program holds what can still be clicked, and no more.
  expect(await desktop.clickNotification()).toBe(2);
  await chooseFromMenu(desktop, 'Get Vivarium 99.0.0…');
  await expect.poll(() => desktop.opened).toEqual(Array(2).fill('https://github.com/vivarium/vivarium/releases'));
});

describe('the end of the session', () => {
  interface Ending {
    endSession(): void;
  }

  it('is delayed on Linux and macOS until requests have finished', async () => {
    const desktop = await startHidden();
    const end = ({ powerMonitor }: ElectronModule) => (powerMonitor as unknown as Ending).endSession();
    void desktop.evaluate(end).catch(() => undefined);
    const { code, signal } = await desktop.ended;
    expect([code, signal]).toEqual([0, null]);
    expect(logOf(desktop.dataDir)).toMatch(/Vivarium has stopped\n$/);
  });

  // Only the app's shutdown code: SQLite's binary for Windows cannot be loaded elsewhere.
  it('is delayed on Windows, even if no window was opened', async () => {
    const main = join(import.meta.dirname, '..', '..', 'main');
    const { code, signal, stdout } = await runOnStandIn(
      `import { app, BaseWindow } from 'electron';
       import { nextTurn } from ${JSON.stringify(join(main, 'base', 'turns.ts'))};
       import { drainBeforeQuit } from ${JSON.stringify(join(main, 'electron', 'ending.ts'))};
       drainBeforeQuit({ log: console, drain: () => nextTurn().then(() => console.log('drained')) });
       await app.whenReady();
       BaseWindow.endSession();`,
      { ELECTRON_STAND_IN_PLATFORM: 'win32' },
    );
    expect([code, signal, stdout]).toEqual([0, null, '\r\ndrained\n']);
  });
});

it('a window whose screen was disconnected opens on another screen, and in its old place once the screen is back', async () => {
  const laptop = { x: 0, y: 25, width: 1440, height: 875 };
  const both = [laptop, { x: 1440, y: 0, width: 2560, height: 1440 }];
  const place = { x: 2000, y: 100, width: 2000, height: 1200 };
  const dataDir = join(temporaryFolder(), 'data');
  const nameOf = ({ x, y, width, height }: typeof laptop) => `${width}x${height}+${x}+${y}`;
  mkdirSync(join(dataDir, 'desktop'), { recursive: true });
  writeFileSync(join(dataDir, 'vivarium.lock'), '');
  const stored = { bounds: [{ screens: both.map(nameOf).toSorted().join(' '), bounds: place }] };
  writeFileSync(join(dataDir, 'desktop', 'window.json'), JSON.stringify(stored));
  for (const [screens, bounds] of [
    [[laptop], laptop],
    [both, place],
  ] as const) {
    const desktop = start({ dataDir, env: { ELECTRON_STAND_IN_SCREENS: JSON.stringify(screens) } });
    await opened(desktop);
    await expect
      .poll(() => desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds()))
      .toEqual(bounds);
    desktop.signal('SIGKILL');
    await desktop.ended;
  }
});

describe('a message box', () => {
  it('belongs to the main window and shows it, or to none before there is one, but never to a preview', async () => {
    const desktop = await startHidden({ args: FREE_PORTS });
    await desktop.call('reach.preview', { hostname: 'www.happypaws.test' });
    await opened(desktop);
    await chooseFromMenu(desktop, 'Prepare to Remove…');
    const first = await desktop.nextDialog();
    expect(first.parent).toBeNull();
    first.press('Cancel');
    await desktop.clickTray('Open Vivarium');
    await desktop.page();
    const visible = () =>
      desktop.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows()
          .find((window) => window.getTitle() === 'Vivarium')
          ?.isVisible(),
      );
    await desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().forEach((window) => window.hide()));
    await chooseFromMenu(desktop, 'Prepare to Remove…');
    const second = await desktop.nextDialog();
    expect(second.parent).toBe('Vivarium');
    await expect.poll(visible).toBe(true);
    second.press('Cancel');
  });

  it('on macOS has a visible window, also after it was hidden or minimized', async () => {
    const main = join(import.meta.dirname, '..', '..', 'main', 'electron');
    const app = startOnStandIn(
      `import { app, BrowserWindow } from 'electron';
       import { createMainWindow } from ${JSON.stringify(join(main, 'window.ts'))};
       app.enableSandbox();
       app.on('window-all-closed', () => undefined);
       await app.whenReady();
       const iconFile = ${JSON.stringify(join(main, '..', '..', 'resources', 'icons', 'linux', '256x256.png'))};
       const memory = { get: () => ({ bounds: [] }), set() {} };
       const window = createMainWindow({ log: console, memory, iconFile, preloadFile: null, isQuitting: () => false });
       const ask = (message) => window.showMessage({ message, buttons: ['OK'] });
       await ask('no window');
       window.show();
       for (const how of ['hide', 'minimize']) {
         BrowserWindow.getAllWindows()[0][how]();
         await ask(how);
       }
       app.exit();`,
      { ELECTRON_STAND_IN_PLATFORM: 'darwin' },
    );
    for (const wanted of ['no window', 'hide', 'minimize']) {
      const { message, parent, press } = await app.nextDialog();
      expect([message, parent]).toEqual([wanted, 'Vivarium']);
      press('OK');
    }
    expect((await app.ended).code).toBe(0);
  });
});

describe('the root’s key', () => {
  it('is sealed with the session’s keyring and opened by the next start; a headless start says why it cannot open it', async () => {
    const env = { ELECTRON_STAND_IN_KEYRING: join(temporaryFolder(), 'keyring') };
    const first = await startHidden({ env });
    const sealed = await first.call('settings.update', { caKey: 'keyring' });
    expect([sealed, readdirSync(join(first.dataDir, 'ca')).sort()]).toEqual([
      expect.objectContaining({ caKey: 'keyring' }),
      ['root-key.sealed', 'root.pem'],
    ]);
    await expect.poll(() => first.trayLabels()).toContain('Quit Vivarium');
    await first.clickTray('Quit Vivarium');
    expect((await first.ended).code).toBe(0);

    const again = await startHidden({ dataDir: first.dataDir, env });
    await expect.poll(() => again.call('ca.get')).toMatchObject({ key: { storage: 'keyring' } });
    await again.quit();

    const headless = await runProgram(['serve', '--data-dir', first.dataDir, ...FREE_PORTS]);
    expect([headless.code, headless.stderr]).toEqual([1, expect.stringContaining('only the desktop app can open')]);
  });

  it('is not sealed if the keyring cannot be opened, because Chromium’s constant key would not protect it', async () => {
    await expectNoSeal(await startHidden({ env: { ELECTRON_STAND_IN_KEYRING: temporaryFolder() } }));
  });
});

/** Runs a command of the installed app as its launcher does: in the same binary. */
const run = (...words: string[]) => runIn({}, ...words);

function runIn(env: Record<string, string>, ...words: string[]) {
  const app = STAND_IN.start(['--log-level=3', '--command-line', '--', ...words], env);
  track(async () => {
    app.signal('SIGKILL');
    await app.ended;
  });
  return app;
}

/** With the streams of Windows, which print a blank line before anything else. */
const windows = (...words: string[]) => runIn({ ELECTRON_STAND_IN_STREAMS: 'win32' }, ...words);

describe('the command line of the installed app', () => {
  it.each([
    ['linux', ''],
    ['win32', '\r\n'],
  ])('prints the command’s output with the streams of %s, and ends with its exit code', async (streams, blank) => {
    const command = (...words: string[]) => runIn({ ELECTRON_STAND_IN_STREAMS: streams }, ...words);
    const printed = await command('--version').ended;
    expect([printed.code, printed.stdout]).toEqual([0, expect.stringMatching(`^${blank}\\d+\\.\\d+\\.\\d+\n$`)]);
    expect(await command('nonsense').ended).toMatchObject({ code: 1, stdout: blank });
    const idle = await command('--data-dir', temporaryFolder(), 'call', 'status.get').ended;
    expect([idle.code, idle.stderr]).toEqual([2, expect.stringContaining('No Vivarium is running')]);
  });

  it('starts Vivarium in the background with the streams of Windows, runs a command at its hostname, and stops Vivarium', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const started = await windows('start', '-d', '--data-dir', dataDir, '--empty', ...FREE_PORTS).ended;
    expect(started).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Interface') as string });
    expect(existsSync(join(dataDir, 'runtime.json'))).toBe(true);
    expect((await windows('stop', '--data-dir', dataDir).ended).code).toBe(0);
    // It starts Vivarium again.
    const server = `require('http').createServer((q, r) => r.end()).listen(process.env.PORT, '127.0.0.1', () => console.log('up'))`;
    const running = windows('run', 'shop', '--data-dir', dataDir, '--', process.execPath, '-e', server);
    await expect.poll(() => running.printed.stderr).toContain('They lead to');
    running.signal('SIGTERM');
    await running.ended;
    expect((await windows('stop', '--data-dir', dataDir).ended).code).toBe(0);
  });

  it('says which program has the port of a Vivarium that cannot start in the background, and ends with 1', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const port = String(await takenPort());
    const { code, stdout, stderr } = await windows(
      'start',
      '-d',
      '--data-dir',
      dataDir,
      ...FREE_PORTS,
      '--dns-port',
      port,
    ).ended;
    expect([code, stdout, stderr]).toEqual([1, '\r\n', expect.stringMatching(`^vivarium: Port ${port} .* is taken`)]);
  });

  it('ends with 1 and a message if it cannot start', async () => {
    const { code, stderr } = await runIn({ TMPDIR: '/nonexistent' }, '--version').ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('/nonexistent')]);
  });

  it.each([
    ['mcp', 'install the npm package'],
    ['check --file -', 'Name a file instead of -'],
  ])('refuses to read standard input on Windows, where Electron has none: %s', async (words, remedy) => {
    const { code, stderr } = await runIn({ ELECTRON_STAND_IN_PLATFORM: 'win32' }, ...words.split(' ')).ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('has no standard input on Windows')]);
    expect(stderr).toContain(remedy);
  });

  it('ends without an error when its output is closed', async () => {
    const app = run('--version');
    app.closeOutput();
    expect(await app.ended).toMatchObject({ code: 0, stderr: '' });
    expect(app.errorBoxes).toEqual([]);
  });

  it('opens the app on macOS, which takes the command for the app', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'open'), `#!/bin/sh\nprintf '%s\\n' "$*" >> '${join(folder, 'opened')}'\n`);
    chmodSync(join(folder, 'open'), 0o755);
    const PATH = `${folder}${delimiter}${process.env.PATH ?? ''}`;
    // A command that takes as long as the test.
    const app = runIn({ ELECTRON_STAND_IN_PLATFORM: 'darwin', PATH }, 'wait', '--data-dir', folder, '--timeout', '60s');
    await app.evaluate(async ({ app: running }) => {
      await running.whenReady();
      running.emit('activate', { preventDefault: () => undefined }, false);
      for (const link of ['vivarium://doctor', 'vivarium://doctor?repair=all'])
        running.emit('open-url', { preventDefault: () => undefined }, link);
    });
    const bundle = dirname(dirname(dirname(ELECTRON)));
    await expect
      .poll(() => readFileSync(join(folder, 'opened'), 'utf8').split('\n').toSorted())
      .toEqual(['', `-n -a ${bundle}`, `-n -a ${bundle} --args vivarium://doctor`]);
  });

  it('ends with 130 when Ctrl-C stops it', async () => {
    const slow = createTcpServer();
    const port = await portOf(slow);
    const connected = new Promise((resolve) => slow.once('connection', resolve));
    const dataDir = temporaryFolder();
    const control = { url: `http://127.0.0.1:${port}`, token: 'x' };
    writeFileSync(join(dataDir, 'runtime.json'), JSON.stringify({ pid: process.pid, control }));
    const app = run('--data-dir', dataDir, 'call', 'status.get');
    await connected;
    await app.evaluate(({ app: running }) => running.whenReady());
    app.signal('SIGINT');
    expect(await app.ended).toMatchObject({ code: 130, stderr: '' });
  });

  it('removes its temporary files, and leaves foreign ones alone', async () => {
    const env = { TMPDIR: temporaryFolder() };
    const documents = temporaryFolder();
    mkdirSync(join(documents, 'letters'));
    const { pid } = spawnSync('true');
    symlinkSync(documents, join(env.TMPDIR, `vivarium-temporary-${pid}-link`));
    writeFileSync(join(env.TMPDIR, `vivarium-temporary-${pid}-file`), '');
    mkdirSync(join(env.TMPDIR, `vivarium-temporary-${pid}-folder`));
    const before = readdirSync(env.TMPDIR);
    expect(await runIn(env, '--version').ended).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(env.TMPDIR).filter((name) => name.startsWith('vivarium-'))).toEqual(before);
    expect(readdirSync(documents)).toEqual(['letters']);
  });

  // Only root can be two users, and the other one has to get at the program.
  it
    .runIf(process.getuid?.() === 0 && ancestorsOf(DESKTOP_PROGRAM).every(isOpen))
    .each<[what: string, make: (path: string, documents: string) => void]>([
      ['a closed folder', (path) => mkdirSync(join(path, '4194000-abcdef'), { recursive: true, mode: 0o700 })],
      ['a file', (path) => writeFileSync(path, '')],
      ['a link', (path, documents) => symlinkSync(documents, path)],
      ['a pipe', (path) => spawnSync('mkfifo', [path])],
    ])('runs for a user whose temporary folder’s name is taken by another user with %s', (_what, make) => {
    const nobody = 65_534;
    const TMPDIR = temporaryFolder();
    const documents = join(TMPDIR, 'documents');
    mkdirSync(join(documents, '4194000-letters'), { recursive: true });
    for (const folder of ancestorsOf(TMPDIR)) if (!isOpen(folder)) chmodSync(folder, 0o711);
    chmodSync(TMPDIR, 0o1777);
    make(join(TMPDIR, `vivarium-${nobody}`), documents);
    chownSync(join(documents, '4194000-letters'), nobody, nobody);
    const before = readdirSync(TMPDIR, { recursive: true });
    const own = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', ELECTRON, DESKTOP_PROGRAM];
    const { status, stdout, stderr } = spawnSync(
      'setpriv',
      [...own, '--log-level=3', '--command-line', '--', '--version'],
      {
        encoding: 'utf8',
        env: { ...process.env, TMPDIR, HOME: TMPDIR, ELECTRON_STAND_IN_NODE: process.execPath },
      },
    );
    expect([status, stdout, stderr]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/), '']);
    expect(readdirSync(TMPDIR, { recursive: true })).toEqual(before);
  });

  it('serves headless until it receives SIGTERM', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const serving = run('serve', '--data-dir', dataDir, '--empty', ...FREE_PORTS);
    await expect.poll(() => existsSync(join(dataDir, 'runtime.json'))).toBe(true);
    serving.signal('SIGTERM');
    const { code, stdout } = await serving.ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('Stopping')]);
  });
});

it('the stand-in for Electron ends a program that uses something unsupported', async () => {
  const early: [code: string, message: string][] = [
    [`app.getGPUInfo();`, 'does not carry out app.getGPUInfo'],
    [`app.relaunch();`, 'does not carry out app.relaunch'],
    [`try { app.setBadgeCount(1) } catch {}`, 'does not carry out app.setBadgeCount'],
    [`app.on('gpu-info-update', () => {});`, 'never emits "gpu-info-update" of app'],
    [`await import('data:text/javascript,import { autoUpdater } from "electron"')`, `an export named 'autoUpdater'`],
    [`session.defaultSession;`, 'cannot be used before the app is ready'],
    [`await app.whenReady(); new BrowserWindow({ webPreferences: {} });`, 'app.enableSandbox() was not called'],
  ];
  const late: typeof early = [
    [`new BrowserWindow({ kiosk: true });`, 'does not carry out the option "kiosk" of BrowserWindow'],
    [`new BrowserWindow({ webPreferences: { sandbox: false } });`, 'carries out sandbox: true only, not false'],
    [`new BrowserWindow({ fullscreen: false });`, 'takes full screen from no window'],
    [`protocol.registerSchemesAsPrivileged([{ scheme: 'app' }]);`, 'before the app is ready'],
  ];
  for (const [setUp, faults] of [
    ['', early],
    ['app.enableSandbox(); await app.whenReady();', late],
  ] as const) {
    const said = await runPieces(
      setUp,
      faults.map(([code]) => code),
    );
    expect(said).toEqual(faults.map(([, message]) => expect.stringContaining(message) as string));
  }
});

/** Runs pieces of a program, each of which would end it; resolves with the message that each one caused. */
async function runPieces(setUp: string, pieces: readonly string[]): Promise<string[]> {
  const attempts = pieces.map(
    (code) => `told.push(''); try { ${code} } catch (error) { told.push(told.pop() + error); }`,
  );
  const { stdout } = await runOnStandIn(
    `import { app, BrowserWindow, protocol, session } from 'electron';
     const told = [], { exit } = process;
     process.exit = () => { throw 'ended'; };
     process.stderr.write = (text) => told.push(told.pop() + text);
     ${setUp}
     ${attempts.join('\n')}
     process.stdout.write(JSON.stringify(told), () => exit(0));`,
  );
  return JSON.parse(stdout) as string[];
}

function startOnStandIn(code: string, env: Record<string, string> = {}) {
  const program = join(temporaryFolder(), 'program.mjs');
  writeFileSync(program, code);
  return STAND_IN.start(['--log-level=3'], { ELECTRON_STAND_IN_APP_DATA: temporaryFolder(), ...env }, program);
}

const runOnStandIn = (code: string, env?: Record<string, string>) => startOnStandIn(code, env).ended;
