import { describe, expect, it } from 'vitest';
import type { Engine } from '../support/engine.ts';
import { enter, field, region, openPage, waitForFocus } from '../support/page/page-on-engine.ts';

const inForce = (engine: Engine) => engine.call('settings.get');

describe('a group of settings', () => {
  it('can be saved by keyboard alone, applies at once, and can be undone', async () => {
    const { page, engine } = await openPage({ path: '/projects/demo/keys-and-limits' });
    await field(page, 'Refusals that ban a key').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0);
    await field(page, 'Refusals that ban a key').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await page.getByText('Bans: saved.').waitFor();
    // A toast under the pointer stays.
    await page.getByRole('button', { name: 'Undo' }).hover();
    await expect.poll(() => inForce(engine)).toMatchObject({ banAfter: 2, banDuration: 'PT10M' });
    for (let request = 0; request < 62; request++) await engine.api();
    expect((await engine.api()).text).toContain('api_key_banned');

    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Bans: as before.').waitFor();
    await expect.poll(() => field(page, 'Refusals that ban a key').inputValue()).toBe('20');
    await expect.poll(async () => (await inForce(engine)).banAfter).toBe(20);
  });

  it('shows the engine’s messages at their fields and keeps the input', async () => {
    const { page, engine, visit, expectNoFaults } = await openPage({ path: '/projects/demo/keys-and-limits' });
    await field(page, 'Refusals that ban a key').fill('many');
    await field(page, 'Length of a ban').fill('');
    await region(page, 'Bans').getByRole('button', { name: 'Save' }).click();
    await region(page, 'Bans').getByText('must be a number').waitFor();
    await region(page, 'Bans').getByText('must be a duration such as').waitFor();
    await expect.poll(() => field(page, 'Refusals that ban a key').inputValue()).toBe('many');

    await page.getByRole('group', { name: 'Pages that may read' }).getByLabel('These origins').check();
    await field(page, 'Origins').fill('http://localhost:5173\n<b>somewhere</b>');
    await region(page, 'CORS').getByRole('button', { name: 'Save' }).click();
    await region(page, 'CORS').getByText('Entry 2 must be an origin such as').waitFor();
    await expectNoFaults();
    await expect.poll(() => inForce(engine)).toMatchObject({ banAfter: 20, resolver: 'local', cors: '*' });

    await region(page, 'CORS').getByRole('button', { name: 'Discard' }).click();
    await expect
      .poll(() => page.getByRole('group', { name: 'Pages that may read' }).getByLabel('Any page').isChecked())
      .toBe(true);

    await visit('/dns');
    await page.getByRole('group', { name: 'Resolver' }).getByLabel('Another server').check();
    await enter(field(page, 'Address and port'), 'dns.example.com');
    await region(page, 'Propagation and resolver').getByText('must be “local”, or an address and a port').waitFor();
  });

  it('shows changes made elsewhere', async () => {
    const { page, engine } = await openPage({ path: '/authority' });
    await page.getByRole('group', { name: 'Issuance delay' }).waitFor();
    await engine.call('settings.update', { issuanceDelay: 'PT90M', caaIdentity: { domain: 'letsencrypt.org' } });
    await expect.poll(() => field(page, 'Delay').inputValue()).toBe('90');
    await expect.poll(() => page.getByRole('combobox', { name: 'Delay: unit' }).inputValue()).toBe('M');
    await expect.poll(() => field(page, 'CA’s domain').inputValue()).toBe('letsencrypt.org');
    // Beside what is typed, another value is reported, and can be taken.
    await field(page, 'CA’s domain').fill('mine.test');
    await engine.call('settings.update', { caaIdentity: { domain: 'theirs.test' } });
    await region(page, 'Issuance').getByText('Changed elsewhere to “theirs.test”.').waitFor();
    await region(page, 'Issuance').getByRole('button', { name: 'Take it' }).click();
    await expect.poll(() => field(page, 'CA’s domain').inputValue()).toBe('theirs.test');
    await page.getByRole('button', { name: 'About CA’s domain' }).click();
    await page.getByRole('dialog').getByText('use the identity of the CA').waitFor();
    await page.keyboard.press('Escape');
    await region(page, 'Issuance').getByRole('button', { name: 'Fill in the defaults' }).click();
    await region(page, 'Issuance').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Issuance: saved.').waitFor();
    await expect.poll(async () => (await inForce(engine)).caaIdentity.domain).toBe('vivarium.localhost');
  });
});

