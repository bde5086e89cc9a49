import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import type { DoctorReport } from '../../main/contract/doctor.ts';
import { checkBackground } from './background.ts';
import { attachTo, type DrivenPage, until } from './page.ts';
import type { Program, StartedApp } from './program.ts';

/**
 * Runs one check under this title; a string that it returns is a note for the report. Resolves to whether it passed.
 */
export type Check = (title: string, run: () => unknown) => Promise<boolean>;

/** A custom domain of the demo project. */
const HOSTNAME = 'www.happypaws.test';

const END_MS_MAX = 30_000;

export function must(condition: boolean, evidence: unknown): asserts condition {
  if (!condition) throw new Error(typeof evidence === 'string' ? evidence : JSON.stringify(evidence));
}

/**
 * All checks, in an order in which each can use what the earlier ones made; only the first if the app does not start.
 * Leaves no app running.
 */
export async function runChecks(program: Program, check: Check): Promise<void> {
  await checkCommandLine(program, check);
  const first = program.start();
  try {
    const serves = await check(
      'the app starts and serves',
      async () => `HTTP at port ${(await first.serves()).http.port}`,
    );
    if (!serves) return;
    await checkWindow(program, check);
    await checkServers(program, check);
    await checkPreview(program, check);
    await checkEnd(program, check, first);
  } finally {
    first.child.kill('SIGKILL');
    await first.endWithin(END_MS_MAX);
  }
  const second = program.start();
  try {
    await checkSecondRun(program, check, second);
  } finally {
    second.child.kill('SIGKILL');
    await second.endWithin(END_MS_MAX);
  }
  await checkBackground(program, check);
  await check('Chromium leaves nothing in Electron’s default folder', () => {
    const folder = defaultFolder();
    must(!existsSync(join(folder, 'Local State')), `${folder} has "Local State"`);
  });
}

/** Where Electron would keep its files: on Windows and macOS, the usual data folder. */
function defaultFolder(): string {
  const { env, platform } = process;
  if (platform === 'win32') return join(env['APPDATA'] ?? '', 'Vivarium');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Vivarium');
  return join(env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'Vivarium');
}

async function checkCommandLine(program: Program, check: Check): Promise<void> {
  await check('the command line prints its version, and nothing else', () => {
    const output = program.cli('--version');
    // On Windows, Electron prints an empty line first.
    const { status, stdout, stderr } = output;
    must(status === 0 && /^(\r?\n)?\d+\.\d+\.\d+\r?\n$/.test(stdout) && stderr === '', output);
    return stdout.trim();
  });
  await check('a command that fails has its exit code, and one JSON error', () => {
    const output = program.cli('call', 'status.get', '--data-dir', join(program.dataDir, 'none'));
    must(output.status === 2 && output.stdout.trim() === '', output);
    must('code' in (JSON.parse(output.stderr) as object), output);
  });
}

/** What only a browser process with a page shows. */
async function checkWindow(program: Program, check: Check): Promise<void> {
  await check('its window is visible', async () => {
    const page = await attachToWindow(program);
    await until('a heading', () => page.run(`document.querySelector('h1')?.textContent.trim() || null`));
    // On Wayland, a hidden window is never drawn, and `ready-to-show` is not emitted.
    await until('visible', async () => ((await page.run('document.visibilityState')) === 'visible' ? true : null));
    page.close();
  });
  await check('the page is isolated, has its fonts, storage and no errors', async () => {
    const page = await attachToWindow(program);
    await page.send('Log.enable');
    const found = (await page.run(`document.fonts.ready.then(() => ({
      secure: isSecureContext, origin, marker: 'vivariumDesktop' in window, node: typeof process + typeof require,
      fonts: [...document.fonts].filter(({ status }) => status === 'loaded').length,
      storage: (localStorage.setItem('smoke', '1'), localStorage.getItem('smoke')),
    }))`)) as { secure: boolean; origin: string; marker: boolean; node: string; fonts: number; storage: string };
    const { secure, origin, marker, node, fonts, storage } = found;
    must(secure && origin === program.subject.pageOrigin && marker && node === 'undefinedundefined', found);
    must(fonts > 0 && storage === '1', found);
    must(page.errors.length === 0, page.errors);
    page.close();
    return `${fonts} fonts`;
  });
  await check('the page can write to the clipboard, and reach no network', async () => {
    const page = await attachToWindow(program);
    await page.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    await page.run(`navigator.clipboard.writeText('Vivarium')`);
    must((await reaches(page, 'https://example.org/')) === false, 'it reaches https://example.org/');
    page.close();
  });
  await check('the page follows the engine over its port, after a reload as well', async () => {
    const page = await attachToWindow(program);
    await page.send('Page.reload');
    for (const name of ['Smoke test', 'Smoke test, continued']) {
      await renameProject(program, name);
      await until(`"${name}"`, async () => (await page.run(hasText(name))) || null);
    }
    page.close();
  });
}

const attachToWindow = (program: Program): Promise<DrivenPage> =>
  attachTo(() => program.debuggerPort(), program.subject.pageOrigin);

const hasText = (text: string): string => `document.body.textContent.includes(${JSON.stringify(text)})`;

