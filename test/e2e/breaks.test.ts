import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { waitForFocus, openPage } from '../support/page/page-on-engine.ts';

/** A long scenario in one page, on a busy machine. */
const JOURNEY_MS = 120_000;

const HOSTNAME = 'demo.vivarium.localhost';
const DOMAIN = 'www.happypaws.test';
const ENTRY = 'http.empty-response';
const TITLE = 'Connection closed without an answer';

const region = (page: Page, name: string | RegExp) => page.getByRole('region', { name });
/** The running breaks, of an entry or of all. */
const now = (page: Page) => page.getByRole('main').getByRole('list', { name: 'Broken on purpose' });
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Break it' }).getByRole('link', { name });
/** The rows of the catalogue. */
const rows = (page: Page) => region(page, 'What can break').getByRole('link');

it(
  'the catalogue starts a break by keyboard that the client sees, every affected page names it, and it can be repaired',
  { timeout: JOURNEY_MS },
  async () => {
    const { page, engine, visit, expectNoFaults } = await openPage({ path: '/break-it' });
    const band = page.locator('.band');
    await region(page, 'What can break').getByRole('heading', { name: 'Most used' }).waitFor();

    // The catalogue can be searched by a client's error message.
    await page.keyboard.press('/');
    await page.keyboard.type('empty reply');
    await expect.poll(() => rows(page).count()).toBe(1);
    await rows(page).press('Enter');
    const entry = region(page, ENTRY);
    await entry.getByText('(52) Empty reply from server').waitFor();
    const hostname = page.getByRole('combobox', { name: 'Hostname', exact: true });
    await waitForFocus(hostname.filter({ hasText: 'All of Demo’s hostnames' }));
    await hostname.press('Enter');
    await page.getByRole('combobox', { name: 'Find in Hostname' }).fill('demo-stag');
    await expectNoFaults();
    await page.keyboard.press('Enter');
    await waitForFocus(hostname.filter({ hasText: 'demo-staging.vivarium.localhost' }));
    await hostname.press('Enter');
    await page.getByRole('option', { name: HOSTNAME, exact: true }).click();
    await expect.poll(() => hostname.innerText()).toBe(HOSTNAME);

    // A refusal focuses its field, even if the field is collapsed.
    await entry.getByText('More', { exact: true }).click();
    await entry.getByLabel('Path').fill('/v1/pets?limit=1');
    await entry.getByText('More', { exact: true }).click();
    await entry.getByRole('button', { name: 'Break it', disabled: false }).press('Enter');
    await expect.poll(() => entry.getByLabel('Path').and(page.locator(':focus')).count()).toBe(1);
    await entry.getByText(/without a query/).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('/v1/pets');
    // How often is one choice, with its number beside it.
    const often = entry.getByLabel('How often');
    await often.selectOption('A share');
    await entry.getByLabel('Share, in per cent').waitFor();
    await often.selectOption('Several of these');
    await expect.poll(() => entry.getByLabel(/^(Only the first|Not the first|Only every n-th|Share)/).count()).toBe(4);
    await often.selectOption('First N');
    const first = entry.getByLabel('Only the first');
    await first.fill('0');
    await first.press('Enter');
    await first.and(page.locator(':focus[aria-invalid=true]')).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await now(page).getByText(`/v1/pets · ${HOSTNAME}`).waitFor();
    await expect(engine.api()).rejects.toMatchObject({ code: 'ECONNRESET' });
    await now(page).getByText('the first 2 · 1 of 1 struck').waitFor();
    expect((await engine.api({ path: '/v1/pets/1' })).status).toBe(200);
    await expectNoFaults();

    await visit('/projects/demo/traffic');
    await band.waitFor();
    await region(page, 'Entries').getByTitle(`Broken on purpose: ${TITLE}`).click();
    const struck = region(page, /^Entry trf_/);
    await struck.getByRole('button', { name: 'Repair', disabled: false }).press('Enter');
    await band.waitFor({ state: 'detached' });
    await struck.getByText('repaired since').waitFor();
    await expect.poll(() => page.locator('main :focus').count()).toBe(1);
    expect((await engine.api()).status).toBe(200);
    await expectNoFaults();

    // A break started elsewhere shows on every page until it ends on the app's clock.
    await visit(`/projects/happy-paws/domains/${DOMAIN}`);
    await page.getByRole('heading', { name: DOMAIN }).waitFor();
    const note = page.getByRole('list', { name: 'Broken on purpose' });
    await engine.call('breaks.start', { entry: ENTRY, on: { hostname: DOMAIN }, for: 'PT1H' });
    await note.getByText(TITLE).waitFor();
    await expect.poll(() => region(page, 'Current state').count()).toBe(0);
    await engine.call('breaks.start', { entry: ENTRY, on: { hostname: HOSTNAME }, for: 'PT3H' });
    // The band names that of the project on the page.
    await page.getByRole('link', { name: '2 breaks' }).waitFor();
    await expect.poll(() => band.innerText()).toMatch(/in Happy Paws\s+for (?:1 h|59 min)/);
    await visit('/projects');
    await expect.poll(() => page.getByText('broken on purpose', { exact: true }).count()).toBe(2);
    await visit('/projects/demo');
    await page.getByText('broken on purpose', { exact: true }).waitFor();
    await visit(`/projects/happy-paws/domains/${DOMAIN}`);
    await expectNoFaults();
    await engine.call('clock.advance', { by: 'PT2H' });
    await page.getByRole('link', { name: '2 breaks' }).waitFor({ state: 'detached' });
    await expect.poll(() => note.count()).toBe(0);

    // From the menu of the domain to the catalogue, with its hostname chosen.
    await page
      .getByRole('button', { name: `More for ${DOMAIN}` })
      .last()
      .press('Enter');
    await page.getByRole('menuitem', { name: 'Break it' }).press('Enter');
    // The whole catalogue fits into the window, below the band.
    await rows(page).first().waitFor();
    await expect.poll(() => page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBe(0);
    await page.getByRole('searchbox').fill(ENTRY);
    await rows(page).press('Enter');
    await expect.poll(() => hostname.innerText()).toBe(DOMAIN);

    await page.keyboard.press('Control+k');
    await page.keyboard.type('repair everything');
    await page.keyboard.press('Enter');
    await page.getByText(`Repaired: ${TITLE}.`).first().waitFor();
    await tab(page, 'Running').press('Enter');
    await region(page, 'Broken now').getByText('Nothing is broken').waitFor();
    expect((await engine.api()).status).toBe(200);
  },
);

it('the catalogue shows every entry’s name and id in full beside an entry, in two lines where they need them', async () => {
  const { page } = await openPage({ path: '/break-it', viewport: { width: 1_100, height: 20_000 } });
  await rows(page).last().waitFor();
  const parts = rows(page).locator('.ellipsis');
  await expect.poll(() => parts.count()).toBeGreaterThan(200);
  const cut = await parts.evaluateAll((all) =>
    all.filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.textContent),
  );
  expect(cut).toEqual([]);
});

