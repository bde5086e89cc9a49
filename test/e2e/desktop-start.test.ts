/**
 * What only the stand-in lets one see: questions that are asked before there is a window, the tray, and what is handed
 * to other programs.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DoctorReport } from '../../main/contract/doctor.ts';
import type { ReachSnippets } from '../../main/contract/reach.ts';
import {
  chooseFromMenu,
  type Desktop,
  type ElectronModule,
  hideWindow,
  ownErrors,
  STAND_IN,
  startDesktop,
  windowState,
} from '../support/desktop.ts';
import { signInWith } from '../support/rpc-control.ts';
import type { StandInApp } from '../support/desktop-on-stand-in.ts';
import { temporaryFolder, track } from '../support/engine.ts';
import { FREE_PORTS, runProgram, startProgram } from '../support/program.ts';

const start = (options: Parameters<typeof startDesktop>[1] = {}) =>
  startDesktop(STAND_IN, options) as ReturnType<typeof startDesktop> & StandInApp;

/** A port that is taken for as long as the test runs. */
async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  track(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const logOf = (dataDir: string): string => readFileSync(join(dataDir, 'logs', 'vivarium.log'), 'utf8');

describe('a start that cannot be', () => {
  it('names the port that is taken, and takes another one when asked to', async () => {
    const port = await takenPort();
    const desktop = start({ args: [...FREE_PORTS, '--http-port', String(port), '--empty'] });
    const { message, detail, buttons, press } = await desktop.nextDialog();
    expect(message).toBe('Vivarium can’t use the port for HTTP');
    expect(detail).toMatch(new RegExp(`^Port ${port} .* is taken`));
    expect(buttons).toEqual(['Try again', 'Use another port this time', 'Quit']);
    press('Use another port this time');
    await desktop.page();
    expect(desktop.runtime().http.port).not.toBe(port);
  });

  it.each(['linux', 'darwin'])('ends on %s when it is asked to while it asks', async (platform) => {
    const port = await takenPort();
    const env = { ELECTRON_STAND_IN_PLATFORM: platform };
    const desktop = start({ args: [...FREE_PORTS, '--https-port', String(port)], env });
    await desktop.nextDialog();
    desktop.signal('SIGTERM');
    expect((await desktop.ended).code).toBe(0);
  });

  it('offers the interface of the headless one that has the data folder', async () => {
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

  it.each<[what: string, args: string[], message: RegExp]>([
    ['an option that there is not', ['--data-folder', 'x'], /--data-folder/],
    ['the same port twice', ['--http-port', '9000', '--https-port', '9000'], /are both 9000/],
  ])('says what is wrong with %s', async (_what, args, message) => {
    const desktop = start({ args });
    expect((await desktop.ended).code).toBe(1);
    expect(desktop.errorBoxes).toMatchObject([
      { title: 'Vivarium could not start', content: expect.stringMatching(message) as string },
    ]);
  });

  it('leaves Electron’s own folder alone, which is the usual data folder on Windows and macOS', async () => {
    const appData = temporaryFolder();
    const env = { ELECTRON_STAND_IN_APP_DATA: appData };
    const failed = start({ args: ['--data-folder', 'x'], env });
    expect((await failed.ended).code).toBe(1);
    expect(readdirSync(appData)).toEqual([]);
    const desktop = start({ dataDir: join(appData, 'Vivarium'), env });
    await desktop.page();
  });

  it('says so where the lock is held and nobody runs', async () => {
    const first = start();
    await first.page();
    await first.quit();
    writeFileSync(join(first.dataDir, 'desktop', 'SingletonLock'), String(process.pid));
    const again = start({ dataDir: first.dataDir });
    const { code, stderr } = await again.ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`The lock in ${join(first.dataDir, 'desktop')} is held`),
    ]);
  });

  it('touches no folder that is somebody else’s', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'thesis.txt'), '');
    const desktop = start({ dataDir: folder });
    expect((await desktop.ended).code).toBe(1);
    expect(desktop.errorBoxes[0]?.content).toContain('holds files that are not Vivarium');
    expect(readdirSync(folder)).toEqual(['thesis.txt']);
  });
});

