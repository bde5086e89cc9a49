import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { findChromium, folderForSocket } from '../support/chromium.ts';
import type { Engine } from '../support/engine.ts';
import { seen, openPage } from '../support/page/page-on-engine.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A long scenario in one page, on a busy machine. */
const JOURNEY_MS = 180_000;

const HOSTNAME = 'www.happypaws.test';
afterEach(() => void vi.unstubAllEnvs());

/** Makes Vivarium find a browser and a display. */
function stubBrowser(program = findChromium()): void {
  vi.stubEnv('VIVARIUM_BROWSER', program);
  vi.stubEnv('TMPDIR', folderForSocket(tmpdir(), onTestFinished));
  // Its sandbox needs user namespaces, which containers and root do not have.
  vi.stubEnv('VIVARIUM_BROWSER_ARGUMENTS', '--headless=new --no-sandbox');
}

/** Whether a browser has received `target` from `authority` over HTTPS. */
async function hasAsked(engine: Engine, authority: string, target: string): Promise<boolean> {
  const { items } = await engine.call('traffic.list', {});
  return items.some(
    (entry) =>
      entry.authority === authority && entry.target === target && entry.scheme === 'https' && entry.status === 200,
  );
}

/** The block that Vivarium writes into a hosts file. */
const blockOf = (hostname: string): string =>
  `# Vivarium begin: ${hostname}\n127.0.0.1 ${hostname}\n::1 ${hostname}\n# Vivarium end: ${hostname}\n`;

const dialog = (page: Page) => page.getByRole('dialog');

/** Opens *Connect* from the address of the page, and one of its ways. */
async function connect(page: Page, way: string): Promise<void> {
  if ((await dialog(page).count()) === 0)
    await page
      .getByRole('button', { name: /^Connect/ })
      .first()
      .click();
  await dialog(page).getByRole('radio', { name: way }).check();
}

describe('an address', { timeout: JOURNEY_MS }, () => {
  it('opens in a throw-away browser; Connect has the requests and the changes of the system', async () => {
    stubBrowser();
    const machineRoot = temporaryFolder();
    mkdirSync(join(machineRoot, 'etc'));
    writeFileSync(join(machineRoot, 'etc/hosts'), '127.0.0.1 localhost\n');
    const { page, engine } = await openPage({
      machineRoot,
      path: `/projects/happy-paws/domains/${HOSTNAME}`,
    });
    await page.getByRole('link', { name: `https://${HOSTNAME}:` }).click();
    await page.getByText(`Opened https://${HOSTNAME}/v1/openapi.json`).waitFor();
    await expect
      .poll(() => hasAsked(engine, HOSTNAME, '/v1/openapi.json'), { timeout: JOURNEY_MS / 2, interval: 200 })
      .toBe(true);

    await connect(page, 'From one program');
    await dialog(page).getByText('--proxy http://127.0.0.1:').waitFor();
    await dialog(page).getByRole('button', { name: 'Copy curl snippet', exact: true }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(/Bearer viv_\w{32}"/);
    await dialog(page).getByLabel('Language or program').selectOption('Python requests');
    await dialog(page).getByText('requests.get(').waitFor();
    await dialog(page).getByRole('button', { name: 'Copy Python requests snippet' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(/Bearer viv_\w{32}"/);
    const port = engine.app.runtime.http.port;
    await dialog(page).getByRole('group', { name: 'Scheme' }).getByText('HTTP', { exact: true }).click();
    await dialog(page).getByLabel('Language or program').selectOption('dig');
    await dialog(page).getByText(`dig @127.0.0.1 -p ${engine.app.runtime.dns?.port} ${HOSTNAME}`).waitFor();
    await connect(page, 'From your own browser');
    await dialog(page).getByText(`http://${HOSTNAME}:${port}/v1/openapi.json`).waitFor();

    // A machine change is shown, made and undone by keyboard.
    const hosts = join(machineRoot, 'etc/hosts');
    await connect(page, 'From the whole system');
    await dialog(page).getByText(`127.0.0.1 ${HOSTNAME}`).waitFor();
    await dialog(page)
      .getByRole('button', { name: `Apply: ${HOSTNAME} in /etc/hosts` })
      .focus();
    await page.keyboard.press('Enter');
    const undo = dialog(page).getByRole('button', { name: `Undo: ${HOSTNAME} in /etc/hosts` });
    await undo.waitFor();
    expect(readFileSync(hosts, 'utf8')).toBe(`127.0.0.1 localhost\n${blockOf(HOSTNAME)}`);
    await expect.poll(() => undo.and(page.locator(':focus')).count()).toBe(1);
    writeFileSync(hosts, `127.0.0.1 localhost\n${blockOf(HOSTNAME).replace('::1', '::2')}`);
    await page.keyboard.press('Enter');
    await dialog(page).getByText('/etc/hosts was changed between Vivarium').waitFor();
    await dialog(page)
      .getByRole('button', { name: `Undo anyway: ${HOSTNAME} in /etc/hosts` })
      .click();
    await dialog(page)
      .getByRole('button', { name: `Apply: ${HOSTNAME} in /etc/hosts` })
      .waitFor();
    expect(readFileSync(hosts, 'utf8')).toBe('127.0.0.1 localhost\n');

    await connect(page, 'From another device');
    await dialog(page).getByRole('link', { name: 'Let other devices in' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/other-devices');
    await expect.poll(() => dialog(page).count()).toBe(0);
  });

  it('of the platform is reached in both environments; without a browser the dialog says what to install', async () => {
    stubBrowser('/nowhere/chromium');
    const { page, engine, expectNoFaults } = await openPage({ path: '/projects/demo' });
    await connect(page, 'In a temporary browser');
    await seen(dialog(page), /No Chrome, Chromium, Edge, Brave or Firefox was found\. Install one/);
    await expect.poll(() => dialog(page).getByRole('button', { name: 'Open in' }).count()).toBe(0);
    await page.setViewportSize({ width: 420, height: 800 });
    await dialog(page)
      .getByRole('link', { name: `http://demo.vivarium.localhost:${engine.app.runtime.http.port}/v1/openapi.json` })
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: '3 more addresses' }).click();
    await page.getByRole('button', { name: 'Connect to demo-staging.vivarium.localhost' }).first().click();
    await page.getByRole('dialog', { name: 'Connect to demo-staging.vivarium.localhost' }).waitFor();
    await dialog(page).getByLabel('How').selectOption('From your own browser');
    await dialog(page).getByText('https://demo-staging.vivarium.localhost/v1/openapi.json').waitFor();
    await dialog(page).getByLabel('How').selectOption('From another device');
    await dialog(page).getByText('mean the device itself').waitFor();
    await expectNoFaults();
  });
});
