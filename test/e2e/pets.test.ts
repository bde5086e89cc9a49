import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../support/engine.ts';
import {
  type EnginePage,
  copyBy,
  enter,
  runCommand,
  toast,
  openPage,
  waitForFocus,
} from '../support/page/page-on-engine.ts';

const PATH = '/projects/demo/pets';

const grid = (page: Page) => page.getByRole('grid');
const row = (page: Page, name: string | RegExp) => grid(page).getByRole('row').filter({ hasText: name });
const cell = (page: Page, position: number, column: string) => page.locator(`[data-cell="${position} ${column}"]`);
/** The number beside the search, which screen readers announce. */
const counted = (page: Page, text: string) => page.getByText(text, { exact: true }).first();
const focused = (page: Page): Promise<string | null> =>
  page.evaluate<string | null>("document.activeElement.getAttribute('data-cell')");

async function pets(engine: Engine, input: object = {}) {
  const { id: projectId } = await engine.demo();
  return engine.call('pets.list', { projectId, limit: 1_000, ...input });
}

/** Those of production from one position to another, polled. */
const stored = (engine: Engine, start = 0, end?: number) =>
  expect.poll(async () => (await pets(engine)).items.slice(start, end));

async function call(engine: Engine, procedure: string, input: object): Promise<unknown> {
  const { id: projectId } = await engine.demo();
  return engine.call(procedure, { projectId, ...input });
}

async function openPets(options: Parameters<typeof openPage>[0] = {}): Promise<EnginePage> {
  const opened = await openPage({ path: PATH, ...options });
  // The heading belongs to the frame; only the page's own part handles its shortcuts.
  await opened.page.getByRole('group', { name: 'Environment' }).waitFor();
  return opened;
}

const topOf = (page: Page): Promise<number> => rows(page).evaluate((element) => element.scrollTop);
const rows = (page: Page): Locator => grid(page).getByRole('rowgroup').nth(1);

