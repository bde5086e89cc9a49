import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { makeDatabase } from '../integration/ca/machine.ts';
import { launchChromium } from '../support/chromium.ts';
import { track } from '../support/engine.ts';
import { FREE_PORTS } from '../support/program.ts';
import { copyBy, region } from '../support/page/page-on-engine.ts';
import { paste } from '../support/documents/paste.ts';
import { commandsOf, README } from '../support/documents/pasted-documents.ts';
import { requireTool } from '../support/tools.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Starting by npm, two browsers, and curl twice, on a busy machine. */
const WALK_TIMEOUT_MS = 180_000;

const WINDOW = 'docs/reference/window.md';
const steps = readSteps('A first walk');

/** The numbered steps under a heading of the page about the window, each as one line. */
function readSteps(heading: string): string[] {
  const page = readFileSync(join(ROOT, WINDOW), 'utf8');
  const section = new RegExp(`^## ${heading}$\n([^]*?)^## `, 'm').exec(page)?.[1] ?? '';
  const found = [...section.matchAll(/^\d+\. ([^]*?)\n(?=\d+\. |\n)/gm)];
  if (found.length === 0) throw new Error(`${WINDOW} has no numbered steps under "${heading}".`);
  return found.map(([, step = '']) => step.replaceAll(/\s+/g, ' '));
}

/** Restricts the test to words on that page: a newcomer knows nothing else. */
function readAt(step: number, words: string): string {
  expect(steps[step - 1], `step ${step} of ${WINDOW}`).toContain(`*${words}*`);
  return words;
}

const hostname = /`(shop\.[\w.]+)`/.exec(steps[1] ?? '')?.[1] ?? '';
const zone = hostname.replace(/^shop\./, '');

interface Started {
  /** The link in the line *Interface*. */
  link: string;
  key: string;
  httpsPort: number;
}

/** Runs `npm start` as in the README, in a temporary home. */
async function startByNpm(home: string): Promise<Started> {
  expect(commandsOf(README)).toContain('npm start');
  const { XDG_DATA_HOME: _data, VIVARIUM_DATA_DIR: _folder, ...env } = process.env;
  const child = spawn('npm', ['start', '--', '--headless', ...FREE_PORTS], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, HOME: home, NO_COLOR: '1', npm_config_update_notifier: 'false' },
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  track(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('Stop with Ctrl-C')) resolve();
    });
    void ended.then(() => reject(new Error(`npm start ended: ${printed}`)));
  });
  return {
    link: /Interface +(http\S+)/.exec(printed)?.[1] ?? '',
    key: /API key +(viv_\w+)/.exec(printed)?.[1] ?? '',
    httpsPort: Number(/HTTPS (\d+)/.exec(printed)?.[1]),
  };
}

/** The newcomer's browser: it uses the trust store of their home, and resolves `.test` to this machine. */
async function openBrowser(home: string): Promise<{ browser: Browser; page: Page }> {
  const rules = /`--host-resolver-rules="([^"]+)"`/.exec(steps[4] ?? '')?.[1];
  const browser = await launchChromium({ home, args: [`--host-resolver-rules=${rules}`] });
  track(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return { browser, page: await context.newPage() };
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Follows an entry of the rail; its page's heading has no remark in brackets. */
async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: name.replace(/ \(.*/, '') }).waitFor();
}

/** Pastes the text of the page's copy button into a terminal, and returns the output. */
async function pasteCopied(page: Page, key: string, what = 'request'): Promise<string> {
  const command = await copyBy(button(page, `Copy ${what}`));
  const [said] = await paste([`${command} -sS`], { VIVARIUM_KEY: key });
  expect(said?.exitCode, said?.text).toBe(0);
  return said?.text ?? '';
}

describe('a newcomer who follows the page about the window', { timeout: WALK_TIMEOUT_MS }, () => {
  it('starts Vivarium, adds a pet, gets it from the API, attaches a domain that fails, fixes it, and opens it over HTTPS', async () => {
    ['curl', 'certutil'].forEach(requireTool);
    const home = temporaryFolder();
    await makeDatabase(join(home, '.pki', 'nssdb'));
    const { link, key, httpsPort } = await startByNpm(home);
    const address = `https://${hostname}:${httpsPort}/v1/pets?limit=100`;

    const { browser, page } = await openBrowser(home);
    await page.goto(link);
    await page.getByText('live', { exact: true }).waitFor();

    await goTo(page, readAt(1, 'Pets (sample data)'));
    await button(page, readAt(1, 'Add a pet')).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Rex the Newcomer');
    await page.keyboard.press('Enter');
    await page.getByRole('grid').getByText('Rex the Newcomer').waitFor();
    await button(page, readAt(1, 'As curl')).click();
    expect(await pasteCopied(page, key)).toContain(
      '{"id":31,"name":"Rex the Newcomer","categoryId":1,"status":"available"}',
    );
    await page.keyboard.press('Escape');

    await goTo(page, readAt(2, 'Domains'));
    await button(page, readAt(2, 'Attach a domain')).first().click();
    await page.getByLabel('Hostname').fill(hostname);
    await button(page, readAt(2, 'Change to Pro and attach')).click();

    await button(page, readAt(3, 'Verify')).click();
    const state = region(page, 'Current state');
    await state.getByText(readAt(3, 'No record yet')).waitFor();
    await state.getByText('no_record').waitFor();
    await state.getByText('Expected').waitFor();
    await state.getByText(`Creates the zone ${zone}`).waitFor();

    await button(page, readAt(4, 'Put it in my local zone')).click();
    await page.getByText(`shop CNAME cname.vivarium.localhost is in the zone ${zone}.`).waitFor();
    await button(page, readAt(4, 'Verify')).click();
    await page.locator(`a[data-hostname="${hostname}"]`).getByText('certificate issued').waitFor();

    await button(page, readAt(5, 'Connect') + '…').click();
    await page.getByText(readAt(5, 'From one program'), { exact: true }).first().click();
    expect(await pasteCopied(page, key, 'curl snippet')).toContain('"name":"Biscuit the Border Collie"');
    await page.keyboard.press('Escape');

    const stranger = await browser.newPage();
    await expect(stranger.goto(address)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
    await goTo(page, readAt(5, 'Certificates'));
    await page.getByRole('link', { name: readAt(5, 'Authority'), exact: true }).click();
    await button(page, `${readAt(5, 'Trust')}: Chromium and Chrome`).click();
    await page.getByText('The root is trusted. Restart Chromium if it is running.').waitFor();
    await browser.close();
    const { page: restarted } = await openBrowser(home);
    await restarted.setExtraHTTPHeaders({ Authorization: `Bearer ${key}` });
    const response = await restarted.goto(address);
    const issuer = (await response?.securityDetails())?.issuer;
    expect([response?.status(), issuer]).toEqual([200, expect.stringMatching(/^Vivarium intermediate /)]);
    const listed: unknown = await response?.json();
    expect(listed).toContainEqual(expect.objectContaining({ name: 'Rex the Newcomer' }));
  });
});
