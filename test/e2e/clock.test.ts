import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { expectNoFaults, runCommand, waitForFocus, useEnginePages } from '../support/page/page-on-engine.ts';

const openPage = useEnginePages();

const seen = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const report = (page: Page, text: string | RegExp) =>
  page.getByRole('region', { name: 'Reports' }).getByText(text).waitFor();

async function openClock(page: Page) {
  await page.getByRole('button', { name: 'The app’s clock' }).click();
  const panel = page.getByRole('dialog', { name: 'The app’s clock' });
  await panel.waitFor();
  return panel;
}

const offsetOf = async (engine: { call(procedure: string): Promise<unknown> }) =>
  (await engine.call('clock.get')) as { now: string; offset: string; frozen: boolean };

describe('the clock in the header', () => {
  it('moves forward by a preset, reports what fell due, and shows a band until it is reset', async () => {
    const opened = await openPage();
    const { page, engine } = opened;
    await engine.api();
    const panel = await openClock(page);
    await expectNoFaults(opened);
    await panel.getByRole('button', { name: '+90 days' }).click();
    await report(
      page,
      /^Forward by 90 days\. 3 domains were checked again\. .*www\.happypaws\.test \(project Happy Paws\) was renewed\./,
    );
    await seen(page, 'The app’s clock is 90 days ahead of the real time.');
    await page.getByRole('button', { name: 'The app’s clock' }).getByText('moved').waitFor();
    await expect.poll(async () => (await offsetOf(engine)).offset).toBe('PT2160H');
    await expectNoFaults(opened);
    await panel.getByRole('button', { name: 'Reset to the real time' }).click();
    await report(page, 'Back to the real time.');
    await page.getByText('The app’s clock is 90 days ahead of the real time.').waitFor({ state: 'detached' });
  });

  it('moves forward by any duration, and shows the engine’s message at the field', async () => {
    const { page, engine } = await openPage();
    const panel = await openClock(page);
    const field = panel.getByLabel('Forward by', { exact: true });
    await field.fill('soon');
    await page.keyboard.press('Enter');
    await panel.getByText('must be a duration such as').waitFor();
    await expect.poll(() => field.inputValue()).toBe('soon');
    await field.fill('1 day 2 h');
    await page.keyboard.press('Enter');
    await report(page, /^Forward by 1 day 2 h\./);
    await expect.poll(async () => (await offsetOf(engine)).offset).toBe('PT26H');
    await field.fill('P999999W');
    await page.keyboard.press('Enter');
    await panel.getByText(/The clock can show 1970/).waitFor();
  });

  it('can be set to a date and time in the reader’s time zone', async () => {
    const { page, engine } = await openPage({ timezoneId: 'Europe/Berlin' });
    const panel = await openClock(page);
    await panel.getByLabel('Set to').fill('2030-12-05T00:30:15');
    await panel.getByRole('button', { name: 'Set', exact: true }).click();
    await report(page, /^Set to 5 Dec 2030, 00:30:/);
    await expect.poll(async () => (await offsetOf(engine)).now).toMatch(/^2030-12-04T23:30:/);
    await panel.getByRole('button', { name: 'To 5 Dec 2030' }).click();
    await report(page, /GET \/pets\/\{petId\} is removed: it answers 410\./);
    expect((await engine.api({ path: '/v1/pets/1' })).status).toBe(410);
  });

  it('can be frozen and resumed, and moved from the palette', async () => {
    const { page, engine } = await openPage();
    const panel = await openClock(page);
    await panel.getByRole('button', { name: 'Freeze' }).click();
    await seen(page, 'The app’s clock is frozen, at the real time.');
    await expect.poll(async () => (await offsetOf(engine)).frozen).toBe(true);
    await page.keyboard.press('Escape');
    await runCommand(page, 'forward hour', /^Forward the clock by 1 hour/);
    await report(page, /^Forward by 1 hour\./);
    await seen(page, 'The app’s clock is frozen, 1 h ahead of the real time.');
    await page.keyboard.press('t');
    await panel.getByRole('button', { name: 'Let it run' }).click();
    await seen(page, 'The app’s clock is 1 h ahead of the real time.');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.keyboard.press('t');
    await waitForFocus(panel.getByLabel('Forward by', { exact: true }));
    await page.keyboard.type('48 hours');
    await page.keyboard.press('Enter');
    await report(page, /^Forward by (?:48 hours|2 days)\./);
  });
});
