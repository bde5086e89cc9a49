import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Engine } from '../support/engine.ts';
import { enter, pressAll, runCommand, seen, openPage, waitForFocus } from '../support/page/page-on-engine.ts';

const report = (page: Page, text: string | RegExp) =>
  page.getByRole('region', { name: 'Reports' }).getByText(text).waitFor();

async function openClock(page: Page) {
  await page.getByRole('button', { name: 'Time and state' }).click();
  const panel = page.getByRole('dialog', { name: 'Time and state' });
  await panel.waitFor();
  return panel;
}

const clockOf = (engine: Engine) => engine.call('clock.get');

describe('the clock in the header', () => {
  it('moves forward by a preset or any duration, reports what fell due, and shows a band until it is reset', async () => {
    const { page, engine, expectNoFaults } = await openPage();
    await engine.api();
    const panel = await openClock(page);
    await panel.getByRole('button', { name: '+90 days' }).click();
    await report(
      page,
      /^Forward by 90 days\. 3 domains were checked again\. .*www\.happypaws\.test \(project Happy Paws\) was renewed\./,
    );
    await seen(page, 'The simulated clock is 90 days ahead of the real time.');
    await page.getByRole('button', { name: 'Time and state' }).getByText('simulated clock').waitFor();
    await expect.poll(async () => (await clockOf(engine)).offset).toBe('PT2160H');
    await expectNoFaults();
    await panel.getByRole('button', { name: 'Back to the real time' }).click();
    await report(page, 'Back to the real time.');
    await page.getByText('The simulated clock is 90 days ahead of the real time.').waitFor({ state: 'detached' });

    // Any duration, with the engine's message at the field.
    const field = panel.getByLabel('Forward by', { exact: true });
    await enter(field, 'soon');
    await panel.getByText('must be a duration such as').waitFor();
    await expect.poll(() => field.inputValue()).toBe('soon');
    await enter(field, '1 day 2 h');
    await report(page, /^Forward by 1 day 2 h\./);
    await expect.poll(async () => (await clockOf(engine)).offset).toBe('PT26H');
    await enter(field, 'P999999W');
    await panel.getByText(/The clock can show 1970/).waitFor();
  });

  it('can be set to a date and time in the reader’s time zone', async () => {
    const { page, engine } = await openPage({ timezoneId: 'Europe/Berlin' });
    const panel = await openClock(page);
    await panel.getByLabel('Set to').fill('2030-12-05T00:30:15');
    await panel.getByRole('button', { name: 'Set', exact: true }).click();
    await report(page, /^Set to 5 Dec 2030, 00:30:/);
    await expect.poll(async () => (await clockOf(engine)).now).toMatch(/^2030-12-04T23:30:/);
    await panel.getByRole('button', { name: 'To 5 Dec 2030' }).click();
    await report(page, /GET \/pets\/\{petId\} is removed: it answers 410\./);
    expect((await engine.api({ path: '/v1/pets/1' })).status).toBe(410);
  });

  it('can be frozen and resumed, and moved from the palette', async () => {
    const { page, engine } = await openPage();
    const panel = await openClock(page);
    await panel.getByRole('button', { name: 'Freeze' }).click();
    await seen(page, 'The simulated clock is frozen, at the real time.');
    await expect.poll(async () => (await clockOf(engine)).frozen).toBe(true);
    await page.keyboard.press('Escape');
    await runCommand(page, 'forward hour', /^Forward the clock by 1 hour/);
    await report(page, /^Forward by 1 hour\./);
    await seen(page, 'The simulated clock is frozen, 1 h ahead of the real time.');
    await page.keyboard.press('t');
    await panel.getByRole('button', { name: 'Let it run' }).click();
    await seen(page, 'The simulated clock is 1 h ahead of the real time.');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.keyboard.press('t');
    await waitForFocus(panel.getByLabel('Forward by', { exact: true }));
    await page.keyboard.type('48 hours');
    await page.keyboard.press('Enter');
    await report(page, /^Forward by (?:48 hours|2 days)\./);
  });
});

