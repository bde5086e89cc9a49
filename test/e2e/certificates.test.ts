import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createClock } from '../../main/base/clock.ts';
import { createRoot } from '../../main/ca/root.ts';
import { importInto, makeDatabase } from '../integration/ca/machine.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { createFakeSealer } from '../support/fake-sealer.ts';
import { builtPage } from '../support/page/page-build.ts';
import { enter, toast, openPage } from '../support/page/page-on-engine.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const COMMANDS_TIMEOUT_MS = 180_000;

afterEach(() => vi.unstubAllEnvs());

/** A temporary home with an NSS database unless `database` is false; the machine's own one is never touched. */
async function userWithHome({ database = true } = {}): Promise<string> {
  const home = temporaryFolder();
  vi.stubEnv('HOME', home);
  vi.stubEnv('XDG_DATA_HOME', '');
  if (database) await makeDatabase(join(home, '.pki/nssdb'));
  return join(home, '.pki/nssdb');
}

/** A verified domain that the root may not sign for. */
async function attachOutside(engine: Engine): Promise<void> {
  const { id: projectId } = await engine.project('happy-paws');
  await engine.call('domains.attach', { projectId, hostname: 'shop.acme.com' });
  await engine.call('zones.create', { name: 'acme.com' });
  const record = { zone: 'acme.com', name: 'shop', type: 'CNAME', value: 'cname.vivarium.localhost' };
  await engine.call('records.put', record);
  await engine.call('domains.verify', { hostname: 'shop.acme.com' });
}

async function download(page: Page, item: string): Promise<{ name: string; octets: Buffer }> {
  await page.getByRole('button', { name: 'Export' }).click();
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: item }).click(),
  ]);
  return { name: saved.suggestedFilename(), octets: await readFile(await saved.path()) };
}

describe('the root', () => {
  it('is shown, copied and saved as PEM and DER', async () => {
    await userWithHome({ database: false });
    const { page, engine } = await openPage({ path: '/authority' });
    const { fingerprint, pem, intermediate } = await engine.call('ca.get');
    const root = page.getByRole('region', { name: 'Root' });
    for (const text of [fingerprint, intermediate?.fingerprint ?? '']) await root.getByText(text).waitFor();
    await root.getByText('O=Vivarium, CN=Vivarium root').waitFor();
    for (const suffix of ['localhost', 'test', 'example', 'internal']) {
      await root.getByText(suffix, { exact: true }).waitFor();
    }
    await root.getByText(engine.app.runtime.caFile, { exact: true }).waitFor();
    await page.getByRole('heading', { level: 3, name: 'Chromium and Chrome' }).waitFor();

    expect(await download(page, 'Download PEM')).toEqual({ name: 'vivarium-root.pem', octets: Buffer.from(pem) });
    const der = await download(page, 'Download DER');
    expect([der.name, new X509Certificate(der.octets).fingerprint256]).toEqual(['vivarium-root.der', fingerprint]);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'Copy PEM' }).click();
    await toast(page, 'Copied the root as PEM.').waitFor();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(pem);
  });

  it('is extended after a dialog that explains the consequences, the waiting certificate is issued, and the suffix can be taken back', async () => {
    await userWithHome({ database: false });
    const { page, expectNoFaults } = await openPage({ path: '/authority', prepare: attachOutside });
    await page.getByText('shop.acme.com has no certificate: the root may not sign for it.').waitFor();
    await page.getByRole('button', { name: 'Extend the root for shop.acme.com' }).click();
    const dialog = page.getByRole('dialog', { name: 'Extend the root' });
    await expect.poll(() => dialog.getByLabel('Suffix').inputValue()).toBe('acme.com');
    await dialog.getByText('If the domain belongs to others').waitFor();
    await enter(dialog.getByLabel('Suffix'), 'com');
    await dialog.getByRole('alert').getByText('it is a top-level domain of the real internet').waitFor();
    await expect.poll(() => dialog.getByLabel('Suffix').inputValue()).toBe('com');
    await expectNoFaults();
    await enter(dialog.getByLabel('Suffix'), 'acme.com');
    await toast(page, /The root may sign for acme\.com now/).waitFor();
    await page.getByRole('region', { name: 'Root' }).getByText('acme.com', { exact: true }).waitFor();
    await page.getByText('the root may not sign for it').waitFor({ state: 'detached' });

    const root = page.getByRole('region', { name: 'Root' });
    await expect.poll(() => root.getByRole('button', { name: /^Take / }).count()).toBe(1);
    await root.getByRole('button', { name: 'Take acme.com back' }).click();
    await expectNoFaults();
    await page.getByRole('dialog').getByRole('button', { name: 'Take it back' }).click();
    await toast(page, 'The root no longer signs for acme.com.').waitFor();
    await page.getByText('shop.acme.com has no certificate: the root may not sign for it.').waitFor();
  });
});