describe('the tray', () => {
  it('says where and what Vivarium serves and that its clock is not the real one, and ends it', async () => {
    const desktop = start();
    await desktop.page();
    const { http, https, dns } = desktop.runtime();
    await expect
      .poll(async () => (await desktop.trayLabels())[0])
      .toBe(`Serving HTTP ${http.port}, HTTPS ${https.port}, DNS ${dns.port}`);
    expect((await desktop.trayLabels())[1]).toBe('0 projects, 0 custom domains');
    await desktop.call('projects.create', { name: 'Glasshouse' });
    await expect.poll(async () => (await desktop.trayLabels())[1]).toBe('1 project, 0 custom domains');
    await desktop.call('clock.freeze');
    await expect.poll(async () => (await desktop.trayLabels())[2]).toMatch(/^! The app’s clock is frozen/);
    await desktop.clickTray('Quit Vivarium');
    expect((await desktop.ended).code).toBe(0);
  });

  it('brings the window back', async () => {
    const desktop = start();
    await desktop.page();
    await expect.poll(() => desktop.trayLabels()).toContain('Open Vivarium');
    await hideWindow(desktop);
    await desktop.clickTray('Open Vivarium');
    expect(await windowState(desktop)).toMatchObject({ count: 1, visible: true });
  });
});

describe('what is handed to other programs', () => {
  it('is a link to the interface that signs in once; the logs; the data folder; a link of the page', async () => {
    const desktop = start();
    const page = await desktop.page();
    await page.getByRole('heading', { level: 1 }).waitFor();
    const { url } = desktop.runtime().control;
    await chooseFromMenu(desktop, 'Open in Browser');
    await chooseFromMenu(desktop, 'Show Logs');
    await chooseFromMenu(desktop, 'Show Data Folder');
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
});

describe('starting at login', () => {
  /** An installed app on its usual data folder. */
  function startInstalled(platform: string, env: Record<string, string> = {}) {
    const home = temporaryFolder();
    const [folder, config] = [join(home, 'data'), join(home, 'config')];
    const dataDir =
      platform === 'linux' ? join(folder, 'vivarium') : join(home, 'Library/Application Support/Vivarium');
    const place = { HOME: home, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: config, ELECTRON_STAND_IN_PLATFORM: platform };
    const desktop = start({ dataDir, env: { ...place, ELECTRON_STAND_IN_PACKAGED: '1', ...env } });
    return { desktop, entry: join(config, 'autostart', 'localhost.vivarium.app.desktop') };
  }

  const isChecked = (desktop: ReturnType<typeof start>): Promise<boolean | undefined> =>
    desktop.evaluate(
      ({ Menu }) =>
        Menu.getApplicationMenu()
          ?.items.flatMap(({ submenu }) => submenu?.items ?? [])
          .find(({ label }) => label === 'Start at Login')?.checked,
    );

  it('is an entry of the autostart folder on Linux', async () => {
    const { desktop, entry } = startInstalled('linux');
    await desktop.page();
    expect(await isChecked(desktop)).toBe(false);
    await chooseFromMenu(desktop, 'Start at Login');
    expect([await isChecked(desktop), readFileSync(entry, 'utf8')]).toEqual([
      true,
      expect.stringContaining(`Exec="${process.execPath}" --hidden\n`),
    ]);
    await chooseFromMenu(desktop, 'Start at Login');
    expect([await isChecked(desktop), existsSync(entry)]).toEqual([false, false]);
    await chooseFromMenu(desktop, 'Start at Login');
    await chooseFromMenu(desktop, 'Prepare to Remove…');
    (await desktop.nextDialog()).press('Prepare');
    await expect.poll(() => existsSync(entry)).toBe(false);
  });

  it('says so where the entry cannot be written, and stays off', async () => {
    const { desktop, entry } = startInstalled('linux');
    await desktop.page();
    mkdirSync(dirname(dirname(entry)), { recursive: true });
    writeFileSync(dirname(entry), '');
    await chooseFromMenu(desktop, 'Start at Login');
    expect((await desktop.nextDialog()).message).toBe('“Start at Login” could not be changed');
    expect(await isChecked(desktop)).toBe(false);
  });

  it('is a setting of the system on macOS', async () => {
    const { desktop } = startInstalled('darwin');
    // The engine's database for macOS does not run here.
    await desktop.nextDialog();
    await chooseFromMenu(desktop, 'Start at Login');
    expect(await isChecked(desktop)).toBe(true);
  });

  it('opens no window until it is asked for', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const desktop = STAND_IN.start(['--hidden', '--', '--data-dir', dataDir, '--empty', ...FREE_PORTS], {});
    track(() => desktop.signal('SIGKILL'));
    await expect.poll(() => desktop.trayLabels()).toContain('Open Vivarium');
    expect((await windowState(desktop)).count).toBe(0);
    await desktop.clickTray('Open Vivarium');
    await expect.poll(async () => (await windowState(desktop)).visible).toBe(true);
  });

  it('is not offered on another data folder', async () => {
    const desktop = start({ env: { ELECTRON_STAND_IN_PACKAGED: '1' } });
    await desktop.page();
    expect(await isChecked(desktop)).toBeUndefined();
  });
});

describe('a link of the system', () => {
  const startWith = (dataDir: string, link: string) => {
    const args = [link, '--', '--data-dir', dataDir, '--empty', ...FREE_PORTS];
    const app = STAND_IN.start(args, { TMPDIR: temporaryFolder() });
    track(() => app.signal('SIGKILL'));
    return app;
  };

  it('opens its page, in the window that is there as well', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const first = startWith(dataDir, 'vivarium://doctor');
    await first.pageAt('app://vivarium/doctor');
    await expect.poll(() => first.trayLabels()).toContain('Open Vivarium');
    expect((await startWith(dataDir, 'vivarium://settings').ended).code).toBe(0);
    await first.pageAt('app://vivarium/settings');
    expect((await windowState(first)).count).toBe(1);
  });
});