it('two keys on any page restore the newest saved world with its clock and Traffic, which can be undone', async () => {
  const { page, engine, expectNoFaults } = await openPage();
  await runCommand(page, 'save this world', /^Save this world/);
  const panel = page.getByRole('dialog', { name: 'Time and state' });
  await panel.getByText('Save the world before a demo').waitFor();
  await waitForFocus(panel.getByLabel('Name'));
  await page.keyboard.type('Before Demo');
  await page.keyboard.press('Enter');
  await panel.getByText('must be 1 to 64 lower-case letters').waitFor();
  await panel.getByLabel('Name').fill('before-demo');
  await engine.api({ path: '/v1/pets?limit=7' });
  await panel.getByRole('switch', { name: 'Include Traffic' }).check();
  await panel.getByLabel('Name').press('Enter');
  await page.getByText('Saved the world “before-demo”.').waitFor();
  await panel.getByRole('button', { name: 'Restore before-demo' }).waitFor();
  await panel.getByText('with 1 recorded request').waitFor();
  await expectNoFaults();

  await engine.call('projects.create', { name: 'Only of now' });
  await engine.api({ path: '/v1/pets?limit=8' });
  await engine.call('clock.advance', { by: 'P3D' });
  const moved = page.getByText(/The simulated clock is .+ the real time/);
  await moved.waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('navigation').getByRole('link', { name: 'Traffic', exact: true }).click();
  const row = (limit: number) => page.getByText(`/v1/pets?limit=${limit}`, { exact: true }).first();
  await row(8).waitFor();
  await pressAll(page, 's', 'r');
  await page.getByText('The world “before-demo” is restored.').waitFor();
  const names = async () => (await engine.call('projects.list')).map(({ name }) => name);
  await expect.poll(() => names()).not.toContain('Only of now');
  await moved.waitFor({ state: 'detached' });
  await row(8).waitFor({ state: 'detached' });
  await row(7).waitFor();
  await page.keyboard.press('Control+z');
  await page.getByText('The world is as it was before.').waitFor();
  await expect.poll(() => names()).toContain('Only of now');
  await moved.waitFor();
  await row(8).waitFor();

  await page.keyboard.press('t');
  await panel.getByRole('button', { name: 'Remove before-demo' }).click();
  await page.getByRole('button', { name: 'Remove it' }).click();
  await page.getByText('Removed the world “before-demo”.').waitFor();
  await panel.getByRole('button', { name: 'Restore before-demo' }).waitFor({ state: 'detached' });
});

it('one line says what is not as usual: the most urgent leads, and its menu has the others', async () => {
  const { page, engine, expectNoFaults } = await openPage();
  await engine.call('clock.advance', { by: 'P3D' });
  await page.getByText('The simulated clock is 3 days ahead of the real time.').waitFor();
  const on = { hostname: 'demo.vivarium.localhost' };
  await engine.call('breaks.start', { entry: 'api.unavailable', on, for: 'PT9M30S' });
  await page.locator('.band').getByText('503 with Retry-After').waitFor();
  for (const width of [1_440, 420]) {
    await page.setViewportSize({ width, height: 900 });
    const band = page.locator('.band');
    await expect.poll(async () => (await band.boundingBox())?.height ?? Number.NaN).toBeLessThanOrEqual(36);
  }
  // What is narrow keeps the whole name of the break.
  const excess = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.band p a'))`;
  await expect.poll(() => page.evaluate(excess)).toBe(0);
  await page.getByRole('button', { name: '1 more' }).click();
  const menu = page.getByRole('dialog', { name: 'More that is not as usual' });
  await expectNoFaults();
  await menu.getByRole('button', { name: 'Back to the real time' }).click();
  await menu.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Repair', exact: true }).click();
  await page.locator('.band').waitFor({ state: 'detached' });
});
