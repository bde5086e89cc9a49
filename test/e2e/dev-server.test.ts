import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createServer } from 'vite';
import { findChromium, folderForSocket } from '../support/chromium.ts';
import { type Engine, startEngine, track } from '../support/engine.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const TIMEOUT_MS = 180_000;
const HOSTNAME = 'app.acme.test';

afterEach(() => void vi.unstubAllEnvs());

/** A page whose headline comes from a module that is replaced while the page is open. */
function writeApp(): { root: string; say: (text: string) => void } {
  const root = temporaryFolder();
  const say = (text: string): void =>
    writeFileSync(join(root, 'message.js'), `export const message = ${JSON.stringify(text)};\n`);
  say('first');
  writeFileSync(
    join(root, 'index.html'),
    '<!doctype html><title>App</title><h1></h1><script type="module" src="/main.js"></script>\n',
  );
  writeFileSync(
    join(root, 'main.js'),
    `import { message } from './message.js';
const show = (text) => (document.querySelector('h1').textContent = text);
show(message);
if (import.meta.hot) import.meta.hot.accept('./message.js', (changed) => show(changed.message));
`,
  );
  return { root, say };
}

/** Vite in its default configuration. */
async function startVite(root: string): Promise<string> {
  const server = await createServer({
    root,
    configFile: false,
    logLevel: 'silent',
    server: { host: '127.0.0.1', port: 0 },
  });
  await server.listen();
  track(() => server.close());
  const address = server.httpServer?.address() as AddressInfo | undefined;
  return `http://127.0.0.1:${address?.port ?? 0}`;
}

/** Publishes `url` at https://app.acme.test, as a user would. */
async function serve(url: string): Promise<Engine> {
  vi.stubEnv('VIVARIUM_BROWSER', findChromium());
  vi.stubEnv('TMPDIR', folderForSocket(tmpdir(), onTestFinished));
  // Its sandbox needs user namespaces, which containers and root do not have.
  vi.stubEnv('VIVARIUM_BROWSER_ARGUMENTS', '--headless=new --no-sandbox --remote-debugging-port=0');
  // The browser's profile is created here; it contains the debugging port.
  const engine = await startEngine({ empty: true });
  const { id: projectId } = await engine.call('projects.create', {
    name: 'App',
    plan: 'pro',
    target: { kind: 'upstream', url },
  });
  const deploy = await engine.call('deploys.create', { projectId });
  expect(deploy).toMatchObject({ status: 'succeeded' });
  await engine.call('zones.create', { name: 'acme.test' });
  await engine.call('records.put', {
    zone: 'acme.test',
    name: 'app',
    type: 'CNAME',
    value: 'cname.vivarium.localhost',
  });
  await engine.call('domains.attach', { projectId, hostname: HOSTNAME });
  const domain = await engine.call('domains.verify', { hostname: HOSTNAME });
  expect(domain).toMatchObject({ serving: { https: true } });
  return engine;
}

/** Opens the hostname with one click, and returns the browser's page. */
async function openWithOneClick(engine: Engine): Promise<Page> {
  const opened = await engine.call('reach.open', { hostname: HOSTNAME, path: '/' });
  expect(opened).toMatchObject({ url: `https://${HOSTNAME}/`, trust: 'root' });
  const port = await vi.waitFor(
    () => {
      const found = readdirSync(tmpdir(), { recursive: true }).find((file) =>
        String(file).endsWith('DevToolsActivePort'),
      );
      if (found === undefined) throw new Error('The browser is not there yet.');
      // The port, and then a path.
      const [written = '', path] = readFileSync(join(tmpdir(), String(found)), 'utf8').split('\n');
      expect(path).toMatch(/^\/devtools\//);
      return written;
    },
    { timeout: 60_000, interval: 100 },
  );
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
  track(() => browser.close());
  return vi.waitFor(
    () => {
      const page = browser
        .contexts()[0]
        ?.pages()
        .find((each) => each.url().includes(HOSTNAME));
      if (page === undefined) throw new Error('The page is not there yet.');
      return page;
    },
    { timeout: 60_000, interval: 100 },
  );
}

test(
  'Vite’s dev server behind https://app.acme.test replaces a module over its WebSocket, without a reload',
  { timeout: TIMEOUT_MS },
  async () => {
    const { root, say } = writeApp();
    const url = await startVite(root);
    const engine = await serve(url);
    const page = await openWithOneClick(engine);
    const headline = page.locator('h1');
    await headline.filter({ hasText: 'first' }).waitFor();
    await expect.poll(() => page.evaluate('[location.href, isSecureContext]')).toEqual([`https://${HOSTNAME}/`, true]);
    await page.evaluate('window.sameDocument = true');
    // Repeated until the page shows it: Vite does not report when it watches, or when its client listens.
    await vi.waitFor(
      async () => {
        say('second');
        await headline.filter({ hasText: 'second' }).waitFor({ timeout: 2_000 });
      },
      { timeout: 60_000, interval: 100 },
    );
    await expect.poll(() => page.evaluate('window.sameDocument')).toBe(true);
    await page.close();
    const statuses = async () => {
      const { items } = await engine.call('traffic.list');
      return items.filter(({ authority }) => authority === HOSTNAME).map(({ status }) => status);
    };
    await expect.poll(statuses).toContain(101);
  },
);