it('a break that has struck as often as it should is not counted as running', async () => {
  const { page, engine, expectNoFaults } = await openPage({ path: '/break-it/running' });
  await engine.call('breaks.start', { entry: ENTRY, on: { hostname: HOSTNAME }, first: 1, for: 'PT1H' });
  await tab(page, 'Running (1)').waitFor();
  await expect(engine.api()).rejects.toMatchObject({ code: 'ECONNRESET' });
  await region(page, 'Earlier').getByText('1 of 1 struck · done').waitFor();
  await expect.poll(() => region(page, 'Earlier').getByRole('button').count()).toBe(0);
  await region(page, 'Broken now').getByText('Nothing is broken').waitFor();
  await expect.poll(() => tab(page, 'Running').innerText()).toBe('Running');
  await expect.poll(() => page.locator('.band').count()).toBe(0);
  await expectNoFaults();
});

it('the breaks of removed domains end with them, and Undo starts them again for the rest of their time', async () => {
  const path = '/projects/happy-paws/domains';
  const { page, engine, visit } = await openPage({ path: `${path}/${DOMAIN}` });
  const reports = region(page, 'Reports');
  const breaks = async () => {
    const running = await engine.call('breaks.list');
    return running.map(({ entry, on, rate, until }) => [entry, on.hostname, rate, Date.parse(until)]);
  };
  const sorted = async () => (await breaks()).toSorted();
  await engine.call('clock.freeze');
  await engine.call('breaks.start', { entry: ENTRY, on: { hostname: DOMAIN }, rate: 0.5, for: 'PT1H' });
  await engine.call('breaks.start', { entry: 'domain.wrong-target', on: { hostname: DOMAIN }, for: 'PT2H' });
  await engine.call('breaks.start', { entry: 'dns.servfail', on: { hostname: DOMAIN, type: 'TXT' }, for: 'PT3H' });
  const before = await breaks();
  const [, , ofDns] = before;

  await page
    .getByRole('button', { name: `More for ${DOMAIN}` })
    .last()
    .press('Enter');
  await page.getByRole('menuitem', { name: 'Remove' }).press('Enter');
  await reports.getByText(`No longer broken: ${TITLE}, The CNAME points elsewhere.`).first().waitFor();
  await expect.poll(breaks).toEqual([ofDns]);
  await engine.call('clock.advance', { by: 'PT10M' });
  await page.keyboard.press('Control+z');
  await reports.getByText(`Broken again: ${TITLE}, The CNAME points elsewhere.`).first().waitFor();
  await expect.poll(sorted).toEqual(before.toSorted());

  await visit(path);
  await page.getByRole('checkbox', { name: `Select ${DOMAIN}` }).check();
  await page.getByRole('checkbox', { name: 'Select happypaws.example' }).check();
  await page.getByRole('button', { name: 'More for these domains' }).click();
  await page.getByRole('menuitem', { name: 'Remove these' }).press('Enter');
  await reports.getByText('Removed 2 domains').first().waitFor();
  await expect.poll(breaks).toEqual([ofDns]);
  await page.keyboard.press('Control+z');
  await page.getByText('2 domains attached again').waitFor();
  await expect.poll(sorted).toEqual(before.toSorted());
});

