import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { findChromium, folderForSocket } from '../support/chromium.ts';
import type { Engine } from '../support/engine.ts';
import { expectNoFaults, runCommand, useEnginePages } from '../support/page/page-on-engine.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A long scenario in one page, on a busy machine. */
const JOURNEY_MS = 180_000;

const HOSTNAME = 'www.happypaws.test';
const openPage = useEnginePages();

afterEach(() => void vi.unstubAllEnvs());

const region = (page: Page, name: string) => page.getByRole('region', { name });

/** Makes Vivarium find a browser and a display. */
function stubBrowser(program = findChromium()): void {
  vi.stubEnv('VIVARIUM_BROWSER', program);
  vi.stubEnv('TMPDIR', folderForSocket(tmpdir(), onTestFinished));
  // Its sandbox needs user namespaces, which containers and root do not have.
  vi.stubEnv('VIVARIUM_BROWSER_ARGUMENTS', '--headless=new --no-sandbox');
}

/** Whether a browser has received `target` from `authority` over HTTPS. */
async function hasAsked(engine: Engine, authority: string, target: string): Promise<boolean> {
  const { items } = (await engine.call('traffic.list', {})) as { items: Record<string, unknown>[] };
  return items.some(
    (entry) =>
      entry.authority === authority && entry.target === target && entry.scheme === 'https' && entry.status === 200,
  );
}

/** The block that Vivarium writes into a hosts file. */
const blockOf = (hostname: string): string =>
  `# Vivarium begin: ${hostname}\n127.0.0.1 ${hostname}\n::1 ${hostname}\n# Vivarium end: ${hostname}\n`;

describe('the Reach it section', { timeout: JOURNEY_MS }, () => {
  it('opens a domain in a throw-away browser, and shows requests and instructions to copy', async () => {
    stubBrowser();
    const machineRoot = temporaryFolder();
    mkdirSync(join(machineRoot, 'etc'));
    writeFileSync(join(machineRoot, 'etc/hosts'), '127.0.0.1 localhost\n');
    const opened = await openPage({ machineRoot, path: `/projects/happy-paws/domains/${HOSTNAME}` });
    const { page, engine } = opened;
    const reach = region(page, 'Reach it');
    await reach.getByText('--proxy http://127.0.0.1:').waitFor();
    await reach.getByRole('button', { name: 'Open in browser' }).click();
    await page.getByText(`Opened https://${HOSTNAME}/v1/openapi.json`).waitFor();
    await expect
      .poll(() => hasAsked(engine, HOSTNAME, '/v1/openapi.json'), { timeout: JOURNEY_MS / 2, interval: 200 })
      .toBe(true);

    await reach.getByRole('radio', { name: 'Python requests' }).check();
    await reach.getByText('requests.get(').waitFor();
    await reach.getByRole('button', { name: 'Copy Python requests snippet' }).click();
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toContain(`"https://${HOSTNAME}/v1/pets?limit=5"`);

    const port = engine.app.runtime.http.port;
    await reach.getByRole('group', { name: 'Scheme' }).getByText('HTTP', { exact: true }).click();
    await reach.getByText(`http://${HOSTNAME}:${port}/v1`, { exact: true }).waitFor();
    await reach.getByRole('radio', { name: 'dig' }).check();
    await reach.getByText(`dig @127.0.0.1 -p ${engine.app.runtime.dns?.port} ${HOSTNAME}`).waitFor();
    await expect.poll(() => region(page, 'Requests').count()).toBe(0);

    // A machine change is shown, made and undone by keyboard.
    const hosts = join(machineRoot, 'etc/hosts');
    await reach.getByText('System-wide').press('Enter');
    await reach.getByText(`127.0.0.1 ${HOSTNAME}`).waitFor();
    await reach.getByRole('button', { name: `Apply: ${HOSTNAME} in /etc/hosts` }).focus();
    await page.keyboard.press('Enter');
    const undo = reach.getByRole('button', { name: `Undo: ${HOSTNAME} in /etc/hosts` });
    await undo.waitFor();
    expect(readFileSync(hosts, 'utf8')).toBe(`127.0.0.1 localhost\n${blockOf(HOSTNAME)}`);
    await expect.poll(() => undo.and(page.locator(':focus')).count()).toBe(1);
    writeFileSync(hosts, `127.0.0.1 localhost\n${blockOf(HOSTNAME).replace('::1', '::2')}`);
    await page.keyboard.press('Enter');
    await reach.getByText('/etc/hosts was changed between Vivarium').waitFor();
    await reach.getByRole('button', { name: `Undo anyway: ${HOSTNAME} in /etc/hosts` }).click();
    await reach.getByRole('button', { name: `Apply: ${HOSTNAME} in /etc/hosts` }).waitFor();
    expect(readFileSync(hosts, 'utf8')).toBe('127.0.0.1 localhost\n');
    await expectNoFaults(opened);
  });

  it('exists for platform hostnames, works by keyboard, and says what to install if no browser was found', async () => {
    stubBrowser('/nowhere/chromium');
    const opened = await openPage({ path: '/projects/demo/settings' });
    const { page } = opened;
    const reach = region(page, 'Reach it');
    await reach.getByText(/No Chrome, Chromium, Edge, Brave or Firefox was found\. Install one/).waitFor();
    await expect.poll(() => reach.getByRole('button', { name: 'Open in browser' }).isDisabled()).toBe(true);
    await reach.getByText('https://demo.vivarium.localhost/v1/openapi.json').waitFor();
    await reach.getByRole('radio', { name: 'Staging' }).check();
    await reach.getByText('https://demo-staging.vivarium.localhost/v1/openapi.json').waitFor();
    await runCommand(page, 'open demo-staging in browser', /^Open demo-staging/);
    await reach.getByText('No browser was opened.').waitFor();
    await expectNoFaults(opened);
  });
});