describe('notifications', () => {
  it('say that a domain is no longer served, once they are asked for, and open the window', async () => {
    const desktop = start({ args: FREE_PORTS });
    await hideWindow(desktop);
    const projects = (await desktop.call('projects.list')) as { id: string; slug: string }[];
    const projectId = projects.find(({ slug }) => slug === 'happy-paws')?.id;
    const setPlan = (plan: string) => desktop.call('projects.update', { projectId, plan });
    await setPlan('free');
    await setPlan('pro');
    await chooseFromMenu(desktop, 'Notify of Lost Domains and Banned Keys');
    await setPlan('free');
    await expect
      .poll(() => desktop.notifications.toSorted())
      .toEqual(['happypaws.example is no longer served', 'www.happypaws.test is no longer served']);
    await desktop.clickNotification();
    await expect.poll(async () => (await windowState(desktop)).visible).toBe(true);
  });
});

describe('preparing to remove the app', () => {
  it('asks, runs "vivarium uninstall", and opens what it has printed', async () => {
    const desktop = start({ env: { HOME: temporaryFolder() } });
    await desktop.page();
    await expect.poll(() => desktop.trayLabels()).toContain('Open Vivarium');
    await chooseFromMenu(desktop, 'Prepare to Remove…');
    (await desktop.nextDialog()).press('Cancel');
    await chooseFromMenu(desktop, 'Prepare to Remove…');
    (await desktop.nextDialog()).press('Prepare');
    const file = join(desktop.dataDir, 'logs', 'removal.txt');
    await expect.poll(() => desktop.opened).toEqual([file]);
    expect(readFileSync(file, 'utf8')).toContain(`${desktop.dataDir} stays, with its projects, keys, backups`);
  });
});

