import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { FULL_PROJECT } from '../support/page/page-every.ts';
import { holdCalls, runCommand, openPage, waitForFocus } from '../support/page/page-on-engine.ts';
import { thirdOfToday } from '../support/third-of-today.ts';

/** Each shortcut comes after an action of its own, on a busy machine. */
const WALK_MS_MAX = 120_000;

interface Creation {
  path: string;
  /** Creates something by keyboard alone, with a number in its name. */
  create: (page: Page, number: number) => Promise<void>;
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: true, disabled: false }).first();
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
const reported = (page: Page, text: string | RegExp) =>
  page.getByRole('region', { name: 'Reports' }).getByText(text).last().waitFor();

/** Types into the focused form, and submits it. */
async function enter(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

const CREATIONS: Record<string, Creation> = {
  'a pet': {
    path: '/projects/demo/pets',
    async create(page, number) {
      await button(page, 'Add a pet').press('Enter');
      await enter(page, 'Name', `Pet ${number}`);
      await waitForFocus(page.getByRole('rowheader', { name: `Pet ${number}` }));
    },
  },
  'a pet with another cell in use': {
    path: '/projects/demo/pets',
    async create(page, number) {
      await page.getByRole('rowheader', { name: 'Biscuit' }).click();
      await page.keyboard.press('ArrowDown');
      await runCommand(page, 'add a pet', /^Add a pet/);
      await enter(page, 'Name', `Pet ${number}`);
      await waitForFocus(page.getByRole('rowheader', { name: `Pet ${number}` }));
    },
  },
  'made-up pets': {
    path: '/projects/happy-paws/pets',
    async create(page) {
      await button(page, 'More actions for the pets').press('Enter');
      await page.getByRole('menuitem', { name: 'Add made-up pets…' }).press('Enter');
      await page.keyboard.press('Enter');
      await page
        .getByText(/^[\d,]+ pets? added to /)
        .first()
        .waitFor();
    },
  },
  'an order': {
    path: '/projects/demo/pets/1',
    async create(page) {
      await button(page, 'Place an order').press('Enter');
      await reported(page, /order/);
    },
  },
  'a domain': {
    path: `${FULL_PROJECT}/domains`,
    async create(page, number) {
      await button(page, 'Attach a domain').press('Enter');
      await enter(page, 'Hostname', `shop${number}.acme.test`);
      await waitForFocus(page.getByRole('heading', { name: `shop${number}.acme.test` }));
    },
  },
  'a redirect': {
    path: `${FULL_PROJECT}/domains?show=redirects`,
    async create(page) {
      const remove = page.getByRole('button', { name: /^Remove the redirect/ });
      await button(page, 'Add a redirect').waitFor();
      if ((await remove.count()) > 0) await remove.press('Enter');
      await button(page, 'Add a redirect').press('Enter');
      await waitForFocus(page.getByRole('combobox', { name: 'From' }));
      await page.getByRole('combobox', { name: 'From' }).fill('www.happypaws.test');
      await page.getByRole('combobox', { name: 'To', exact: true }).fill('happypaws.example');
      await button(page, 'Save').press('Enter');
      await reported(page, 'The redirects apply now.');
    },
  },
  'an API key': {
    path: '/projects/demo/keys-and-limits',
    async create(page, number) {
      await button(page, 'New key').press('Enter');
      await enter(page, 'Name', `Key ${number}`);
      await waitForFocus(page.getByRole('heading', { name: `The secret of Key ${number}` }));
    },
  },
  'a zone': {
    path: '/dns',
    async create(page, number) {
      await runCommand(page, 'create a zone', /^Create a zone/);
      await enter(page, 'Name', `zone${number}.test`);
      await page.getByRole('heading', { name: `zone${number}.test` }).waitFor();
    },
  },
  // The form of the next record has the focus, until Escape closes it.
  'a record': {
    path: '/dns/happypaws.test',
    async create(page, number) {
      await button(page, 'Add a record').press('Enter');
      await page.getByLabel('Name', { exact: true }).fill(`record${number}`);
      await enter(page, 'Value', '192.0.2.1');
      await reported(page, new RegExp(`record${number}`));
      await waitForFocus(page.getByLabel('Name', { exact: true }));
      await page.keyboard.press('Escape');
    },
  },
  'a project': {
    path: '/projects',
    async create(page, number) {
      await runCommand(page, 'new project', /^New project/);
      await page.getByLabel('The sample API').check();
      await enter(page, 'Name', `Project ${number}`);
      await reported(page, `Created Project ${number}.`);
    },
  },
  'a deploy': {
    path: '/projects/demo/settings',
    async create(page) {
      await button(page, 'Deploy now').press('Enter');
      await reported(page, /^Deployed/);
    },
  },
  'a snapshot': {
    path: '/settings',
    async create(page, number) {
      await runCommand(page, 'save this world', /^Save this world/);
      const panel = dialog(page, 'Time and state');
      await waitForFocus(panel.getByLabel('Name'));
      await page.keyboard.type(`demo${number}`);
      await page.keyboard.press('Enter');
      await reported(page, new RegExp(`demo${number}`));
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });
    },
  },
  'a saved request': {
    path: '/projects/demo/api-reference/listPets',
    async create(page, number) {
      await button(page, 'Save…').press('Enter');
      await enter(page, 'Name of the request', `Request ${number}`);
      await reported(page, `Saved Request ${number}.`);
    },
  },
  'a saved filter': {
    path: '/projects/demo/traffic?filter=status:401',
    async create(page, number) {
      await button(page, 'Saved filters').press('Enter');
      await enter(page, 'Save status:401 as', `Filter ${number}`);
      await page.getByRole('link', { name: `Filter ${number} status:401` }).waitFor();
      await page.keyboard.press('Escape');
    },
  },
  'a break': {
    path: '/break-it/api.unavailable',
    async create(page) {
      await button(page, 'Break it').press('Enter');
      await page
        .getByRole('button', { name: /^Repair/ })
        .first()
        .waitFor();
    },
  },
};

