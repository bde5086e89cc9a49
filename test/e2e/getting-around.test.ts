import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { holdCalls, pressAll, runCommand, openPage, waitForFocus } from '../support/page/page-on-engine.ts';

describe('the interface', () => {
  it('runs commands by name from the palette, which closes with Escape', async () => {
    const { page, expectNoFaults } = await openPage();
    await page.keyboard.press('Control+k');
    await waitForFocus(page.getByRole('combobox', { name: 'Command' }));
    await page.keyboard.type('shortcuts');
    await expectNoFaults();
    await page.getByRole('option', { name: /shortcuts/i, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
    await expectNoFaults();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
  });

  it('finds settings, keys and the actions of other pages in the palette', async () => {
    const { page, engine } = await openPage();
    const focused = () =>
      page.evaluate<string>('document.activeElement.id && document.activeElement.labels?.[0]?.innerText');
    await runCommand(page, 'length ban', /Length of a ban/);
    await expect.poll(focused).toBe('Length of a ban');
    await runCommand(page, 'add pet', /^Add a pet/);
    await page.getByRole('dialog', { name: 'Add a pet' }).waitFor();
    await page.keyboard.press('Escape');
    const { id: projectId, slug } = await engine.demo();
    const { id } = await engine.call('keys.create', { projectId, name: 'Rarely used' });
    await runCommand(page, 'rarely', /Rarely used/);
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/projects/${slug}/keys-and-limits/${id}`);
    await expect.poll(() => page.locator('li[aria-current=true]').last().innerText()).toContain('Rarely used');
    await page.keyboard.press('Control+k');
    await page.getByRole('group', { name: 'Recent' }).getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
  });

  it('leads with ArrowDown from the search of a list into the first row of what it finds', async () => {
    const { page, visit } = await openPage();
    for (const [path, search, label] of [
      ['/projects/happy-paws/pets', 'o', 'Name or id'],
      ['/projects/happy-paws/domains', 'www', 'Search domains'],
      ['/projects', 'happy', 'Search projects'],
      ['/break-it', 'certificate', 'Search'],
      ['/dns/happypaws.test', 'www', 'Search records'],
    ] as const) {
      await visit(path);
      const field = page.getByRole('main').getByRole('searchbox', { name: label, exact: true });
      await field.waitFor();
      await page.keyboard.press('/');
      await waitForFocus(field);
      await field.fill(search);
      await field.press('ArrowDown');
      await waitForFocus(page.locator('.rows [tabindex="0"]'));
      // The first Escape empties the field, the second leaves it.
      await field.press('Escape');
      await field.press('Escape');
      await waitForFocus(page.getByRole('heading', { level: 1 }));
    }
  });

  it('opens the menu of a row by right click and by keyboard, and remembers the width of a list', async () => {
    const { page, expectNoFaults } = await openPage({ path: '/projects/happy-paws/domains' });
    const row = page.getByRole('link', { name: /www\.happypaws\.test/ });
    // A text selection elsewhere must not affect the menu.
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))");
    await row.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Make it primary' }).waitFor();
    await page.keyboard.press('Escape');
    await row.focus();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Open in a new tab' }).waitFor();
    await expectNoFaults();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').first().waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.dataset.hostname')).toBe('www.happypaws.test');
    await row.click();
    const splitter = page.getByRole('separator', { name: 'Width of the list' });
    await splitter.press('Home');
    await splitter.press('ArrowLeft');
    await splitter.press('ArrowRight');
    await expect.poll(() => splitter.getAttribute('aria-valuenow')).toBe('17');
    await page.reload();
    await expect.poll(() => splitter.getAttribute('aria-valuenow')).toBe('17');
    await splitter.press('Enter');
    await expect.poll(() => splitter.getAttribute('aria-valuenow')).toBe('45');
  });

  it.each([
    ['the menu of a row', '/projects/happy-paws/domains', { button: 'right' }],
    ['the menu of a row', '/certificates', { button: 'right' }],
    ['the menu of its button', '/projects/happy-paws/domains', {}],
  ] as const)('closes %s on %s that another client removes, and focuses the row in its place', async (_, path, how) => {
    const { page, engine } = await openPage({ path });
    const rows = page.locator('main [data-key]').filter({ hasText: 'happypaws.' });
    await rows.nth(1).waitFor();
    const [hostname = '', next = ''] = await rows.evaluateAll((all) => all.map((row) => row.dataset['key'] ?? ''));
    const row = rows.first();
    await ('button' in how ? row.getByRole('link') : row.getByRole('button', { name: 'More for' })).click(how);
    await page.getByRole('menu').waitFor();
    await engine.call('domains.remove', { hostname });
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.locator(`[data-key="${next}"] :focus`).waitFor();
  });

  it('offers the actions of each kind of row in its menu, and returns the focus to the row', async () => {
    const { page, engine, visit } = await openPage({ path: '/projects/demo/pets' });
    const focused = () => page.evaluate('document.activeElement.innerText.split("\\n")[0]');
    const item = (name: string | RegExp) => page.getByRole('menuitem', { name });
    const openMenu = async (row: Locator) => {
      await row.focus();
      await page.keyboard.press('Shift+F10');
    };
    const closeMenu = async (holder: string | RegExp) => {
      await page.keyboard.press('Escape');
      await page.getByRole('menu').first().waitFor({ state: 'detached' });
      await expect.poll(focused).toMatch(holder);
    };
    const cell = (name: string) => page.getByRole('rowheader', { name });
    await openMenu(cell('Biscuit'));
    await item('Edit the name').waitFor();
    await closeMenu('Biscuit');
    await openMenu(cell('Biscuit'));
    await item('Select').click();
    await cell('Clover').click({ modifiers: ['Control'] });
    await cell('Clover').click({ button: 'right' });
    await item('Copy 2 pets').click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(/\n1\tBiscuit .*\n4\tClover /);
    await expect.poll(focused).toMatch(/^Clover/);

    await engine.api({ path: '/v1/pets?status=sold', key: null });
    await visit('/projects/demo/traffic');
    const entry = page.getByRole('region', { name: 'Entries' }).getByRole('link');
    await openMenu(entry);
    await item('Edit and send…').waitFor();
    await closeMenu(/\d\d:\d\d/);
    await openMenu(entry);
    await item('Edit and send…').click();
    await page.getByRole('dialog', { name: 'Edit and send' }).waitFor();
    await page.keyboard.press('Escape');
    await openMenu(entry);
    await item('Only requests of 127.0.0.1').click();
    await expect.poll(() => new URL(page.url()).search).toBe('?filter=address%3A127.0.0.1');

    await visit('/dns');
    const zone = page.getByRole('link', { name: /^happypaws\.test/ });
    await openMenu(zone);
    await item('Update key for tools').waitFor();
    await closeMenu('happypaws.test');
    await zone.click();
    const record = page.getByRole('row', { name: /^www\s+CNAME/ });
    await openMenu(record);
    await item('Query www CNAME').waitFor();
    await closeMenu('www');

    await visit('/certificates');
    const leaf = page.getByRole('link', { name: /^www\.happypaws\.test/ });
    await openMenu(leaf);
    await item('Download PEM').waitFor();
    await closeMenu('www.happypaws.test');
    await openMenu(leaf);
    await item('Go to the domain').click();
    await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
  });

  it('scrolls to the row that a link points to', async () => {
    const { page, engine, open, visit } = await openPage();
    const domains = await engine.call('domains.list');
    await engine.call('zones.create', { name: 'big.test' });
    const text = Array.from({ length: 200 }, (_, n) => `r${n} 300 IN A 192.0.2.1`).join('\n');
    await engine.call('zones.import', { name: 'big.test', text });
    for (let n = 0; n < 24; n++) {
      await engine.call('domains.attach', { projectId: domains[0]?.projectId, hostname: `s${n}.big.test` });
    }
    const inView = async (row: Locator) => {
      await row.waitFor();
      const view = await page.evaluate<number>('innerHeight');
      await expect.poll(async () => (await row.boundingBox())?.y ?? view).toBeLessThan(view);
      await expect.poll(() => row.evaluate((element) => element.checkVisibility())).toBe(true);
    };
    await open('/dns/big.test?record=r150');
    await inView(page.getByRole('row', { name: /^r150\s/ }));
    await expect.poll(() => page.evaluate('document.activeElement.innerText')).toMatch(/^r150\s/);
    await visit('/certificates/s21.big.test');
    await inView(page.getByRole('link', { name: /^s21\.big\.test/ }).first());
    await visit('/projects/happy-paws/domains/www.happypaws.test');
    await page.getByRole('link', { name: 'The record', exact: true }).click();
    await expect.poll(() => page.evaluate('document.activeElement.innerText')).toMatch(/^www\s/);
  });

  it('has a third column of remembered width in a very wide window', async () => {
    const { page, engine, visit, expectNoFaults } = await openPage({
      path: '/projects/demo/pets/1',
      viewport: { width: 2_560, height: 1_300 },
    });
    const left = async (locator: Locator) => (await locator.boundingBox())?.x ?? 0;
    const orders = page.getByRole('region', { name: 'Orders' });
    const fields = page.getByRole('form', { name: 'Fields of the pet' });
    await expect.poll(() => left(orders)).toBeGreaterThan((await left(fields)) + 200);
    await engine.api({ path: '/v1/nope' });
    await visit('/projects/demo/traffic');
    await page.getByRole('region', { name: 'Entries' }).getByRole('link').click();
    const answer = page.getByRole('region', { name: 'Response' });
    const splitter = page.getByRole('separator', { name: 'Width of the request' });
    await splitter.press('End');
    await expect.poll(() => splitter.getAttribute('aria-valuenow')).toBe('80');
    const before = await left(answer);
    await splitter.press('ArrowLeft');
    await expect.poll(() => left(answer)).toBeLessThan(before);
    await expectNoFaults();
    await page.reload();
    await expect.poll(() => splitter.getAttribute('aria-valuenow')).toBe('78');
    await page.setViewportSize({ width: 1_440, height: 900 });
    await splitter.waitFor({ state: 'detached' });
  });

  it('keeps Tab within panels and dialogs over the page, and closes them by a click beside them', async () => {
    const { page } = await openPage({ path: '/projects/happy-paws/domains' });
    const clock = page.getByRole('button', { name: /Time and state/ });
    const panel = page.getByRole('dialog', { name: 'Time and state' });
    await clock.click();
    await waitForFocus(panel.getByLabel('Forward by'));
    await panel.getByRole('button', { name: 'Freeze' }).press('Shift+Tab');
    await waitForFocus(panel.getByRole('button', { name: 'Save this world' }));
    await page.keyboard.press('Tab');
    await waitForFocus(panel.getByRole('button', { name: 'Freeze' }));
    await page.getByRole('heading', { level: 1 }).click();
    await panel.waitFor({ state: 'detached' });
    await clock.press('Enter');
    await clock.click();
    await panel.waitFor({ state: 'detached' });

    const menu = page.getByRole('menu');
    await page.getByRole('button', { name: 'More for www.happypaws.test' }).press('Enter');
    await waitForFocus(menu.getByRole('menuitem', { name: 'Re-verify' }));
    await page.keyboard.type('red');
    await waitForFocus(menu.getByRole('menuitem', { name: 'Redirect it to another hostname' }));
    await page.keyboard.press('Tab');
    await menu.waitFor({ state: 'detached' });
    await waitForFocus(page.getByRole('button', { name: 'Verify all' }));

    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Shortcuts' });
    await sheet.waitFor();
    // The frame of the focus does not touch the texts.
    await expect.poll(() => page.evaluate('getComputedStyle(document.activeElement).paddingLeft')).toBe('16px');
    const pets = await page.getByRole('link', { name: 'Pets (sample data)' }).boundingBox();
    await page.mouse.click((pets?.x ?? 0) + 5, (pets?.y ?? 0) + 5);
    await sheet.waitFor({ state: 'detached' });
    await waitForFocus(page.getByRole('button', { name: 'Verify all' }));
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/happy-paws/domains');
  });

  it('closes a dialog only by a click beside it, not by a drag, and shows it above open panels and menus', async () => {
    const { page } = await openPage({ path: '/projects/demo/pets' });
    const reports = page.getByRole('region', { name: 'Reports' });
    await page.getByRole('rowheader', { name: 'Biscuit' }).click();
    await page.keyboard.press('Delete');
    await reports.getByText('Removed Biscuit').waitFor();
    const dialog = page.getByRole('dialog', { name: 'Add a pet' });
    const name = dialog.getByLabel('Name', { exact: true });
    await page.getByRole('button', { name: 'Add a pet' }).dblclick();
    await waitForFocus(name);
    // The heading is not focusable; the dialog itself gets the focus.
    await dialog.getByRole('heading').click();
    await waitForFocus(dialog);
    await page.keyboard.press('Shift+Tab');
    await waitForFocus(dialog.getByRole('button', { name: 'Add the pet' }));
    const { x = 0, y = 0 } = (await name.boundingBox()) ?? {};
    const beside = { x: 20, y: 300 };
    const field = { x: x + 20, y: y + 8 };
    for (const [from, to] of [
      [field, beside],
      [beside, field],
    ] as const) {
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y);
      await page.mouse.up();
    }
    // Keyboard and screen reader cannot reach the page behind the dialog, only its toasts.
    await page.evaluate("document.querySelector('nav a').focus()");
    await waitForFocus(name);
    await reports.getByRole('button', { name: 'Undo' }).click();
    await reports.getByText('Biscuit the Border Collie is back').waitFor();
    await name.waitFor();
    await page.mouse.click(beside.x, beside.y);
    await dialog.waitFor({ state: 'detached' });
    const isCovered = async (panel: Locator) => {
      const { x, y } = (await panel.boundingBox()) ?? {};
      return page.evaluate(`document.elementFromPoint(${x} + 9, ${y} + 9).closest('.overlay') !== null`);
    };
    const clock = page.getByRole('dialog', { name: 'Time and state' });
    const menu = page.getByRole('menu');
    const palette = page.getByRole('dialog', { name: 'Commands' });
    await page.getByRole('rowheader', { name: 'Biscuit' }).click();
    await page.keyboard.press('Delete');
    await reports.getByText('Removed Biscuit').hover();
    await page.getByRole('button', { name: /Time and state/ }).press('Enter');
    await clock.waitFor();
    await page.keyboard.press('Control+k');
    await palette.waitFor();
    await expect.poll(() => isCovered(clock)).toBe(true);
    await reports.getByRole('button', { name: 'Undo' }).click();
    await reports.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    await page.getByRole('rowheader', { name: 'Biscuit' }).click({ button: 'right', position: { x: 9, y: 9 } });
    await clock.waitFor({ state: 'detached' });
    await menu.waitFor();
    await page.keyboard.press('Control+k');
    await palette.waitFor();
    await expect.poll(() => isCovered(menu)).toBe(true);
  });

  it('accepts a page’s shortcuts while the page loads, and focuses a dialog’s first field', async () => {
    const { page } = await openPage();
    let arrive: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (arrive = resolve));
    await page.route('**/pages-*.js', async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    await pressAll(page, 'g', 'p');
    await page.getByRole('heading', { level: 1, name: 'Pets' }).waitFor();
    await page.keyboard.press('n');
    arrive();
    await waitForFocus(page.getByRole('dialog', { name: 'Add a pet' }).getByLabel('Name', { exact: true }));
    await page.keyboard.type('Otter');
    await page.keyboard.press('Enter');
    await page.getByRole('grid').getByText('Otter').waitFor();
  });

  it('accepts them before the projects are known, too', async () => {
    const { page, open } = await openPage();
    const projects = await holdCalls(page, 'projects/list');
    projects.hold();
    await open('/projects/demo/pets');
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Pets' }).waitFor();
    await page.keyboard.press('n');
    projects.release();
    await waitForFocus(page.getByRole('dialog', { name: 'Add a pet' }).getByLabel('Name', { exact: true }));
  });

  it('explains an unknown address and a project that does not exist', async () => {
    const { page, visit } = await openPage({ path: '/nowhere/at/all' });
    await page.getByText('This page does not exist').waitFor();
    await page.getByRole('link', { name: 'Go home' }).click();
    await page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor();
    await visit('/projects/long-gone');
    await page.getByText('There is no project “long-gone”').waitFor();
    await page.getByRole('link', { name: /^Demo demo/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/demo');
  });
});