describe('how to have ports 80 and 443', () => {
  it('is a start of the app, and never a change of Electron’s program, which would not run with capabilities', async () => {
    const desktop = start();
    await desktop.page();
    await desktop.call('projects.create', { name: 'Glasshouse' });
    const { systems } = (await desktop.call('reach.snippets', {
      hostname: 'glasshouse.vivarium.localhost',
    })) as ReachSnippets;
    const steps = systems.find(({ system }) => system === 'linux')?.steps ?? [];
    expect(steps.map(({ id }) => id)).not.toContain('setcap');
    expect(steps.find(({ id }) => id === 'low-ports')?.commands).toContain(
      `npm start -- --data-dir ${desktop.dataDir} --http-port 80 --https-port 443`,
    );
  });
});

describe('a folder that cannot be shown', () => {
  it('is named in a box of the window, while the servers go on', async () => {
    const desktop = start();
    await desktop.page();
    rmSync(join(desktop.dataDir, 'logs'), { recursive: true });
    const dialog = desktop.nextDialog();
    await chooseFromMenu(desktop, 'Show Logs');
    const { message, detail } = await dialog;
    expect([message, detail]).toEqual(['logs could not be opened', expect.stringContaining('logs')]);
    expect(await desktop.call('status.get')).toHaveProperty('version');
  });
});

