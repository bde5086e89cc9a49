import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Engine } from '../support/engine.ts';
import { enter, holdCalls, runCommand, seen, openPage, waitForFocus } from '../support/page/page-on-engine.ts';
import { closedPort } from '../support/ports.ts';

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

/** Creates `count` more projects, as a script would. */
async function makeProjects(engine: Engine, count: number): Promise<void> {
  for (let index = 1; index <= count; index++) await engine.call('projects.create', { name: `Project ${index}` });
}

describe('the project switcher', () => {
  it('finds one project among many by a few letters, with the keyboard alone, and stays on the same page', async () => {
    const { page, expectNoFaults } = await openPage({
      prepare: (engine) => makeProjects(engine, 120),
      path: '/projects/demo/settings',
    });
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await page.keyboard.press('p');
    const list = page.getByRole('dialog', { name: 'Projects' });
    await list.getByText('and 72 more; type to find one').waitFor();
    await expect.poll(() => list.getByRole('option').count()).toBe(50);
    await expectNoFaults();
    await waitForFocus(list.getByRole('combobox'));
    await page.keyboard.type('happy');
    await list.getByRole('option', { name: 'Happy Paws' }).waitFor();
    await expect.poll(() => list.getByRole('option').count()).toBe(1);
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/happy-paws/settings');
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Happy Paws');
  });

  it('shows similar long names in full, in the list and in the header', async () => {
    const name = (which: string): string => `Customer portal with a long name of the ${which}`;
    const { page } = await openPage({
      path: '/projects/demo',
      prepare: async (engine) => {
        for (const which of ['north', 'south']) await engine.call('projects.create', { name: name(which) });
      },
    });
    await page.getByRole('button', { name: 'Project: Demo' }).click();
    await page.getByRole('combobox', { name: 'Find a project' }).fill('portal');
    const options = page.getByRole('dialog', { name: 'Projects' }).getByRole('option');
    await expect.poll(() => options.count()).toBe(2);
    const cut = () =>
      options
        .locator('.name, .slug')
        .evaluateAll((texts: { scrollWidth: number; clientWidth: number }[]) =>
          texts.filter((text) => text.scrollWidth > text.clientWidth),
        );
    await expect.poll(cut).toEqual([]);
    await options.filter({ hasText: name('south') }).click();
    await page.getByRole('banner').or(page.locator('main > header')).getByText(name('south')).first().waitFor();
  });

  it('reports that no project matches, closes with Escape, and opens from the palette too', async () => {
    const { page } = await openPage();
    await page.getByRole('button', { name: 'Project: Demo' }).click();
    await page.getByRole('combobox', { name: 'Find a project' }).fill('zebra');
    await page.getByText('No project matches.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.innerText')).toContain('Demo');
    // The palette has it too.
    await runCommand(page, 'happy', /Happy Paws/);
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/happy-paws');
    await runCommand(page, 'another project', /^Switch to another project/);
    await page.getByRole('dialog', { name: 'Projects' }).waitFor();
  });
});

it('the page of all projects lists each project with its target and the domains that need attention, and searches by name', async () => {
  const { page } = await openPage({
    prepare: async (engine) => {
      const url = `http://127.0.0.1:${await closedPort()}`;
      await engine.call('projects.create', { name: 'Storefront', target: { kind: 'upstream', url } });
      await makeProjects(engine, 40);
    },
  });
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'All projects' }).click();
  await heading(page, 'All projects');
  await page.getByRole('link', { name: /^0 requests/ }).waitFor();
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  await row('Project 40').getByText('sample API').waitFor();
  await page.getByRole('button', { name: 'Name', exact: true }).click();
  await expect.poll(() => page.locator('main').getByRole('listitem').first().textContent()).toContain('Demo');
  await page.getByRole('button', { name: /^Domains/ }).click();
  await page.getByRole('button', { name: /^Domains/ }).click();
  await expect.poll(() => page.locator('main').getByRole('listitem').first().textContent()).toContain('Happy Paws');
  await page.locator('main').press('n');
  await page.getByRole('dialog', { name: 'New project' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox', { name: 'Search projects' }).fill('happy');
  await row('www.happypaws.test').getByText('2 of 3 domains').waitFor();
  await page.getByRole('searchbox', { name: 'Search projects' }).fill('storefront');
  await row('storefront.vivarium.localhost').getByText('no answer').waitFor();
  await row('Storefront').getByRole('link').click();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/storefront');
  await page.getByRole('region', { name: 'Needs attention' }).getByText('Nothing is listening').waitFor();
});

it('without a project, each page of one says what it is for and has the ways to begin', async () => {
  const { page } = await openPage({ empty: true });
  const pages = page.getByRole('navigation', { name: 'Pages' });
  for (const [name, purpose] of [
    ['Traffic', 'Every request'],
    ['Domains', 'Hostnames of your own'],
    ['Keys and limits', 'API keys'],
    ['Settings', 'A project’s name'],
  ] as const) {
    await pages.getByRole('link', { name }).click();
    await seen(page, purpose);
    await page.getByRole('region', { name: 'Put your own server here' }).waitFor();
    await expect.poll(() => pages.locator('[aria-current]').textContent()).toContain(name);
  }
});