it('propagation has usual values, and any other one of up to 48 hours', async () => {
  const { page, engine } = await openPage({ path: '/settings?field=Propagation' });
  const panel = region(page, 'Propagation and resolver');
  await panel.getByLabel('1 hour').check();
  await panel.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Propagation and resolver: saved.').waitFor();
  await expect.poll(() => inForce(engine)).toMatchObject({ propagation: 'PT1H' });
  await panel.getByLabel('Custom').check();
  await enter(field(page, 'Delay'), '49');
  await panel.getByText('must be 48 hours').waitFor();
});

it('preferences of the interface apply at once and are stored in the browser', async () => {
  const { page } = await openPage({ path: '/settings' });
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const before = await ground();
  await page.getByRole('group', { name: 'Colours' }).getByLabel('Dark').check();
  await expect.poll(() => ground()).not.toBe(before);
  const off = page.getByRole('group', { name: 'Single-key shortcuts' }).getByLabel('Off');
  await off.check();
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('?');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await page.reload();
  await off.waitFor();
  await expect.poll(async () => [await off.isChecked(), (await ground()) === before]).toEqual([true, false]);
});

it('the Settings page shows the data folder, the version, the licences and what a vivarium.yaml owns, and saves such a file', async () => {
  const { page, engine, visit, expectNoFaults } = await openPage({ path: '/settings' });
  await region(page, 'Listeners').getByText(engine.app.runtime.control.url, { exact: true }).waitFor();
  await region(page, 'Data folder').getByText(engine.dataDir, { exact: true }).waitFor();
  await region(page, 'About').getByText('0.1.0').waitFor();
  await region(page, 'About').getByRole('button', { name: 'Show the licences' }).click();
  const dialog = page.getByRole('dialog', { name: 'Licences' });
  await dialog.getByText('## svelte - ').waitFor();
  await expectNoFaults();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  // What a vivarium.yaml owns is listed, and marked on its pages.
  const panel = region(page, 'vivarium.yaml');
  await panel.getByText('No file owns anything here.').waitFor();
  const text = 'vivarium: 1\nprojects: { acme: { plan: pro, domains: { acme.test: } } }\nzones: { acme.test: "" }\n';
  await engine.call('world.apply', { text, file: '/repository/vivarium.yaml' });
  await panel.getByText('/repository/vivarium.yaml').waitFor();
  await expect
    .poll(() => panel.locator('dl').innerText())
    .toMatch(/^File\n[^]*\nProjects\nacme\nDomains\nacme\.test\nZones\nacme\.test$/);
  const downloading = page.waitForEvent('download');
  await panel.getByRole('button', { name: 'Save as file', disabled: false }).press('Enter');
  expect((await downloading).suggestedFilename()).toBe('vivarium.yaml');
  for (const path of ['/dns/acme.test', '/projects/acme/domains/acme.test', '/projects/acme/settings']) {
    await visit(path);
    await page.getByRole('link', { name: 'vivarium.yaml' }).first().waitFor();
  }
});

it('the search finds settings of every page, and a link of an earlier version leads to the page of today', async () => {
  const { page, open, expectNoFaults } = await openPage({ path: '/settings' });
  await page.getByRole('searchbox', { name: 'Search settings' }).fill('caa');
  await page.getByRole('link', { name: 'Issuance' }).waitFor();
  await region(page, 'Interface').waitFor({ state: 'detached' });
  await page.keyboard.press('ArrowDown');
  await waitForFocus(page.getByRole('link', { name: 'Propagation and resolver' }));
  await page.getByRole('searchbox', { name: 'Search settings' }).fill('no such thing');
  await page.getByText('No setting matches').waitFor();
  await expectNoFaults();
  await open('/settings?field=Issuance delay');
  await page.getByRole('heading', { level: 2, name: 'Root', exact: true }).waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/authority');
});