describe('what the page saves', () => {
  it('is what it has made itself, and nothing that it was handed', async () => {
    const desktop = start();
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
});

describe('the end of the session', () => {
  interface Ending {
    endSession(): void;
  }

  it.each<[system: string, end: (electron: ElectronModule) => void]>([
    ['Linux and macOS', ({ powerMonitor }) => (powerMonitor as unknown as Ending).endSession()],
    ['Windows', ({ BrowserWindow }) => (BrowserWindow.getAllWindows()[0] as unknown as Ending).endSession()],
  ])('waits on %s until requests have finished', async (_system, end) => {
    const desktop = start();
    await desktop.page();
    void desktop.evaluate(end).catch(() => undefined);
    const { code, signal } = await desktop.ended;
    expect([code, signal]).toEqual([0, null]);
    expect(logOf(desktop.dataDir)).toMatch(/Vivarium has stopped\n$/);
  });
});

describe('a window', () => {
  it('whose screen has gone opens on one that is there, and where it was once the screen is back', async () => {
    const laptop = { x: 0, y: 25, width: 1440, height: 875 };
    const both = [laptop, { x: 1440, y: 0, width: 2560, height: 1440 }];
    const place = { x: 2000, y: 100, width: 2000, height: 1200 };
    const dataDir = join(temporaryFolder(), 'data');
    const startOn = async (...screens: object[]) => {
      const desktop = start({ dataDir, env: { ELECTRON_STAND_IN_SCREENS: JSON.stringify(screens) } });
      await desktop.page();
      return desktop;
    };
    const boundsOf = (desktop: Desktop) =>
      desktop.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds());
    const first = await startOn(...both);
    await first.evaluate(({ BrowserWindow }, to) => BrowserWindow.getAllWindows()[0]?.setBounds(to), place);
    await first.quit();
    const second = await startOn(laptop);
    expect(await boundsOf(second)).toEqual(laptop);
    await second.quit();
    expect(await boundsOf(await startOn(...both))).toEqual(place);
  });
});

describe('the root’s key', () => {
  it('is sealed with the keyring of the session, and opened by the next start; headless says why it cannot', async () => {
    const env = { ELECTRON_STAND_IN_KEYRING: join(temporaryFolder(), 'keyring') };
    const first = start({ env });
    await first.page();
    const sealed = await first.call('settings.update', { caKey: 'keyring' });
    expect([sealed, readdirSync(join(first.dataDir, 'ca')).sort()]).toEqual([
      expect.objectContaining({ caKey: 'keyring' }),
      ['root-key.sealed', 'root.pem'],
    ]);
    await first.quit();

    const again = start({ dataDir: first.dataDir, env });
    await again.page();
    expect(await again.call('ca.get')).toMatchObject({ key: { storage: 'keyring' } });
    await again.quit();

    const headless = await runProgram(['serve', '--data-dir', first.dataDir, ...FREE_PORTS]);
    expect([headless.code, headless.stderr]).toEqual([1, expect.stringContaining('only the desktop app can open')]);
  });

  it.each<[what: string, keyring: () => string | undefined]>([
    ['there is no keyring', () => undefined],
    ['the keyring cannot be opened', () => temporaryFolder()],
  ])('is not sealed where %s, because a constant would protect nothing', async (_what, keyring) => {
    const path = keyring();
    const desktop = start({ env: path === undefined ? {} : { ELECTRON_STAND_IN_KEYRING: path } });
    await desktop.page();
    await expect(desktop.call('settings.update', { caKey: 'keyring' })).rejects.toThrow('This session had no keyring');
    expect(await desktop.call('ca.get')).toMatchObject({ key: { storage: 'file', sealable: false } });
    expect(readdirSync(join(desktop.dataDir, 'ca')).sort()).toEqual(['root-key.pem', 'root.pem']);
  });
});

describe('the doctor of the app', () => {
  it('tells what it runs on, and of the keyring what has become of a seal', async () => {
    const desktop = start();
    await desktop.page();
    const ask = async () => {
      const { checks } = (await desktop.call('doctor.run', { areas: ['desktop', 'domains'] })) as DoctorReport;
      return Object.fromEntries(checks.map(({ id, status }) => [id, status]));
    };
    expect(await ask()).toEqual({
      'domains.platform': 'ok',
      'desktop.runtime': 'ok',
      'desktop.sandbox': 'ok',
      'desktop.keyring': 'skipped',
      'desktop.tray': 'ok',
    });
    await desktop.call('settings.update', { caKey: 'keyring' }).catch(() => undefined);
    expect(await ask()).toMatchObject({ 'desktop.keyring': 'warning' });
  });
});

describe('the command line of the installed app', () => {
  /** As its launcher starts it, in the same binary. */
  function run(...words: string[]) {
    return runIn({}, ...words);
  }

  function runIn(env: Record<string, string>, ...words: string[]) {
    const app = STAND_IN.start(['--log-level=3', '--command-line', '--', ...words], env);
    track(async () => {
      app.signal('SIGKILL');
      await app.ended;
    });
    return app;
  }

  it('prints, and ends with the command’s exit code', async () => {
    expect(await run('--version').ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
    expect(await run('nonsense').ended).toMatchObject({ code: 1, stdout: '' });
    const nobody = await run('--data-dir', temporaryFolder(), 'call', 'status.get').ended;
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining('No Vivarium is running')]);
  });

  it('asks the desktop app that runs, and does not count as another start of it', async () => {
    const desktop = start();
    await desktop.page();
    const { code, stdout } = await run('--data-dir', desktop.dataDir, 'call', 'status.get').ended;
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ dataDir: desktop.dataDir })]);
    expect(await windowState(desktop)).toMatchObject({ count: 1 });
    const missing = await run('--data-dir', desktop.dataDir, 'call', 'projects.get', '{"projectId":"prj_x"}').ended;
    expect([missing.code, JSON.parse(missing.stderr)]).toEqual([1, expect.objectContaining({ code: 'not_found' })]);
  });

  it('ends with 1 and a word where it cannot begin', async () => {
    const { code, stderr } = await runIn({ TMPDIR: '/nonexistent' }, '--version').ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('/nonexistent')]);
  });

  it('ends without a word when nobody reads on', async () => {
    const app = run('--version');
    app.closeOutput();
    expect(await app.ended).toMatchObject({ code: 0, stderr: '' });
    expect(app.errorBoxes).toEqual([]);
  });

  it('ends with 130 when Ctrl-C stops it', async () => {
    const slow = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => slow.once('listening', resolve));
    track(() => void slow.close());
    const connected = new Promise((resolve) => slow.once('connection', resolve));
    const { port } = slow.address() as AddressInfo;
    const dataDir = temporaryFolder();
    const control = { url: `http://127.0.0.1:${port}`, token: 'x' };
    writeFileSync(join(dataDir, 'runtime.json'), JSON.stringify({ pid: process.pid, control }));
    const app = run('--data-dir', dataDir, 'call', 'status.get');
    await connected;
    await app.evaluate(({ app: running }) => running.whenReady());
    app.signal('SIGINT');
    expect(await app.ended).toMatchObject({ code: 130, stderr: '' });
  });

  it('removes what it and those before it have left in the folder for temporary files', async () => {
    const env = { TMPDIR: temporaryFolder() };
    const ended = spawn('true');
    await new Promise((resolve) => ended.once('close', resolve));
    mkdirSync(join(env.TMPDIR, `vivarium-temporary-${ended.pid}-abc`));
    mkdirSync(join(env.TMPDIR, `vivarium-temporary-${process.pid}-abc`));
    expect((await runIn(env, '--version').ended).code).toBe(0);
    const left = readdirSync(env.TMPDIR).filter((name) => name.startsWith('vivarium-'));
    expect(left).toEqual([`vivarium-temporary-${process.pid}-abc`]);
  });

  it('serves headless until it is asked to stop', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const serving = run('serve', '--data-dir', dataDir, '--empty', ...FREE_PORTS);
    await expect.poll(() => existsSync(join(dataDir, 'runtime.json'))).toBe(true);
    serving.signal('SIGTERM');
    const { code, stdout } = await serving.ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('Stopping')]);
  });
});

