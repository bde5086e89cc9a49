import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { EVERY_PAGE, FULL_DOMAIN, FULL_PROJECT, fillEveryPage, settled } from '../support/page-every.ts';
import { useEnginePages } from '../support/page-on-engine.ts';

const openPage = useEnginePages();

/** Dozens of actions in one test, on a busy machine. */
const WALK_MS_MAX = 180_000;

/** What opens another window or a dialog of the system, or changes the machine's trust stores. */
const OUTSIDE = /Open in browser|Download|Export|Show in a window|^(Trust|Untrust)/;

const CONTENT = '#main .content button:not([disabled])';
const HEADER = '#main header button';

/** What has the focus; what should not is the body. */
const focus = (page: Page) => page.evaluate<string>('document.activeElement.tagName');

describe('the focus', () => {
  // The header is the same on every page.
  it.each(EVERY_PAGE.map((path, index) => [path, index === 0 ? `${CONTENT}, ${HEADER}` : CONTENT]))(
    'stays on the page whatever button is pressed by keyboard: %s',
    async (path, buttons) => {
      const { page, open } = await openPage({ path, prepare: fillEveryPage });
      await settled(page);
      const names = await page
        .locator(buttons)
        .evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent));
      const lost: string[] = [];
      for (const [index, name] of names.entries()) {
        if (OUTSIDE.test(name.trim())) continue;
        if (!page.url().endsWith(path)) await open(path);
        const button = page.locator(buttons).nth(index);
        if (!(await button.isVisible().catch(() => false))) continue;
        await button.focus();
        await page.keyboard.press('Enter');
        await settled(page);
        if ((await focus(page)) === 'BODY') lost.push(`${name.trim()}: pressed`);
        await page.keyboard.press('Escape');
        await settled(page);
        if ((await focus(page)) === 'BODY') lost.push(`${name.trim()}: left by Escape`);
      }
      expect(lost).toEqual([]);
    },
    WALK_MS_MAX,
  );

  it('goes to the first faulty field of a refused form, in a dialog too', async () => {
    const { page } = await openPage({ path: `${FULL_PROJECT}/pets` });
    await page.getByRole('button', { name: 'Add a pet' }).click();
    await page.getByRole('button', { name: 'Add the pet' }).click();
    await expect
      .poll(() => page.locator(':focus').getAttribute('id'))
      .toBe(await page.getByLabel('Name', { exact: true }).getAttribute('id'));
  });

  it('goes to what took the place of a button that its action removed', async () => {
    const { page } = await openPage({ path: `${FULL_PROJECT}/domains/${FULL_DOMAIN}`, prepare: fillEveryPage });
    const put = page.getByRole('button', { name: /^Put it in my local zone/ }).first();
    await put.focus();
    await page.keyboard.press('Enter');
    await put.waitFor({ state: 'detached' });
    await expect.poll(() => focus(page)).not.toBe('BODY');
    expect(await page.locator('main :focus').count()).toBe(1);
  });
});