describe('a new project', () => {
  it('of the sample API needs only a name, is opened, and can be undone', async () => {
    const { page } = await openPage({ empty: true });
    await runCommand(page, 'new project', /^New project/);
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByText('Served at my-shop.vivarium.localhost').waitFor();
    await dialog.getByLabel('The sample API').check();
    await dialog.getByLabel('Name', { exact: true }).fill('<b>Pet</b> Shop');
    await dialog.getByText('Served at b-pet-b-shop.vivarium.localhost').waitFor();
    await page.keyboard.press('Enter');
    await heading(page, '<b>Pet</b> Shop');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/b-pet-b-shop');
    await seen(page, 'Created <b>Pet</b> Shop.');
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(page, '<b>Pet</b> Shop is removed again.');
    await seen(page, 'There is no project “b-pet-b-shop”');
  });

  it('is shown before the projects are read again', async () => {
    const { page, open } = await openPage({ path: '/projects' });
    const projects = await holdCalls(page, 'projects/list');
    await open('/projects');
    await page.getByRole('link', { name: 'Happy Paws' }).first().waitFor();
    await runCommand(page, 'new project', /^New project/);
    projects.hold();
    await page.getByLabel('The sample API').check();
    await enter(page.getByLabel('Name', { exact: true }), 'Pet Shop');
    await heading(page, 'Pet Shop');
  });

  it('shows the engine’s messages at their fields, and keeps what was typed', async () => {
    const { page } = await openPage();
    await runCommand(page, 'new project', /^New project/);
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByLabel('The sample API').check();
    await dialog.getByText('More', { exact: true }).click();
    await dialog.getByLabel('Slug').fill('Not A Label');
    await dialog.getByLabel('Plan').selectOption('enterprise');
    await dialog.getByLabel('Requests a minute').fill('5,000');
    await dialog.getByRole('button', { name: 'Create the project' }).click();
    await dialog.getByText('must have at least one character other than spaces').waitFor();
    await dialog.getByText('must be lower-case letters, digits and inner hyphens').waitFor();
    await dialog.getByText('It is required.', { exact: true }).waitFor();
    await expect.poll(() => dialog.getByLabel('Requests a minute').getAttribute('aria-invalid')).toBe(null);
    await expect.poll(() => dialog.getByLabel('Slug').inputValue()).toBe('Not A Label');
    await dialog.getByLabel('Name', { exact: true }).fill('Another');
    await dialog.getByLabel('Slug').fill('demo');
    await dialog.getByLabel('Requests a day').fill('1000000');
    await dialog.getByRole('button', { name: 'Create the project' }).click();
    await dialog.getByText('is taken').waitFor();
    await dialog.getByLabel('Slug').fill('');
    await dialog.getByRole('button', { name: 'Create the project' }).click();
    await heading(page, 'Another');
  });
});

describe('the settings of a project', () => {
  it('renames a project and its slug, explains the consequences, and undoes the change', async () => {
    const { page, engine, expectNoFaults } = await openPage({ path: '/projects/demo/settings' });
    await page.getByLabel('Name', { exact: true }).fill('Zoo');
    await page.getByLabel('Slug').fill('zoo');
    await seen(page, 'The old hostnames stop being served at once.');
    await expectNoFaults();
    await page.getByRole('button', { name: 'Save' }).first().click();
    await seen(page, 'Saved Zoo.');
    // A toast under the pointer stays.
    await page.getByRole('button', { name: 'Undo' }).hover();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/zoo/settings');
    expect((await engine.api({ host: 'zoo.vivarium.localhost' })).status).toBe(200);
    expect((await engine.api({ host: 'demo.vivarium.localhost' })).status).toBe(404);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/demo/settings');
    await expect.poll(() => page.getByLabel('Slug').inputValue()).toBe('demo');
  });

  it('offers what another window has saved meanwhile, keeps what is typed, and follows another slug', async () => {
    const { page, engine } = await openPage({ path: '/projects/demo/settings' });
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Mine');
    const { id: projectId } = await engine.demo();
    await engine.call('projects.update', { projectId, name: 'Demo from B' });
    await seen(page, 'Changed elsewhere to “Demo from B”.');
    await expect.poll(() => name.inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Take it' }).click();
    await expect.poll(() => name.inputValue()).toBe('Demo from B');
    await engine.call('projects.update', { projectId, slug: 'elsewhere' });
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/elsewhere/settings');
  });

  it('deploys, and lists the result', async () => {
    const { page } = await openPage({ path: '/projects/demo/settings' });
    const deploys = page.getByRole('region', { name: 'Deploys' }).getByRole('listitem');
    await deploys.first().waitFor();
    const before = await deploys.count();
    await page.getByRole('button', { name: 'Deploy now' }).click();
    await seen(page, 'Deployed: the target answers.');
    await expect.poll(() => deploys.count()).toBe(before + 1);
    await deploys.first().getByText('succeeded').waitFor();
  });

  it('lists the losses before it removes a project, and then opens another one', async () => {
    const { page, visit, expectNoFaults } = await openPage({ path: '/projects/happy-paws/settings' });
    await page.getByRole('button', { name: 'Remove the project' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove Happy Paws' });
    await dialog.getByText('www.happypaws.test').waitFor();
    await dialog.getByText('30 pets').waitFor();
    await expectNoFaults();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove the project' }).click();
    await dialog.getByRole('button', { name: 'Remove Happy Paws' }).click();
    await heading(page, 'Demo');
    await seen(page, 'Removed Happy Paws.');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/demo');
    await visit('/projects/happy-paws/settings');
    await seen(page, 'There is no project “happy-paws”');
  });
});
