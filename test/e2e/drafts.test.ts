import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { enter, openPage, waitForFocus } from '../support/page/page-on-engine.ts';
import { fillEveryPage, FULL_PROJECT } from '../support/page/page-every.ts';

/** Nine forms, three times, on a busy machine. */
const WALK_MS_MAX = 240_000;

/** A form: its page, the button that opens it, and one of its fields. */
interface FormOnPage {
  path: string;
  opens?: string;
  field: string;
  /** The panel or dialog of the field. */
  within?: string;
  typed: string;
}

const FORMS: FormOnPage[] = [
  { path: `${FULL_PROJECT}/settings`, within: 'Name and address', field: 'Name', typed: 'Unsaved name' },
  { path: `${FULL_PROJECT}/keys-and-limits`, within: 'Bans', field: 'Refusals that ban a key', typed: '7' },
  { path: `${FULL_PROJECT}/domains`, opens: 'Attach a domain', field: 'Hostname', typed: 'unsaved.focus.test' },
  { path: `${FULL_PROJECT}/keys-and-limits`, opens: 'New key', field: 'Name', within: 'New API key', typed: 'Unsaved' },
  { path: `${FULL_PROJECT}/pets`, opens: 'Add a pet', within: 'Add a pet', field: 'Name', typed: 'Unsaved pet' },
  { path: '/dns', opens: 'Create a zone', within: 'Create a zone', field: 'Name', typed: 'unsaved.test' },
  { path: '/dns/focus.test', opens: 'Add a record', within: 'New record', field: 'Value', typed: '192.0.2.9' },
  { path: `${FULL_PROJECT}/api-reference/-request`, within: 'Send', field: 'Body, as text', typed: '{"unsaved": 1}' },
  { path: '/dns', within: 'Query', field: 'Query name', typed: 'unsaved.focus.test' },
];

async function fieldOf(page: Page, { opens, within, field }: FormOnPage) {
  if (opens !== undefined) await page.getByRole('button', { name: opens, exact: true }).first().click();
  const name = { name: within ?? '', exact: true };
  const place = page.getByRole('region', name).or(page.getByRole('form', name)).or(page.getByRole('dialog', name));
  return (within === undefined ? page : place).getByLabel(field, { exact: true }).first();
}

describe('an unsaved draft', () => {
  it('in any form survives leaving the page and a reload', { timeout: WALK_MS_MAX }, async () => {
    const { page, visit } = await openPage({ prepare: fillEveryPage });
    for (const form of FORMS) {
      await visit(form.path);
      await (await fieldOf(page, form)).fill(form.typed);
      if ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape');
    }
    await page.getByRole('link', { name: 'This machine' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'This machine' }).waitFor();
    for (const isReloaded of [false, true]) {
      if (isReloaded) await page.reload();
      for (const form of FORMS) {
        await visit(form.path);
        const field = await fieldOf(page, form);
        await expect.poll(() => field.inputValue(), { message: `${form.field} on ${form.path}` }).toBe(form.typed);
        if ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape');
      }
    }
  });

  it('is removed once it is saved or discarded', async () => {
    const { page, open, visit } = await openPage({ path: `${FULL_PROJECT}/settings` });
    const name = page.getByRole('region', { name: 'Name and address' }).getByLabel('Name');
    const path = new URL(page.url()).pathname;
    await enter(name, 'Sent name');
    await page.getByText('Saved Sent name.').waitFor();
    await name.fill('Discarded name');
    await page.getByRole('button', { name: 'Discard' }).first().click();
    await waitForFocus(name);
    await visit('/doctor');
    await open(path);
    await expect.poll(() => name.inputValue()).toBe('Sent name');
    await expect
      .poll(() => page.evaluate('Object.keys(sessionStorage).filter((key) => key.includes("draft"))'))
      .toEqual([]);
  });

  it('of the redirects or the configuration is restored too', async () => {
    const path = `${FULL_PROJECT}/domains`;
    const { page, open, visit } = await openPage({ path: `${path}?show=redirects`, prepare: fillEveryPage });
    await page.getByRole('button', { name: 'Add a redirect' }).first().click();
    await page.getByLabel('From', { exact: true }).last().fill('old.focus.test');
    await visit('/doctor');
    await open(`${path}?show=redirects`);
    await expect.poll(() => page.getByLabel('From', { exact: true }).last().inputValue()).toBe('old.focus.test');
    const configuration = page.getByRole('textbox', { name: 'Configuration' });
    await visit(`${path}?show=configuration`);
    await configuration.fill('{"primary": null}');
    await visit('/doctor');
    await open(`${path}?show=configuration`);
    await expect.poll(() => configuration.inputValue()).toBe('{"primary": null}');
  });
});

it('the secret of a new key stays visible across reloads until it has been copied, and is then removed from the tab’s storage', async () => {
  const path = `${FULL_PROJECT}/keys-and-limits`;
  const { page, open, visit } = await openPage({ path });
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const copied = page.getByRole('button', { name: 'I have copied it' });
  await copied.waitFor();
  await visit('/doctor');
  await open(path);
  await copied.click();
  await visit('/doctor');
  await open(path);
  await page.getByRole('button', { name: 'New key' }).waitFor();
  await expect.poll(() => copied.count()).toBe(0);
  await expect.poll(() => page.evaluate<string>('JSON.stringify(sessionStorage)')).not.toContain('viv_');
});
