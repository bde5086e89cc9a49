import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../support/engine.ts';
import { enter, openPage, waitForFocus } from '../support/page/page-on-engine.ts';

const PATH = '/projects/demo/keys-and-limits';
const HAPPY_PAWS = '/projects/happy-paws/keys-and-limits';

const plans = (page: Page) => page.getByRole('region', { name: 'Plan', exact: true });
const keys = (page: Page) => page.getByRole('region', { name: 'API keys' });
const meter = (page: Page, name: string) => page.getByRole('meter', { name });

async function ask(engine: Engine, times: number, key?: string | null): Promise<void> {
  for (let request = 0; request < times; request++) await engine.api(key === undefined ? {} : { key });
}

describe('the plan', () => {
  it('changes at once and can be undone, and shows how many domains Free would suspend', async () => {
    const { page, engine } = await openPage({ path: HAPPY_PAWS });
    await plans(page).getByText('would suspend 3 domains').waitFor();
    await plans(page).getByRole('button', { name: 'Change to Free' }).click();
    await page.getByText('Happy Paws is on Free now. 3 domains are suspended.').waitFor();
    await expect.poll(async () => (await engine.project('happy-paws')).plan).toBe('free');
    await page.keyboard.press('Control+z');
    await page.getByText('Happy Paws is on Pro again.').waitFor();
    await expect.poll(async () => (await engine.project('happy-paws')).plan).toBe('pro');
    const domains = await engine.call('domains.list');
    expect(domains.map(({ state }) => state)).not.toContain('suspended');
  });

  it('needs both limits for Enterprise, shows the engine’s message at the field, and keeps the input', async () => {
    const { page, engine } = await openPage({ path: PATH });
    await plans(page).getByRole('button', { name: 'Change to Enterprise…' }).click();
    const perMinute = page.getByRole('textbox', { name: 'Requests per minute' });
    const perDay = page.getByRole('textbox', { name: 'Requests per day' });
    await waitForFocus(perMinute);
    await perMinute.fill('5000');
    await enter(perDay, 'a lot');
    await expect.poll(() => perDay.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => perDay.evaluate((field) => field.getAttribute('aria-describedby'))).not.toBeNull();
    await expect.poll(() => perMinute.inputValue()).toBe('5000');
    await enter(perDay, '90000');
    await page.getByText('Demo is on Enterprise now: 5,000 a minute, 90,000 a day.').waitFor();
    await expect.poll(() => engine.demo()).toMatchObject({ plan: 'enterprise', limits: { perMinute: 5_000 } });
    await plans(page).getByRole('button', { name: 'Change its limits…' }).click();
    await expect.poll(() => perMinute.inputValue()).toBe('5000');
    await page.keyboard.press('Escape');
    await perMinute.waitFor({ state: 'detached' });
  });
});