describe('the list of pets', () => {
  it('shows the pets of each environment, and fills an empty one', async () => {
    const { page, engine, expectNoFaults } = await openPets();
    await row(page, 'Biscuit the Border Collie').waitFor();
    await counted(page, '30 pets').waitFor();
    await expect.poll(() => grid(page).getAttribute('aria-rowcount')).toBe('31');
    const room = grid(page).locator('..');
    await page.setViewportSize({ width: 420, height: 860 });
    await expect.poll(() => room.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await call(engine, 'pets.clear', { environment: 'staging' });
    await page.getByRole('group', { name: 'Environment' }).getByText('Staging').click();
    await page.getByText('No pets in staging').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('environment')).toBe('staging');
    await expectNoFaults();
    await page.getByRole('button', { name: 'Add 30 made-up pets' }).click();
    await counted(page, '30 pets').waitFor();
    await expect.poll(async () => (await pets(engine, { environment: 'staging' })).total).toBe(30);
  });

  it('can be searched, filtered and sorted, and the address keeps all of it', async () => {
    const { page, visit, expectNoFaults } = await openPets();
    await page.keyboard.press('/');
    await page.keyboard.type('THE bo');
    await counted(page, '2 found').waitFor();
    await page.getByRole('group', { name: 'Status' }).getByText('Available').click();
    await grid(page).getByRole('columnheader', { name: 'Name' }).click();
    await grid(page).getByRole('columnheader', { name: 'Name' }).click();
    await expect
      .poll(() => grid(page).getByRole('rowheader').allInnerTexts())
      .toEqual(['Pepper the Bombay Cat', 'Biscuit the Border Collie']);
    await expect
      .poll(() => grid(page).getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort'))
      .toBe('descending');
    const width = async () => (await cell(page, -1, 'categoryId').boundingBox())?.width ?? 0;
    const before = await width();
    await cell(page, -1, 'categoryId').focus();
    for (let step = 0; step < 3; step++) await page.keyboard.press('Alt+ArrowRight');
    await expect.poll(width).toBe(before + 3 * 16);
    const grip = cell(page, -1, 'categoryId').locator('[data-grip]');
    const { x = 0, y = 0 } = (await grip.boundingBox()) ?? {};
    await page.mouse.move(x + 4, y + 8);
    await page.mouse.down();
    await page.mouse.move(x + 24, y + 8);
    await page.mouse.up();
    await expect.poll(width).toBe(before + 3 * 16 + 20);
    await page.reload();
    await expect.poll(width).toBe(before + 3 * 16 + 20);
    await grip.dblclick();
    await expect.poll(width).toBe(before);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Category' }).uncheck();
    await expect.poll(() => page.getByRole('checkbox', { name: 'Name' }).isDisabled()).toBe(true);
    await expectNoFaults();
    await page.keyboard.press('Escape');
    await cell(page, -1, 'status').focus();
    const titles = grid(page).locator('[data-column]');
    for (const order of [
      ['Id', 'Status', 'Name'],
      ['Status', 'Id', 'Name'],
    ]) {
      await page.keyboard.press('Alt+Shift+ArrowLeft');
      await expect.poll(() => titles.allInnerTexts()).toEqual(order);
      await expect.poll(() => focused(page)).toBe('-1 status');
    }
    await titles.nth(1).hover();
    await page.mouse.down();
    const name = (await titles.nth(2).boundingBox()) ?? { x: 0, y: 0, width: 0 };
    await page.mouse.move(name.x + name.width / 2 + 20, name.y + 8, { steps: 4 });
    await page.mouse.up();
    await page.reload();
    await expect.poll(() => titles.allInnerTexts()).toEqual(['Status', 'Name', 'Id']);
    await cell(page, 0, 'status').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => focused(page)).toBe('0 name');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('button', { name: 'Reset columns' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(() => titles.allInnerTexts()).toEqual(['Id', 'Name', 'Category', 'Status']);
    await expect
      .poll(() => Object.fromEntries(new URL(page.url()).searchParams))
      .toEqual({ search: 'THE bo', status: 'available', sort: '-name' });
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('textbox', { name: 'Id', exact: true }).fill('2..x');
    await page.getByText('It must be an id or a range').waitFor();
    await expectNoFaults();
    await page.getByRole('textbox', { name: 'Id', exact: true }).fill('2..');
    await page.getByRole('textbox', { name: 'Category' }).fill('2');
    await counted(page, '1 found').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('ids')).toBe('2..');
    await page.getByRole('button', { name: 'Clear these filters' }).click();
    await counted(page, '2 found').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More actions for the pets' }).click();
    await page.getByRole('menuitem', { name: 'Export…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export pets' });
    await dialog.getByText('The 2 found').waitFor();
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Export' }).click();
    const file = await download;
    expect([file.suggestedFilename(), await readFile(await file.path(), 'utf8')]).toEqual([
      'demo-production-pets.csv',
      'id,name,categoryId,status\n7,Pepper the Bombay Cat,2,available\n1,Biscuit the Border Collie,1,available\n',
    ]);
    await visit(`${PATH}?status=sold&search=zzz`);
    await page.getByText('No pet matches').waitFor();
    await page.getByRole('button', { name: 'Show all pets' }).click();
    await counted(page, '30 pets').waitFor();
  });

  it('explains a link to a pet that does not exist, and links back to the list', async () => {
    const { page, engine, open } = await openPets({ path: `${PATH}/3` });
    await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
    await call(engine, 'pets.remove', { id: '3' });
    await page.getByText('There is no pet 3 in production').waitFor();
    await open(`${PATH}/9223372036854775807?environment=staging`);
    await page.getByText('There is no pet 9223372036854775807 in staging').waitFor();
    await page.getByRole('button', { name: 'Show the list' }).click();
    await counted(page, '30 pets').waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(PATH);
  });

  it('can be emptied after a dialog that states the loss, and shows the request that returns the same pets', async () => {
    const { page, engine, visit } = await openPets();
    await page.getByRole('button', { name: 'More actions for the pets' }).click();
    await page.getByRole('menuitem', { name: 'Remove all pets' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove all pets of production?' });
    await dialog.getByText('30 pets').waitFor();
    await dialog.getByRole('button', { name: 'Remove all pets' }).click();
    await page.getByText('No pets in production').waitFor();
    await page.getByText('30 pets removed from production.').waitFor();
    await expect.poll(async () => (await pets(engine, { environment: 'staging' })).total).toBe(30);

    await visit(`${PATH}?environment=staging&status=sold&sort=-name`);
    await page.getByRole('button', { name: 'As curl' }).click();
    await page.getByText('the order here is this page’s own').waitFor();
    const copied = await copyBy(page.getByRole('button', { name: 'Copy request' }));
    const { baseUrl } = await engine.demo();
    expect(copied).toContain(`'${baseUrl.staging}/pets?limit=100&status=sold'`);
    expect(copied).toMatch(/Bearer viv_\w{32}"/);
  });
});

describe('the keyboard', () => {
  it('moves between cells, edits them, and cancels edits', async () => {
    const { page, engine, expectNoFaults } = await openPets();
    await cell(page, 0, 'name').click();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => focused(page)).toBe('1 categoryId');
    await page.keyboard.press('F2');
    const field = page.getByRole('textbox', { name: 'Category of pet 2' });
    await waitForFocus(field);
    await page.keyboard.type('12x');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('must be an integer from').waitFor();
    await expect.poll(() => field.inputValue()).toBe('12x');
    await expectNoFaults();
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('1 categoryId');
    await page.keyboard.press('Enter');
    await waitForFocus(field);
    await page.keyboard.type('9223372036854775807');
    await page.keyboard.press('Enter');
    await toast(page, /Changed Moss the Maine Coon’s category to 9223372036854775807/).waitFor();
    await stored(engine, 1, 2).toMatchObject([{ id: '2', categoryId: '9223372036854775807' }]);
    await expect.poll(() => focused(page)).toBe('1 categoryId');
  });

  it('moves from cell to cell with Tab during an edit, and undoes edits', async () => {
    const { page, engine } = await openPets();
    await cell(page, 0, 'name').click();
    await page.keyboard.press('Enter');
    await waitForFocus(page.getByRole('textbox', { name: 'Name of pet 1' }));
    await page.keyboard.type('<b>Bis</b>');
    await page.keyboard.press('Tab');
    await waitForFocus(page.getByRole('textbox', { name: 'Category of pet 1' }));
    await page.keyboard.type('7');
    await page.keyboard.press('Tab');
    const status = page.getByRole('combobox', { name: 'Status of pet 1' });
    await waitForFocus(status);
    await page.keyboard.press('s');
    await page.keyboard.press('Tab');
    await waitForFocus(page.getByRole('textbox', { name: 'Name of pet 2' }));
    await page.keyboard.press('Shift+Tab');
    await waitForFocus(status);
    await page.keyboard.press('Escape');
    await stored(engine, 0, 1).toEqual([{ id: '1', name: '<b>Bis</b>', categoryId: '7', status: 'sold' }]);
    await grid(page).getByText('<b>Bis</b>', { exact: true }).waitFor();
    await toast(page, '<b>Bis</b>’s status to sold').waitFor();
    for (let change = 0; change < 3; change++) await page.keyboard.press('Control+z');
    await stored(engine, 0, 1).toMatchObject([
      { name: 'Biscuit the Border Collie', categoryId: '1', status: 'available' },
    ]);
  });

  it('reaches every corner of 100,000 pets', async () => {
    const { page, engine } = await openPets();
    await call(engine, 'pets.seed', { count: 99_970 });
    await counted(page, '100,000 pets').waitFor();
    // The column headers end where the rows end, beside the scroll bar.
    const place = async (row: number) => {
      const box = await cell(page, row, 'status').boundingBox();
      return [box?.x, box?.width];
    };
    await expect.poll(async () => (await place(-1)).join() === (await place(0)).join()).toBe(true);
    await cell(page, 0, 'id').click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+End');
    await expect.poll(() => focused(page)).toBe('99999 actions');
    await cell(page, 99_999, 'id').getByText('100000').waitFor();
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Home');
    await expect.poll(() => focused(page)).toMatch(/^999\d\d select$/);
    await page.keyboard.press('Control+Home');
    await expect.poll(() => focused(page)).toBe('0 select');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => focused(page)).toBe('-1 id');
    await page.keyboard.press('Enter');
    await cell(page, 0, 'id').getByText('100000').waitFor();
    await expect.poll(() => grid(page).getByRole('row').count()).toBeLessThan(60);
  });

  it('selects, changes, removes, copies and pastes several pets at once, and undoes changes', async () => {
    const { page, engine, expectNoFaults } = await openPets();
    const { items: before } = await pets(engine);
    const selected = (text: string) => page.getByRole('group', { name: 'Selected pets' }).getByText(text);
    const marked = () => grid(page).locator('[aria-selected="true"]').getByRole('rowheader').allInnerTexts();
    await cell(page, 1, 'name').click();
    await cell(page, 3, 'name').click({ modifiers: ['Shift'] });
    await selected('3 pets selected').waitFor();
    await cell(page, 2, 'select').click();
    await cell(page, 6, 'status').click({ modifiers: ['Control'] });
    await page.keyboard.press('Shift+ArrowDown');
    await expect
      .poll(async () => (await marked()).map((name) => name.split(' ')[0]))
      .toEqual(['Moss', 'Clover', 'Pepper', 'Kiwi']);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit 4 pets' });
    await dialog.getByRole('textbox', { name: 'Category' }).fill('x');
    await dialog.getByRole('button', { name: 'Change 4 pets' }).click();
    await dialog.getByText('It must be an integer').waitFor();
    await dialog.getByRole('textbox', { name: 'Category' }).fill('77');
    await dialog.getByRole('combobox', { name: 'Status' }).selectOption('sold');
    await expectNoFaults();
    await dialog.getByRole('button', { name: 'Change 4 pets' }).click();
    await toast(page, '4 pets changed.').waitFor();
    await expect
      .poll(async () => (await pets(engine)).items.filter(({ categoryId }) => categoryId === '77'))
      .toMatchObject(['2', '4', '7', '8'].map((id) => ({ id, status: 'sold' })));
    await cell(page, 0, 'name').click();
    await page.keyboard.press('Delete');
    await toast(page, '4 pets removed.').waitFor();
    await counted(page, '26 pets').waitFor();
    await expect.poll(() => focused(page)).toBe('0 name');
    await page.keyboard.press('Control+z');
    await toast(page, '4 pets put back.').waitFor();
    await page.keyboard.press('Control+z');
    await toast(page, '4 pets restored.').waitFor();
    await stored(engine).toEqual(before);
    await counted(page, '30 pets').waitFor();
    await page.keyboard.press('Control+a');
    await selected('30 pets selected').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(marked).toEqual([]);

    const clipboard = () => expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()'));
    const paste = async (text: string) => {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await page.keyboard.press('Control+v');
    };
    await cell(page, 0, 'name').click();
    // Typing in a cell edits it instead of triggering the page's shortcuts.
    await page.keyboard.type('nora');
    await page.keyboard.press('Enter');
    await toast(page, /name to nora/).waitFor();
    await expect.poll(() => focused(page)).toBe('0 name');
    await page.keyboard.press('Control+c');
    await clipboard().toBe('nora');
    await page.keyboard.press('Space');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Control+c');
    await toast(page, 'Copied 2 pets.').waitFor();
    await clipboard().toBe(
      'id\tname\tcategoryId\tstatus\n1\tnora\t1\tavailable\n2\tMoss the Maine Coon\t2\tavailable\n',
    );
    await page.keyboard.press('Control+v');
    await counted(page, '32 pets').waitFor();
    await stored(engine, 30).toMatchObject([{ name: 'nora' }, { name: 'Moss the Maine Coon' }]);
    // They are reported once, and selected.
    await toast(page, 'Imported 2 pets into production.').waitFor();
    await expect.poll(marked).toEqual(['nora', 'Moss the Maine Coon']);
    await expect.poll(() => focused(page)).toBe('30 name');
    await expect.poll(() => page.getByText(/^Importing the pasted rows/).count()).toBe(0);
    await page.keyboard.press('ArrowRight');
    await paste('55');
    await toast(page, '2 pets changed.').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Home');
    await cell(page, 3, 'name').click();
    await paste('Ann\t9223372036854775807\nBen\tx');
    await toast(page, 'Nothing was pasted. Row 2: categoryId must be an integer').waitFor();
    await paste('Ann\t9223372036854775807\nBen\t-1\tSold');
    await expect
      .poll(async () => (await pets(engine)).items.slice(0, 5).map((pet) => Object.values(pet).join(' ')))
      .toEqual([
        '1 nora 1 available',
        '2 Moss the Maine Coon 2 available',
        '3 Saffron the Sun Conure 3 pending',
        '4 Ann 9223372036854775807 available',
        '5 Ben -1 sold',
      ]);
  });

  it('removes a pet, and undoes the removal', async () => {
    const { page, engine } = await openPets();
    await cell(page, 2, 'name').click();
    await page.keyboard.press('Delete');
    await toast(page, 'Removed Saffron the Sun Conure.').waitFor();
    await counted(page, '29 pets').waitFor();
    await expect.poll(() => focused(page)).toBe('2 name');
    await page.keyboard.press('Control+z');
    await toast(page, 'Saffron the Sun Conure is back as pet 3.').waitFor();
    await counted(page, '30 pets').waitFor();
    await stored(engine, 2, 3).toMatchObject([{ id: '3', name: 'Saffron the Sun Conure' }]);
    // The focused pet keeps its position on the screen: the list scrolls instead.
    await expect.poll(() => focused(page)).toBe('3 name');
    await expect.poll(() => topOf(page)).toBeGreaterThan(0);
  });
});

describe('the list, while clients add pets,', () => {
  it('keeps its scroll position, even when they are added above', async () => {
    const { page, engine } = await openPets({ path: `${PATH}?sort=-id` });
    await call(engine, 'pets.seed', { count: 2_000 });
    await counted(page, '2,030 pets').waitFor();
    await rows(page).evaluate((element) => (element.scrollTop = 20_000));
    await cell(page, 630, 'id').getByText('1400').waitFor();
    const before = await topOf(page);
    for (let added = 1; added <= 5; added++) {
      await call(engine, 'pets.seed', { count: 3 });
      await counted(page, `2,0${30 + 3 * added} pets`).waitFor();
    }
    // The same pet is at the same height, although its index has changed.
    await expect.poll(() => topOf(page)).toBe(before + 15 * 32);
    await cell(page, 645, 'id').getByText('1400').waitFor();
    await rows(page).evaluate((element) => (element.scrollTop = 0));
    await call(engine, 'pets.create', { name: 'Newest', categoryId: 1 });
    await cell(page, 0, 'name').getByText('Newest').waitFor();
    await expect.poll(() => topOf(page)).toBe(0);
    // The mouse is released over another row than it was pressed on; the click applies to the first one.
    await row(page, 'Newest').getByRole('button', { name: 'Remove' }).hover();
    await page.mouse.down();
    await call(engine, 'pets.create', { name: 'Newer', categoryId: 1 });
    await cell(page, 1, 'name').getByText('Newest').waitFor();
    await expect.poll(() => topOf(page)).toBe(32);
    await page.mouse.up();
    await toast(page, 'Removed Newest.').waitFor();
  });

  it('keeps the text in a cell editor with its pet', async () => {
    const { page, engine } = await openPets({ path: `${PATH}?sort=-id` });
    await cell(page, 3, 'name').dblclick();
    const field = page.getByRole('textbox', { name: 'Name of pet 27' });
    await field.fill('Half ty');
    await call(engine, 'pets.seed', { count: 4 });
    await counted(page, '34 pets').waitFor();
    await field.waitFor();
    await expect
      .poll(async () => [await field.inputValue(), await field.evaluate((element) => element.matches(':focus'))])
      .toEqual(['Half ty', true]);
    await page.keyboard.type('ped');
    await page.keyboard.press('Enter');
    await stored(engine, 26, 27).toMatchObject([{ name: 'Half typed' }]);
  });

  it('keeps an open context menu, the focus in it and its actions with their pet', async () => {
    const { page, engine } = await openPets({ path: `${PATH}?sort=-id` });
    const menu = page.getByRole('menu');
    await cell(page, 3, 'name').focus();
    for (const [count, label, steps] of [
      [34, 'Select', 2],
      [38, 'Edit the name', 1],
    ] as const) {
      await page.keyboard.press('Shift+F10');
      await menu.waitFor();
      await call(engine, 'pets.seed', { count: 4 });
      await counted(page, `${count} pets`).waitFor();
      await expect.poll(() => topOf(page)).toBe((count - 30) * 32);
      for (let step = 0; step < steps; step++) await page.keyboard.press('ArrowDown');
      await waitForFocus(menu.getByRole('menuitem', { name: label }));
      await page.keyboard.press('Enter');
    }
    await enter(page.getByRole('textbox', { name: 'Name of pet 27' }), 'Twenty-seven');
    await stored(engine, 26, 27).toMatchObject([{ name: 'Twenty-seven' }]);
    await row(page, 'Twenty-seven').and(page.locator('[aria-selected=true]')).waitFor();
    await expect.poll(() => focused(page)).toBe('11 name');
    await page.keyboard.press('Shift+F10');
    await menu.waitFor();
    await call(engine, 'pets.seed', { count: 2 });
    await counted(page, '40 pets').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('13 name');
  });
});

it('the context menu of a pet opens right after that of a row that has left the list, and closes when another client removes the pet', async () => {
  const { page, engine } = await openPets();
  await cell(page, 20, 'name').waitFor();
  // In one task, in which no timer is due.
  await page.evaluate(`(async () => {
    const { body } = document;
    const cell = (row) => document.querySelector('[data-cell="' + row + ' name"]');
    const drawn = async () => { for (let turn = 0; turn < 50; turn++) await null; };
    const openAt = (row) => {
      cell(row).dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true }));
      return drawn();
    };
    await openAt(5);
    const list = cell(5).closest('[role=rowgroup]');
    list.scrollTop = 8 * 32;
    list.dispatchEvent(new Event('scroll'));
    await drawn();
    body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
    await drawn();
    if (cell(5) !== null) throw new Error('Row 5 is still in the list.');
    await openAt(20);
  })()`);
  await page.getByRole('menuitem', { name: 'Edit the name' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Home');
  const menu = page.getByRole('menu');
  await cell(page, 2, 'name').click({ button: 'right' });
  await menu.waitFor();
  await call(engine, 'pets.remove', { id: 9 });
  await counted(page, '29 pets').waitFor();
  await waitForFocus(menu);
  await call(engine, 'pets.remove', { id: 3 });
  await menu.waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('2 name');
});

describe('a pet', () => {
  it('can be added, with the engine’s messages at the fields', async () => {
    const { page, engine } = await openPets();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'Add a pet' });
    await dialog.getByRole('textbox', { name: 'Id' }).fill('7');
    await dialog.getByRole('textbox', { name: 'Category' }).fill('many');
    await dialog.getByRole('button', { name: 'Add the pet' }).click();
    await dialog.getByText('must have at least one character other than spaces').waitFor();
    await dialog.getByText('must be an integer from').waitFor();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Zora');
    await enter(dialog.getByRole('textbox', { name: 'Category' }), '3');
    await dialog.getByText('There is a pet 7 in production').waitFor();
    await enter(dialog.getByRole('textbox', { name: 'Id' }), '');
    await dialog.waitFor({ state: 'detached' });
    await toast(page, 'Added Zora as pet 31.').waitFor();
    await expect.poll(() => focused(page)).toBe('30 name');
    await stored(engine, -1).toMatchObject([{ id: '31', name: 'Zora', categoryId: '3' }]);
  });

  it('leaves the focus in a cell, and not at a button that removes another one, when a restore removes it', async () => {
    const { page } = await openPets({
      prepare: async (engine) => void (await engine.call('snapshots.save', { name: 'before' })),
    });
    await page.keyboard.press('n');
    await page.getByRole('dialog', { name: 'Add a pet' }).waitFor();
    await page.keyboard.type('Zora\n');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('30 name');
    await page.keyboard.press('s');
    await page.keyboard.press('r');
    await row(page, 'Zora').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toMatch(/^\d+ name$/);
  });

  it('can be added right after another one by the same keys, and is typed over once the grid is entered', async () => {
    const { page, engine } = await openPets();
    for (const [name, cell] of Object.entries({ First: '30 name', Second: '31 name' })) {
      await page.keyboard.press('n');
      await page.getByRole('dialog', { name: 'Add a pet' }).waitFor();
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
      await expect.poll(() => focused(page)).toBe(cell);
    }
    await page.keyboard.press('ArrowUp');
    await page.keyboard.type('New\n');
    await row(page, 'New').waitFor();
    await page.getByRole('radio', { name: 'All', exact: true }).focus();
    await page.keyboard.press('Tab');
    await expect.poll(() => focused(page)).toBe('30 name');
    await page.keyboard.type('Next\n');
    await stored(engine, -2).toMatchObject([{ name: 'Next' }, { name: 'Second' }]);
  });

  it('opens beside the list, where it can be changed and ordered', async () => {
    const { page, engine, expectNoFaults } = await openPets();
    await row(page, 'Kiwi').getByRole('link', { name: '8' }).click();
    const detail = page.getByRole('region', { name: 'Pet 8' });
    await detail.getByRole('heading', { name: 'Pet 8' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`${PATH}/8`);
    await detail.getByRole('textbox', { name: 'Name' }).fill('Kiwi');
    await detail.getByRole('combobox', { name: 'Status' }).selectOption('sold');
    await detail.getByRole('button', { name: 'Save' }).click();
    await row(page, /Kiwi.*sold/s).waitFor();
    await detail.getByRole('textbox', { name: 'Quantity' }).fill('0');
    await detail.getByRole('button', { name: 'Place an order' }).click();
    await detail.getByRole('alert').filter({ hasText: /1/ }).waitFor();
    await detail.getByRole('textbox', { name: 'Quantity' }).fill('1,200');
    await detail.getByRole('button', { name: 'Place an order' }).click();
    await toast(page, 'Placed order 1 for Kiwi.').waitFor();
    await detail.getByRole('cell', { name: '1,200' }).waitFor();
    const { json } = await engine.api({ path: '/v1/store/orders' });
    expect(json).toMatchObject([{ id: 1, petId: 8, quantity: 1_200 }]);
    await detail.getByRole('button', { name: 'Remove order 1', disabled: false }).press('Enter');
    await toast(page, 'Removed order 1.').waitFor();
    await detail.getByText('None yet.').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY');
    await page.keyboard.press('Control+z');
    await toast(page, 'It is placed again, as order 2.').waitFor();
    await page.getByRole('link', { name: 'Orders', exact: true }).click();
    const ofOrder = page.getByRole('table', { name: 'Orders in production' }).getByRole('link', { name: 'Kiwi' });
    await ofOrder.waitFor();
    await expectNoFaults();
    await ofOrder.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Open the pet' }).waitFor();
    await page.getByRole('menuitem', { name: 'Remove the order' }).press('Enter');
    await page.getByText('No orders in production').waitFor();
  });
});

describe('an import', () => {
  async function fileOf(name: string, content: string | Buffer): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'vivarium-import-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }

  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Import pets' });

  async function send(page: Page, path: string): Promise<void> {
    await page.getByRole('button', { name: 'Import', exact: true }).first().click();
    await dialogOf(page).getByLabel('File to import').setInputFiles(path);
    await dialogOf(page).getByText('Choose another file').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Import', exact: true }).click();
  }

  it('adds the valid rows of a file, and lists the refused ones', async () => {
    const { page, engine, expectNoFaults } = await openPets();
    const preview = dialogOf(page).getByRole('table', { name: 'The first rows' });
    const shown = async () => (await preview.getByRole('row').allInnerTexts()).slice(1).map((row) => row.split(/\s+/));
    await page.getByRole('button', { name: 'Import', exact: true }).first().click();
    // The format that Excel saves in Europe.
    const text = 'Titel;Category;Status\r\n"Zoë";9223372036854775807;sold\r\n;2;\r\n"Rex\r\nthe dog";x;\r\nMoß;3;\r\n';
    await dialogOf(page)
      .getByLabel('File to import')
      .setInputFiles(await fileOf('pets.csv', Buffer.from(text, 'latin1')));
    await dialogOf(page).getByText('It needs a header line with the columns').waitFor();
    await preview.getByLabel('Column for Name').selectOption('Titel');
    await dialogOf(page).getByText('The first 4 rows; 2 of them would be refused.').waitFor();
    await expect
      .poll(async () => [
        await dialogOf(page).getByLabel('Encoding').inputValue(),
        await dialogOf(page).getByLabel('Separated by').inputValue(),
      ])
      .toEqual(['windows-1252', 'semicolon']);
    await expect.poll(async () => (await shown()).at(0)).toEqual(['2', 'next', 'Zoë', '9223372036854775807', 'sold']);
    await expectNoFaults();
    await dialogOf(page).getByLabel('Encoding').selectOption('utf-8');
    await dialogOf(page).getByText('The file is not UTF-8 text').waitFor();
    await dialogOf(page).getByLabel('Encoding').selectOption('windows-1252');
    await preview.getByLabel('Column for Name').selectOption('Titel');
    await dialogOf(page).getByText('The first 4 rows').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Import', exact: true }).click();
    await dialogOf(page).getByText('2 pets added').waitFor();
    const refused = dialogOf(page).getByRole('table', { name: 'Refused rows' });
    await expect
      .poll(async () => (await refused.getByRole('row').allInnerTexts()).slice(1))
      .toEqual([
        expect.stringMatching(/^3\s+name must have at least one character.*\s;2;$/),
        expect.stringMatching(/^4\s+categoryId must be an integer.*, and is "x"\s+"Rex\s+the dog";x;$/),
      ]);
    await expectNoFaults();
    await dialogOf(page).getByRole('button', { name: 'Close' }).last().click();
    await counted(page, '32 pets').waitFor();
    await stored(engine, 30).toMatchObject([
      { name: 'Zoë', categoryId: '9223372036854775807', status: 'sold' },
      { name: 'Moß', status: 'available' },
    ]);
  });

  it('reports an error in the text as a whole, and keeps the text', async () => {
    const { page, expectNoFaults } = await openPets();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const paste = dialogOf(page).getByRole('textbox', { name: 'Or paste it' });
    await dialogOf(page).getByRole('button', { name: 'Import', exact: true }).click();
    await dialogOf(page).getByText('Choose a file, or paste some text.').waitFor();
    await paste.fill('title\nRex');
    await dialogOf(page).getByRole('button', { name: 'Import', exact: true }).click();
    await dialogOf(page).getByText('needs a header line with the columns name and categoryId').waitFor();
    await expect.poll(() => paste.inputValue()).toBe('title\nRex');
    await expectNoFaults();
    await paste.fill('[{"name": "Rex", "categoryId": 1}]');
    await dialogOf(page).getByRole('button', { name: 'Import', exact: true }).click();
    await dialogOf(page).getByText('1 pet added', { exact: true }).waitFor();
  });

  it('continues without its window, shows its progress on every page, and can be stopped', async () => {
    const { page, engine, expectNoFaults } = await openPets();
    const text = Array.from({ length: 200_000 }, (_, index) => `{"name":"Pet ${index}","categoryId":${index % 5}}`);
    await send(page, await fileOf('many.json', `[${text.join(',\n')}]`));
    await dialogOf(page).getByRole('progressbar').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Continue without this window' }).click();
    const works = page.getByRole('region', { name: 'Tasks in progress' });
    await works.getByText('Importing many.json into production').waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    await works.getByRole('progressbar', { name: 'Importing many.json into production' }).waitFor();
    await expectNoFaults();
    await works.getByRole('button', { name: 'Stop' }).click();
    await works.getByText(/^Stopped: [\d,]+ pets added$/).waitFor();
    const { total } = await pets(engine, { limit: 1 });
    expect(total).toBeGreaterThan(30);
    expect(total).toBeLessThan(200_000);
  });
});

it('the dataset can be filled with any number of made-up pets within the limits', async () => {
  const { page, engine } = await openPets();
  await runCommand(page, 'made-up', /^Add made-up pets/);
  const dialog = page.getByRole('dialog', { name: 'Add made-up pets' });
  await enter(dialog.getByRole('textbox', { name: 'How many' }), 'lots');
  await dialog.getByText('must be a whole number from 1 to 100,000').waitFor();
  await enter(dialog.getByRole('textbox', { name: 'How many' }), '12,000');
  await page.getByText('12,000 pets added to production.').waitFor();
  await expect.poll(async () => (await pets(engine, { limit: 1 })).total).toBe(12_030);
});