describe('the stand-in for Electron', () => {
  /** A program that uses something of Electron; how it ends, and what it says. */
  function runUsing(code: string): Promise<{ code: number | null; stderr: string }> {
    const register = join(import.meta.dirname, '..', 'support', 'electron-stand-in', 'register.ts');
    const program = join(temporaryFolder(), 'program.mjs');
    writeFileSync(program, code);
    const child = spawn(process.execPath, ['--import', register, program], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ELECTRON_STAND_IN_APP_DATA: temporaryFolder() },
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    return new Promise((resolve) => child.once('close', (ended) => resolve({ code: ended, stderr })));
  }

  it.each([
    [`import { app } from 'electron'; app.getGPUInfo();`, 'does not carry out app.getGPUInfo'],
    [`import { app } from 'electron'; try { app.setBadgeCount(1) } catch {}`, 'does not carry out app.setBadgeCount'],
    [`import { app } from 'electron'; app.on('gpu-info-update', () => {});`, 'never emits "gpu-info-update" of app'],
    [`import { autoUpdater } from 'electron';`, `does not provide an export named 'autoUpdater'`],
    [
      `import { app, BrowserWindow } from 'electron'; await app.whenReady(); new BrowserWindow({ kiosk: true });`,
      'does not carry out the option "kiosk" of BrowserWindow',
    ],
    [
      `import { app, BrowserWindow } from 'electron'; app.enableSandbox(); await app.whenReady();
       new BrowserWindow({ webPreferences: { sandbox: false } });`,
      'carries out sandbox: true only, not false',
    ],
    [
      `import { app, BrowserWindow } from 'electron'; app.enableSandbox(); await app.whenReady();
       new BrowserWindow({ fullscreen: false });`,
      'takes full screen from no window',
    ],
    [`import { session } from 'electron'; session.defaultSession;`, 'cannot be used before the app is ready'],
    [
      `import { app, protocol } from 'electron'; await app.whenReady();
       protocol.registerSchemesAsPrivileged([{ scheme: 'app' }]);`,
      'before the app is ready',
    ],
  ])('ends a program that relies on what it does not do: %s', async (code, message) => {
    const ended = await runUsing(code);
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain(message);
  });
});