describe('an API key', () => {
  it('is created by keyboard alone, shows its secret until that is acknowledged, works, and is metered live', async () => {
    const { page, engine, expectNoFaults } = await openPage({ path: PATH });
    await keys(page).getByText('not used yet').waitFor();
    await page.keyboard.press('n');
    await waitForFocus(page.getByRole('textbox', { name: 'Name' }));
    await page.keyboard.type('<b>Storefront</b>');
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'The secret of <b>Storefront</b>' });
    await panel.waitFor();
    const secret = await panel.getByText(/^viv_[0-9A-Za-z]{32}$/).innerText();
    await panel.getByRole('button', { name: 'Copy the secret of <b>Storefront</b>' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await expect
      .poll(() => panel.getByRole('group', { name: 'request with the secret' }).innerText())
      .toContain(secret);
    await expectNoFaults();

    await ask(engine, 3, secret);
    await expect
      .poll(() => meter(page, '<b>Storefront</b>: minute').getAttribute('aria-valuetext'))
      .toMatch(/^3 of 60 requests used, resets in/);

    // The secret remains after a visit to another page.
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'Home' }).click();
    await pages.getByRole('link', { name: 'Keys and limits' }).click();
    await panel.getByRole('button', { name: 'I have copied it' }).click();
    await panel.waitFor({ state: 'detached' });
    await waitForFocus(page.getByRole('button', { name: 'More about <b>Storefront</b>' }));
    await expect.poll(() => page.content()).not.toContain(secret);
  });

  it('is revoked only after a dialog that explains the loss, and is then listed separately', async () => {
    const { page, engine, expectNoFaults } = await openPage({ path: PATH });
    await page.getByRole('button', { name: 'More about Demo key' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke Demo key?' });
    await dialog.getByText('This cannot be undone').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    const { secret } = engine.app.demoKey() ?? { secret: '' };
    await page.getByRole('button', { name: 'More about Demo key' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await keys(page).getByText('No valid API key').waitFor();
    expect((await engine.api({ key: secret })).status).toBe(401);
    await keys(page).getByText('1 revoked key').click();
    await page.getByRole('list', { name: 'Revoked API keys' }).getByText('Demo key').waitFor();
    await expectNoFaults();
  });

  it('is shown with its last use, or as not used yet, and its open menu stays open at its first use', async () => {
    const { page, engine, visit } = await openPage({ path: PATH });
    await keys(page).getByText('not used yet').waitFor();
    await page.getByRole('button', { name: 'More about Demo key' }).click();
    await ask(engine, 1);
    await keys(page)
      .getByText(/used (now|\d+ \w+ ago)/)
      .waitFor();
    await page.getByRole('menuitem', { name: 'Revoke…' }).waitFor();
    await page.keyboard.press('Escape');
    await keys(page).getByText('not used yet').waitFor({ state: 'detached' });
    // A link leads to it, also below the first 25.
    const { id: projectId } = await engine.demo();
    for (let number = 1; number <= 25; number++) await engine.call('keys.create', { projectId });
    const [oldest] = (await engine.call('keys.list', { projectId })).toReversed();
    await visit(`${PATH}/${oldest?.id ?? ''}`);
    await meter(page, 'Demo key: day').waitFor();
    // A project may have none.
    await visit(HAPPY_PAWS);
    await keys(page).getByText('No API key yet').waitFor();
    await keys(page).getByRole('button', { name: 'New key' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('region', { name: 'The secret of Key 1' }).waitFor();
  });

  it('has one line of 32 pixels, and folds unused ones into one line', async () => {
    const { page } = await openPage({
      path: PATH,
      prepare: async (engine) => {
        const { id: projectId } = await engine.demo();
        for (const name of ['a', 'b', 'c', 'd']) await engine.call('keys.create', { projectId, name });
        await ask(engine, 61);
      },
    });
    const rowIn = (name: string) => keys(page).getByRole('list', { name, exact: true }).getByRole('listitem').first();
    const row = rowIn('Valid API keys');
    await row.getByText('1 of 20 strikes').waitFor();
    await expect.poll(async () => (await row.boundingBox())?.height).toBeLessThanOrEqual(33);
    await expect.poll(() => rowIn('Unused API keys').isVisible()).toBe(false);
    await keys(page).getByText('4 keys not used yet').click();
    await expect.poll(async () => (await rowIn('Unused API keys').boundingBox())?.height).toBeLessThanOrEqual(33);
  });
});

it('callers are shown with their strikes, and with the end of a ban and a button to lift it, and reset one by one or all', async () => {
  const { page, engine, expectNoFaults } = await openPage({ path: PATH, prepare: (engine) => ask(engine, 68) });
  await page.getByText('8 of 20 strikes').waitFor();
  await ask(engine, 12);
  await page.getByText('Banned', { exact: true }).waitFor();
  await ask(engine, 5, null);
  await meter(page, '127.0.0.1: minute').waitFor();
  await expectNoFaults();
  await page.getByRole('button', { name: 'Lift the ban of Demo key' }).click();
  await page.getByText('The ban of Demo key is lifted.').waitFor();
  await page.getByText('Banned', { exact: true }).waitFor({ state: 'detached' });
  expect((await engine.api()).headers['retry-after']).not.toBeUndefined();

  await page.getByRole('button', { name: 'More about Demo key' }).click();
  await page.getByRole('menuitem', { name: 'Reset its counters' }).click();
  await page.getByText('The counters of Demo key are at zero.').waitFor();
  expect((await engine.api()).status).toBe(200);
  await page.getByRole('button', { name: 'Reset the counters of 127.0.0.1' }).click();
  await page.getByText('No callers without a key').waitFor();

  // All at once, after a dialog.
  await ask(engine, 60);
  await keys(page).getByRole('button', { name: 'Reset all counters…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Reset all counters?' });
  await dialog.getByText('of 1 caller restart at zero').waitFor();
  await dialog.getByRole('button', { name: 'Reset' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await engine.api()).status).toBe(200);
});
