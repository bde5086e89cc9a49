import { describe, expect, it } from 'vitest';
import { runCommand, seen, openPage } from '../support/page/page-on-engine.ts';
import { startUpstream } from '../support/upstream-server.ts';
import { closedPort } from '../support/ports.ts';

describe('a project with an upstream', () => {
  it('is created in the dialog, with the engine’s messages at the fields, and shows whether the upstream answers', async () => {
    const upstream = await startUpstream((request, response) => response.end(`asked for ${request.headers.host}`));
    const { page, engine, visit, expectNoFaults } = await openPage({ empty: true });
    await runCommand(page, 'new project', /^New project/);
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByLabel('Name', { exact: true }).fill('App');
    await dialog.getByLabel('Address').fill('http:/localhost:3000/?q');
    await dialog.getByRole('button', { name: 'Create the project' }).click();
    await expect.poll(() => dialog.getByLabel('Address').getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => dialog.getByLabel('Address').inputValue()).toBe('http:/localhost:3000/?q');
    await expectNoFaults();
    await dialog.getByLabel('Address').fill(upstream.url);
    await dialog.getByText('More', { exact: true }).click();
    await dialog.getByLabel('Host header').selectOption('keep');
    await dialog.getByRole('button', { name: 'Create the project' }).click();
    await page.getByText('Deployed: the target answers.').waitFor();
    await page.getByText(`Free plan, simulated · ${new URL(upstream.url).host}`).waitFor();
    const port = engine.app.runtime.http.port;
    await page.getByText(`curl http://app.vivarium.localhost:${port}/`, { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('navigation').getByRole('link', { name: 'Pets' }).count()).toBe(0);
    await visit('/projects/app/pets');
    await page.getByText(`Requests go to ${upstream.url}.`).waitFor();
    for (const name of ['As curl', 'Add a pet', 'Add 30 made-up pets']) {
      await expect.poll(() => page.getByRole('button', { name }).count()).toBe(0);
    }
    await expectNoFaults();
    const answer = await engine.api({ host: 'app.vivarium.localhost', path: '/' });
    expect(answer.text).toBe(`asked for app.vivarium.localhost:${port}`);
  });

  it('can be changed in its settings, which keeps hidden options and shows the result of the deploy', async () => {
    const upstream = await startUpstream((_request, response) => response.end('up'));
    const dead = `http://127.0.0.1:${await closedPort()}`;
    const { page, engine, expectNoFaults } = await openPage({ path: '/projects/demo/settings' });
    await page.getByRole('combobox', { name: 'Requests lead to' }).selectOption('upstream');
    await page.getByRole('textbox', { name: 'Address' }).fill(dead);
    await page.getByRole('switch', { name: 'Apply the plan’s limits' }).check();
    await page.getByRole('combobox', { name: 'Limits without a key' }).selectOption('plan');
    await expect.poll(() => page.getByRole('switch', { name: 'Verify its certificate' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Save and deploy' }).click();
    await seen(page, `Nothing is listening at ${new URL(dead).host}. Start your server there`);
    await expectNoFaults();
    await page.getByRole('textbox', { name: 'Address' }).fill(upstream.url.replace('http:', 'https:'));
    await page.getByRole('switch', { name: 'Verify its certificate' }).uncheck();
    await page.getByRole('button', { name: 'Save and deploy' }).click();
    await page.getByText('does not speak TLS as expected').first().waitFor();
    await page.getByRole('textbox', { name: 'Address' }).fill(upstream.url);
    await page.getByRole('button', { name: 'Save and deploy' }).click();
    await page.getByText('Deployed: the target answers.').waitFor();
    await expect
      .poll(async () => (await engine.demo()).target)
      .toEqual({
        kind: 'upstream',
        url: upstream.url,
        host: 'rewrite',
        limited: true,
        withoutKey: 'plan',
        verifyCertificate: false,
      });
    await page.getByRole('combobox', { name: 'Requests lead to' }).selectOption('api');
    await page.getByRole('button', { name: 'Save', exact: true }).last().click();
    await expect.poll(async () => (await engine.demo()).target).toEqual({ kind: 'api' });
  });
});