it(
  'the root’s private key is sealed with the desktop’s keyring and can be restored, or stays in its file with the reason shown',
  { timeout: COMMANDS_TIMEOUT_MS },
  async () => {
    await userWithHome({ database: false });
    const sealer = createFakeSealer();
    const engine = await startEngine({}, { assetsDir: builtPage(), sealer });
    const { page, expectNoFaults } = await openPage({ engine, path: '/authority' });
    const root = page.getByRole('region', { name: 'Root' });
    await root.getByText(/root-key\.pem, which only its owner can read/).waitFor();
    sealer.locked = true;
    await root.getByRole('button', { name: 'Seal it with the keyring' }).click();
    await root.getByRole('alert').getByText('the keyring is locked').waitFor();
    await expectNoFaults();
    sealer.locked = false;
    await root.getByRole('button', { name: 'Seal it with the keyring' }).click();
    await root.getByText('Headless cannot start on this folder').waitFor();
    // A toast under the pointer stays.
    await page.getByRole('button', { name: 'Undo' }).hover();
    await expect.poll(() => engine.call('ca.get')).toMatchObject({ key: { storage: 'keyring' } });
    await page.getByRole('button', { name: 'Undo' }).click();
    await root.getByText(/root-key\.pem/).waitFor();
    await expect.poll(() => engine.call('ca.get')).toMatchObject({ key: { storage: 'file' } });
  },
);

