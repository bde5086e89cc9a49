import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { findViolations } from '../support/page/page-audit.ts';
import { MEDIA, unreadableButtons, unreadableTexts } from '../support/page/page-contrast.ts';
import {
  EVERY_PAGE,
  FULL_DOMAIN,
  FULL_PROJECT,
  fillEveryPage,
  fillWithLongTexts,
  settled,
} from '../support/page/page-every.ts';
import { enter, openPage } from '../support/page/page-on-engine.ts';
import { thirdOfToday } from '../support/third-of-today.ts';

/** Dozens of actions in one test, on a busy machine. */
const WALK_MS_MAX = 180_000;

/** Buttons that open a window, a system dialog or a network port, or change the machine's trust stores. */
const OUTSIDE =
  /Open in (?:browser|Chromium|Firefox)|Download|Export|Show in a window|Let other devices in|^(Trust|Untrust)/;

/** Rows are alike: only the buttons of the first ones are pressed. */
const CONTENT = '#main .content button:not([disabled], [aria-rowindex="4"] ~ * *)';
const HEADER = '#main header button';

/** The tag of the focused element: the body if the focus was lost. */
const focus = (page: Page) => page.evaluate<string>('document.activeElement.tagName');

/**
 * Focuses the button at this index in one turn of the page, and returns its name; null if it must not be pressed.
 */
const focusAt = (page: Page, buttons: string, index: number): Promise<string | null> =>
  page.locator(buttons).evaluateAll(
    (all, [at, outside]) => {
      const button = all[at];
      const name = (button?.ariaLabel ?? button?.textContent ?? '').trim();
      if (button?.checkVisibility({ visibilityProperty: true }) !== true || new RegExp(outside).test(name)) return null;
      button.focus();
      return name;
    },
    [index, OUTSIDE.source] as const,
  );

const IS_LONG = 'document.documentElement.scrollHeight > 2 * innerHeight';

describe('the page', () => {
  // The header and the navigation are the same on every page. A third of the buttons is pressed, and seen in a third of
  // the themes, another one every day; the next page has the next third of the themes.
  it.each(EVERY_PAGE.map((path, turn) => [path, turn === 0 ? `${CONTENT}, ${HEADER}` : CONTENT, turn]))(
    '%s is accessible to axe, readable in every state, not longer than two windows, and keeps the focus when a button is pressed by keyboard',
    async (path, buttons, turn) => {
      const { page, begin } = await openPage({ path, prepare: fillEveryPage });
      const place = turn === 0 ? 'body' : '#main';
      await settled(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expect.poll(() => unreadableTexts(page), { message: 'dark' }).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      await expect
        .poll(async () => [
          ...(await findViolations(page)).violations,
          ...(await unreadableTexts(page)),
          ...(await unreadableButtons(page, place, thirdOfToday(MEDIA, turn))),
        ])
        .toEqual([]);
      await expect.poll(() => page.evaluate(IS_LONG)).toBe(false);
      const indices = Array.from({ length: await page.locator(buttons).count() }, (_, index) => index);
      for (const index of thirdOfToday(indices)) {
        if (!page.url().endsWith(path)) {
          await page.goBack();
          if (!page.url().endsWith(path)) await begin(path);
          await settled(page);
        }
        const name = await focusAt(page, buttons, index);
        if (name === null) continue;
        for (const key of ['Enter', 'Escape']) {
          await page.keyboard.press(key);
          await settled(page);
          await expect.poll(() => focus(page), { message: `${name}, after ${key}` }).not.toBe('BODY');
        }
      }
    },
    WALK_MS_MAX,
  );

  it(
    'fits the longest names, limits, paths and responses without scrolling sideways, in windows of every size',
    async () => {
      const { page, engine, expectToFit } = await openPage({ prepare: fillEveryPage });
      for (const path of await fillWithLongTexts(engine)) {
        await expectToFit(path, async () => {
          await settled(page);
          if (!path.endsWith('/listPets')) return;
          await page.getByRole('button', { name: 'Send', exact: true }).click();
          await page.getByRole('group', { name: 'Show the response' }).getByLabel('As on the wire').check();
        });
      }
    },
    WALK_MS_MAX,
  );

  it('has readable buttons in a dialog and after a refused action', async () => {
    const { page, engine, visit } = await openPage({ path: `${FULL_PROJECT}/settings`, prepare: fillEveryPage });
    await page
      .getByRole('button', { name: /^Remove/ })
      .first()
      .click();
    await settled(page);
    await expect.poll(() => unreadableButtons(page)).toEqual([]);
    await engine.call('projects.create', { name: 'Small', plan: 'free' });
    await visit('/projects/small/domains');
    await page
      .getByRole('button', { name: /Attach a domain/ })
      .first()
      .click();
    await enter(page.getByLabel('Hostname'), 'a refused name');
    await page.getByRole('alert').first().waitFor();
    await expect.poll(() => unreadableButtons(page)).toEqual([]);
  });
});

it('the focus goes to the first invalid field of a refused form, even in a dialog, and to what replaces a removed button', async () => {
  const { page, visit } = await openPage({ path: `${FULL_PROJECT}/pets`, prepare: fillEveryPage });
  await page.getByRole('button', { name: 'Add a pet' }).click();
  await page.getByRole('button', { name: 'Add the pet' }).click();
  await expect
    .poll(() => page.locator(':focus').getAttribute('id'))
    .toBe(await page.getByLabel('Name', { exact: true }).getAttribute('id'));
  await page.keyboard.press('Escape');

  await visit(`${FULL_PROJECT}/domains/${FULL_DOMAIN}`);
  const put = page.getByRole('button', { name: /^Put it in my local zone/ }).first();
  await put.focus();
  await page.keyboard.press('Enter');
  await put.waitFor({ state: 'detached' });
  await expect.poll(() => focus(page)).not.toBe('BODY');
  await expect.poll(() => page.locator('main :focus').count()).toBe(1);
});