it('a drill can be played by keyboard, from its story to the fix', { timeout: JOURNEY_MS }, async () => {
  const { page, engine, expectNoFaults } = await openPage({ path: '/break-it' });
  const title = 'The client hammers on after a 429';
  const focused = () => page.locator('main :focus').count();
  const drill = region(page, title);
  const choose = async (text: RegExp): Promise<void> => {
    await drill.getByRole('radio', { name: text }).press('Space');
    await drill.getByRole('button', { name: 'Answer', disabled: false }).waitFor();
    await page.keyboard.press('Enter');
  };

  await tab(page, 'Drills').press('Enter');
  await region(page, 'Drills').getByRole('listitem').nth(11).waitFor();
  await page.getByRole('button', { name: `Start: ${title}`, disabled: false }).press('Enter');
  await drill.getByText('Is the API broken?').waitFor();
  await page.getByText('A drill is running').waitFor();
  await expect.poll(focused).toBe(1);

  const command = await drill.getByText(/^curl -i /).textContent();
  const key = /viv_\w+/.exec(command ?? '')?.[0] ?? '';
  const asked = { host: 'drill.vivarium.localhost', key };
  await engine.call('clock.freeze');
  const statuses = [];
  for (let sent = 0; sent < 6; sent++) statuses.push((await engine.api(asked)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);

  for (let left = 3; left > 0; left--) {
    await drill.getByRole('button', { name: `Hint (${left} left)`, disabled: false }).press('Enter');
    await expect.poll(() => drill.getByRole('list', { name: 'Hints' }).getByRole('listitem').count()).toBe(4 - left);
  }
  await expect.poll(focused).toBe(1);
  await choose(/overloaded/);
  const announced = drill.locator('[aria-live=polite]');
  await announced.getByText('No. An overloaded server').waitFor();
  await announced.getByRole('list', { name: 'Hints' }).waitFor();
  await choose(/as long as Retry-After/);
  await drill.getByText(/none came after it/).waitFor();
  const check = drill.getByRole('button', { name: 'Check the fix', disabled: false });
  await expect.poll(() => check.and(page.locator(':focus')).count()).toBe(1);
  await expectNoFaults();

  await engine.call('clock.advance', { by: 'PT1M' });
  expect((await engine.api(asked)).status).toBe(200);
  await check.press('Enter');
  const result = region(page, `Fixed: ${title}`);
  await result.getByText('3 hints, 1 wrong answer, 7 requests.').waitFor();
  await page.getByText('A drill is running').waitFor({ state: 'detached' });
  await expect.poll(focused).toBe(1);
  await region(page, 'Drills')
    .getByText(/^Fixed in/)
    .waitFor();
  await expectNoFaults();

  // The drill is given up from the band.
  await page.setViewportSize({ width: 1_280, height: 500 });
  const isAtTop = () => page.evaluate<boolean>('scrollY === 0');
  const last = page.getByRole('button', { name: /^Start: Issuance stopped/, disabled: false });
  await last.scrollIntoViewIfNeeded();
  await expect.poll(isAtTop).toBe(false);
  await last.press('Enter');
  await page.getByText('A drill is running').waitFor();
  await expect.poll(isAtTop).toBe(true);
  await page.getByRole('button', { name: 'End the drill', disabled: false }).first().press('Enter');
  await page.getByText('The drill has ended.').waitFor();
  await page.getByText('A drill is running').waitFor({ state: 'detached' });
  // Not at a button, such as the next statement's.
  await waitForFocus(page.getByRole('heading', { level: 1 }));
});