describe('the Trust section', () => {
  it(
    'can trust and untrust the root, undo that, and say what to restart',
    { timeout: COMMANDS_TIMEOUT_MS },
    async () => {
      await userWithHome();
      const { page, engine } = await openPage({ path: '/authority' });
      const trust = page.getByRole('region', { name: 'Trust' });
      await trust.getByRole('button', { name: 'Trust: Chromium and Chrome', exact: true }).click();
      await trust.getByText('The root is trusted. Restart Chromium if it is running.').waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await toast(page, 'the root is removed again').waitFor();
      await trust.getByRole('button', { name: 'Trust: Chromium and Chrome', exact: true }).click();
      await trust.getByRole('button', { name: 'Untrust: Chromium and Chrome', exact: true }).waitFor();
      await engine.call('ca.extend', { suffix: 'acme.com', confirm: true });
      await trust.getByText('Only an older certificate of the root is trusted').waitFor();
      await trust.getByRole('button', { name: 'Trust: Chromium and Chrome', exact: true }).click();
      await trust.getByRole('button', { name: 'Untrust: Chromium and Chrome', exact: true }).click();
      await trust.getByRole('button', { name: 'Trust: Chromium and Chrome', exact: true }).waitFor();
    },
  );

  it(
    'shows the command for a missing store, and notices a store created elsewhere',
    { timeout: COMMANDS_TIMEOUT_MS },
    async () => {
      const database = await userWithHome({ database: false });
      const { page } = await openPage({ path: '/authority' });
      const trust = page.getByRole('region', { name: 'Trust' });
      await trust.getByText('not there yet').waitFor();
      await trust.getByText('certutil -N').waitFor();
      await expect
        .poll(() => trust.getByRole('button', { name: 'Trust: Chromium and Chrome', exact: true }).count())
        .toBe(0);
      await makeDatabase(database);
      // The user returns from the terminal.
      await page.evaluate(`window.dispatchEvent(new Event('focus'))`);
      await trust.getByRole('button', { name: 'Trust: Chromium and Chrome', exact: true }).waitFor();
    },
  );

  it('shows another Vivarium’s root, and removes it', { timeout: COMMANDS_TIMEOUT_MS }, async () => {
    const database = await userWithHome();
    const other = createRoot({ realNowMs: createClock().state().realNow, owner: 'anna@laptop' });
    await importInto(database, 'Vivarium root 01234567', other.certificatePem);
    const { page, expectNoFaults } = await openPage({ path: '/authority' });
    const trust = page.getByRole('region', { name: 'Trust' });
    const store = trust.getByRole('listitem').filter({ hasText: 'Vivarium root (anna@laptop' });
    await store.getByText('another root', { exact: true }).waitFor();
    await expectNoFaults();
    await trust.getByRole('button', { name: /^Untrust it: Vivarium root \(anna@laptop/ }).click();
    await toast(page, 'the other root was removed').waitFor();
    await store.waitFor({ state: 'detached' });
  });
});

describe('a leaf', () => {
  const path = '/certificates/www.happypaws.test';

  it('is shown with its dates on both clocks and its remaining time on the app’s clock, and can be downloaded', async () => {
    await userWithHome({ database: false });
    const { page, engine, expectNoFaults } = await openPage({ path });
    const get = () => engine.call('certificates.get', { hostname: 'www.happypaws.test' });
    const { serial, fingerprint, pem, chain } = await get();
    for (const text of [
      serial,
      fingerprint,
      'Handshakes send it and the intermediate that signed it, which the root has signed.',
    ]) {
      await page.getByText(text, { exact: true }).waitFor();
    }
    await page.getByRole('link', { name: /^www\.happypaws\.test (89|90) days/ }).waitFor();
    await page.getByText('PEM of the chain').click();
    await page.getByRole('group', { name: 'the certificate as PEM' }).getByText('BEGIN CERTIFICATE').first().waitFor();
    await expectNoFaults();
    expect(await download(page, 'Download PEM')).toEqual({
      name: 'www.happypaws.test.pem',
      octets: Buffer.from([pem, ...chain].join('')),
    });
    const der = await download(page, 'Download DER');
    expect(new X509Certificate(der.octets).serialNumber).toBe(serial);

    await engine.call('clock.advance', { by: 'P70D' });
    await page.getByText('what clients see: around the real time').waitFor();
    await expect.poll(async () => (await get()).serial).not.toBe(serial);
    await page.getByText((await get()).serial, { exact: true }).waitFor();
  });

  it('can be renewed by hand, or shows why not with a link to the domain', async () => {
    await userWithHome({ database: false });
    const { page, engine, expectNoFaults } = await openPage({ path });
    await page.getByRole('button', { name: 'Renew' }).click();
    await toast(page, /^www\.happypaws\.test has a new certificate, until /).waitFor();
    const caa = { zone: 'happypaws.test', name: '@', type: 'CAA', value: '0 issue "other-ca.example"' };
    await engine.call('records.put', caa);
    await page.getByRole('button', { name: 'Renew' }).click();
    await page.getByRole('alert').getByText('authorises other-ca.example only').waitFor();
    await expectNoFaults();
    await page.getByRole('link', { name: 'Fix it at the domain' }).click();
    await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/happy-paws/domains/www.happypaws.test');
  });

  it('that does not exist is explained, so is a domain that is not attached, and others are selected with arrow keys', async () => {
    await userWithHome({ database: false });
    const { page, visit } = await openPage({ path: '/certificates/happypaws.example' });
    await page.getByRole('button', { name: 'Permit it in my local zone' }).waitFor();
    const link = page.getByRole('link', { name: 'In Domains' });
    await expect.poll(() => link.getAttribute('href')).toBe('/projects/happy-paws/domains/happypaws.example');
    await visit('/certificates/gone.test');
    await page.getByText('gone.test is not attached here').waitFor();
    await visit(path);
    await page.getByRole('link', { name: /^www\.happypaws\.test (89|90) days/ }).focus();
    await page.keyboard.press('Home');
    await page.getByRole('heading', { level: 2, name: 'happypaws.example' }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('heading', { level: 2, name: 'www.happypaws.test' }).waitFor();
  });
});

it('the Certificates page says when there are no domains', async () => {
  await userWithHome({ database: false });
  const { page } = await openPage({ empty: true, path: '/certificates' });
  await page.getByText('No custom domains yet').waitFor();
  await page.getByText('Each name has its own certificate').waitFor();
});
