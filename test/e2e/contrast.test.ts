import { expect, it } from 'vitest';
import { unreadableButtons } from '../support/page-contrast.ts';
import { EVERY_PAGE, fillEveryPage, FULL_PROJECT, settled } from '../support/page-every.ts';
import { useEnginePages } from '../support/page-on-engine.ts';

const openPage = useEnginePages();

/** Every page in five states in one test, on a busy machine. */
const LOOK_MS_MAX = 180_000;

it(
  'is readable, the text of every button: at rest, under the pointer, pressed, focused and disabled, in every theme',
  async () => {
    const { page, engine, open } = await openPage({ path: '/', prepare: fillEveryPage });
    const found: string[] = [];
    for (const path of EVERY_PAGE) {
      await open(path);
      await settled(page);
      found.push(...(await unreadableButtons(page)).map((text) => `${path}: ${text}`));
    }
    await engine.call('projects.create', { name: 'Small', plan: 'free' });
    await open('/projects/small/domains');
    await page
      .getByRole('button', { name: /Attach a domain/ })
      .first()
      .click();
    await page.getByLabel('Hostname').fill('small.focus.test');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /Change the plan/ }).waitFor();
    found.push(...(await unreadableButtons(page)));
    await open(`${FULL_PROJECT}/general`);
    await page
      .getByRole('button', { name: /^Remove/ })
      .first()
      .click();
    await settled(page);
    found.push(...(await unreadableButtons(page)));
    expect([...new Set(found)]).toEqual([]);
  },
  LOOK_MS_MAX,
);
