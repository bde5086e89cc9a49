import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Engine } from '../support/engine.ts';
import { pressAll, region, runCommand, openPage } from '../support/page/page-on-engine.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Hides the machine's own trust stores from the doctor.
beforeEach(() => {
  vi.stubEnv('HOME', temporaryFolder());
  vi.stubEnv('XDG_DATA_HOME', '');
});
afterEach(() => vi.unstubAllEnvs());

const keyOf = (engine: Engine): string => join(engine.dataDir, 'ca/root-key.pem');
const quiet = (page: Page) => page.getByRole('group', { name: 'In order' });
const item = (page: Page, list: string, title: string) =>
  (list === 'In order' ? quiet(page) : region(page, list))
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { level: 3, name: title, exact: true }) });

describe('the doctor', () => {
  it('runs all checks when it opens, and lists those that pass', async () => {
    const { page, engine, expectNoFaults } = await openPage({ path: '/doctor' });
    await region(page, 'Verdict')
      .getByText(/^(One thing needs|\d+ things need) attention$/)
      .waitFor();
    // What is in order takes one line, until it is opened.
    await expect.poll(async () => (await quiet(page).boundingBox())?.height ?? 0).toBeLessThan(50);
    await quiet(page).getByText('In order').click();
    const { http } = engine.app.runtime;
    await item(page, 'In order', 'HTTP').getByText(`127.0.0.1:${http.port} answers.`).waitFor();
    await item(page, 'In order', 'www.happypaws.test').getByText('signed by our root for this name').waitFor();
    await expect.poll(() => region(page, 'Failed').count()).toBe(0);
    await expectNoFaults();
  });

  it('shows failed checks first, with evidence and a fix, until they pass', async () => {
    const { page, engine, expectNoFaults } = await openPage({
      path: '/doctor',
      prepare: async (engine) => chmodSync(keyOf(engine), 0o644),
    });
    // On a busy machine, a check that runs out of time may be another.
    const verdict = /^(One check|\d checks) failed$/;
    await region(page, 'Verdict').getByText(verdict).waitFor();
    const headings = page.getByRole('main').getByRole('heading', { level: 2 });
    await expect
      .poll(() => headings.allTextContents())
      .toEqual([expect.stringMatching(verdict), 'Failed', 'Needs attention']);
    const failed = item(page, 'Failed', 'Root private key');
    await failed.getByText('has mode 0644; it should have 0600').waitFor();
    await failed.getByText('Restrict it to its owner.').waitFor();
    await expectNoFaults();

    await failed.getByText('In a terminal').click();
    const command = `chmod 600 ${keyOf(engine)}`;
    await failed.getByRole('button', { name: `Copy the command ${command}` }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(command);
    chmodSync(keyOf(engine), 0o600);
    await page.getByRole('button', { name: 'Run again' }).click();
    await region(page, 'Failed').waitFor({ state: 'detached' });
    await quiet(page).getByText('In order').click();
    await item(page, 'In order', 'Root private key').waitFor();
  });

  it('notices a moved clock automatically, and says how to reset it', async () => {
    const { page, engine } = await openPage({ path: '/doctor' });
    await quiet(page).getByText('In order').click();
    await item(page, 'In order', 'The simulated clock').waitFor();
    await engine.call('clock.advance', { by: 'P3D' });
    const clock = item(page, 'Needs attention', 'The simulated clock');
    await clock.getByRole('heading').click();
    await clock.getByText('3 days ahead of the real time').waitFor();
    await clock.getByText(/clock reset --data-dir/).waitFor();
    await engine.call('clock.reset');
    await item(page, 'In order', 'The simulated clock').waitFor();
  });

  it('links to a domain with a problem', async () => {
    const { page } = await openPage({ path: '/doctor' });
    await item(page, 'Needs attention', 'shop.happypaws.test')
      .getByRole('link', { name: 'Mend it at the domain' })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/happy-paws/domains/shop.happypaws.test');
  });

  it('can be opened by keyboard, and run from the palette', async () => {
    const { page } = await openPage({ empty: true, path: '/settings' });
    await region(page, 'Interface').waitFor();
    await pressAll(page, 'g', 'm');
    await page.getByRole('heading', { level: 1, name: 'This machine' }).waitFor();
    await quiet(page).getByText('In order').waitFor();
    await runCommand(page, 'run the doctor', /^Run the doctor/);
    await region(page, 'Verdict').getByText('in order').waitFor();
  });
});

it('the changes of this machine are listed for all hostnames, and undone there', async () => {
  const machineRoot = temporaryFolder();
  mkdirSync(join(machineRoot, 'etc'));
  writeFileSync(join(machineRoot, 'etc/hosts'), '127.0.0.1 localhost\n');
  const { page, expectNoFaults } = await openPage({ machineRoot, path: '/changes' });
  await page.getByText('Vivarium has changed nothing on this machine.').waitFor();
  await page.getByText(/ uninstall --dry-run$/).waitFor();
  const hosts = region(page, 'What it can change').getByRole('button', { name: /^Apply: .* in \/etc\/hosts$/ });
  await hosts.press('Enter');
  await page.getByText('undoes all of it, also without Vivarium').waitFor();
  await hosts.waitFor({ state: 'detached' });
  await expect.poll(() => page.locator('main :focus').count()).toBe(1);
  await expectNoFaults();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save this list' }).click();
  await downloading;
  await page.getByRole('button', { name: /^Undo/ }).last().click();
  await page.getByText('Vivarium has changed nothing on this machine.').waitFor();
  expect(readFileSync(join(machineRoot, 'etc/hosts'), 'utf8')).toBe('127.0.0.1 localhost\n');
});