/** What shows that the shortcut of this title has done what the list of shortcuts says. */
function effectOf(page: Page, title: string): Promise<void> {
  if (['Add a pet', 'Shortcuts', 'Time and state'].includes(title)) return dialog(page, title).waitFor();
  if (title === 'Show the shortcuts') return dialog(page, 'Shortcuts').waitFor();
  if (title === 'Switch to another project') return dialog(page, 'Projects').waitFor();
  if (title === 'Attach a domain') return waitForFocus(page.getByLabel('Hostname'));
  if (title === 'Query the DNS server') return waitForFocus(page.getByLabel('Query name'));
  if (title === 'Filter the traffic') return waitForFocus(page.getByRole('combobox', { name: 'Filter' }));
  if (title === 'Pause the list of traffic') return button(page, /^Resume/).waitFor();
  if (title.startsWith('Verify ')) return page.getByRole('region', { name: 'Checks' }).first().waitFor();
  if (title.startsWith('Add a record to ')) return waitForFocus(page.getByLabel('Name', { exact: true }));
  return waitForFocus(page.getByRole('searchbox', { name: title }));
}

/** The single keys of the list of shortcuts, by what it says of them. */
async function shortcuts(page: Page): Promise<Map<string, string>> {
  await page.keyboard.press('?');
  const rows = dialog(page, 'Shortcuts').locator('dl > div');
  await rows.first().waitFor();
  const texts = await rows.evaluateAll((all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? '')),
  );
  return new Map(texts.flatMap(([title = '', key = '']) => (/^.$/.test(key) ? [[title, key.toLowerCase()]] : [])));
}

it.each(Object.entries(CREATIONS))(
  'single keys do what the list of shortcuts says after creating %s',
  async (_what, { path, create }) => {
    const { page, visit } = await openPage({ path });
    await create(page, 1);
    const listed = await shortcuts(page);
    expect([...listed.keys()]).toContain('Time and state');
    let number = 1;
    for (const [title, key] of thirdOfToday([...listed])) {
      number += 1;
      // What the last key has opened goes with its page.
      await page.keyboard.press('Escape');
      await visit('/nowhere');
      await page.getByText('This page does not exist').waitFor();
      await visit(path);
      await create(page, number);
      await page.keyboard.press(key);
      await effectOf(page, title.replace(/\d+(?=\.)/, `${number}`));
    }
  },
  WALK_MS_MAX,
);

it.each([
  ['is listed without a read of the zones after it', true],
  ['is listed by the first read of the zones', false],
])('a key pressed at once acts on the new zone, which %s', async (_how, wasRead) => {
  const { page, open } = await openPage({ path: '/dns' });
  const zones = await holdCalls(page, 'zones/list');
  if (!wasRead) zones.hold();
  await open('/dns');
  if (wasRead) await page.getByRole('link', { name: /^happypaws\.test/ }).waitFor();
  await runCommand(page, 'create a zone', /^Create a zone/);
  zones.hold();
  await enter(page, 'Name', 'new.test');
  await page.getByRole('heading', { name: 'new.test' }).waitFor();
  await page.keyboard.press('n');
  if (!wasRead) zones.release();
  await waitForFocus(page.getByLabel('Name', { exact: true }));
});