const reaches = (page: DrivenPage, url: string): Promise<unknown> =>
  page.run(`fetch(${JSON.stringify(url)}, { mode: 'no-cors' }).then(() => true, () => false)`);

async function renameProject(program: Program, name: string): Promise<void> {
  const [project] = (await program.call('projects.list')) as { id: string }[];
  await program.call('projects.update', { projectId: project?.id, name });
}

/** Electron’s Node: BoringSSL in place of OpenSSL, and Chromium’s event loop. */
async function checkServers(program: Program, check: Check): Promise<void> {
  await check('HTTP: the API answers with pets and its limits', async () => {
    const { http } = program.serving();
    const { secret } = JSON.parse(readFileSync(join(program.dataDir, 'demo-key.json'), 'utf8')) as { secret: string };
    const headers = { host: `demo.vivarium.localhost:${http.port}`, authorization: `Bearer ${secret}` };
    const asked = get({ port: http.port, host: '127.0.0.1', path: '/v1/pets', headers });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const body = await text(response);
    must(response.headers['x-ratelimit-limit'] !== undefined, `no X-RateLimit-Limit: ${body}`);
    return `${(JSON.parse(body) as unknown[]).length} pets`;
  });
  await check('HTTPS: certificates of this root, HTTP/2', async () => {
    const { https, caFile } = program.serving();
    const ca = readFileSync(caFile);
    for (const servername of ['vivarium.localhost', 'demo.vivarium.localhost', HOSTNAME]) {
      const protocol = await new Promise<unknown>((resolve, reject) => {
        const options = { port: https.port, host: '127.0.0.1', servername, ca, ALPNProtocols: ['h2'] };
        const socket = connect(options, () => {
          resolve(socket.alpnProtocol);
          socket.end();
        });
        socket.once('error', ({ message }) => reject(new Error(`${servername}: ${message}`)));
      });
      must(protocol === 'h2', `${servername}: ${String(protocol)}`);
    }
  });
  await check('DNS: the local server answers', async () => {
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${program.serving().dns.port}`]);
    return (await resolver.resolveCname(HOSTNAME)).join(', ');
  });
  await check('doctor finds nothing wrong, and the sandbox on', () => {
    const output = program.cli('doctor', '--json', '--data-dir', program.dataDir);
    const { checks } = JSON.parse(output.stdout) as DoctorReport;
    const failed = checks.filter(({ status }) => status === 'failed');
    must(failed.length === 0, failed.map(({ title, evidence }) => `${title}: ${evidence.join(' ')}`).join(' | '));
    const desktop = checks.filter(({ area }) => area === 'desktop');
    must(desktop.length > 0, 'nothing about the desktop');
    return desktop.map(({ title, evidence }) => `${title}: ${evidence.join(' ')}`).join(' ');
  });
}

async function checkPreview(program: Program, check: Check): Promise<void> {
  await check('a preview shows a hostname over HTTPS, and reaches nothing else', async () => {
    await program.call('reach.preview', { hostname: HOSTNAME });
    const page = await attachTo(() => program.debuggerPort(), `https://${HOSTNAME}`);
    await until('the page of the API', async () => (await page.run(hasText('Animal Store API'))) || null);
    must((await reaches(page, 'https://example.org/')) === false, 'it reaches https://example.org/');
    // Like a form with unsaved changes; takes effect once a user has clicked.
    await page.run(`addEventListener('beforeunload', (event) => event.preventDefault())`);
    const click = { x: 50, y: 50, button: 'left', clickCount: 1 };
    for (const type of ['mousePressed', 'mouseReleased'])
      await page.send('Input.dispatchMouseEvent', { type, ...click });
    page.close();
  });
}

async function checkEnd(program: Program, check: Check, app: StartedApp): Promise<void> {
  await check('a second start shows the first, and ends', async () => {
    const again = program.start();
    const end = await again.endWithin(END_MS_MAX);
    if (end === null) again.child.kill('SIGKILL');
    must(end?.code === 0, end ?? 'it does not end');
  });
  await check('it ends with 0 when it is asked to, even if a preview wants to stay', async () => {
    if (process.platform === 'win32') stop(program);
    else app.child.kill('SIGTERM');
    await endsWell(program, app);
  });
}

async function checkSecondRun(program: Program, check: Check, app: StartedApp): Promise<void> {
  await check('another run has the data of the first', async () => {
    await app.serves();
    const page = await attachToWindow(program);
    await until('the project', async () => (await page.run(hasText('Smoke test, continued'))) || null);
    page.close();
  });
  await check('"vivarium stop" stops the app', async () => {
    stop(program);
    await endsWell(program, app);
  });
}

export function stop(program: Program): void {
  const output = program.cli('stop', '--data-dir', program.dataDir);
  must(output.status === 0, output);
}

async function endsWell(program: Program, app: StartedApp): Promise<void> {
  const end = await app.endWithin(END_MS_MAX);
  must(end !== null, `it is still there after ${END_MS_MAX / 1_000} s`);
  must(end.code === 0, end);
  must(program.runtime() === null, 'runtime.json is still there');
}
