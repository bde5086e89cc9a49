import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { type EnginePage, enter, field, runCommand, openPage } from '../support/page/page-on-engine.ts';
import { startUpstream } from '../support/upstream-server.ts';

const PATH = '/projects/demo/api-reference';
const INT64_MAX = '9223372036854775807';

const operations = (page: Page) => page.getByRole('navigation', { name: 'Operations' });
const response = (page: Page) => page.getByRole('region', { name: 'Response', exact: true });
const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).click();
const block = (page: Page, name: string) => page.getByRole('group', { name, exact: true }).innerText();

describe('the API reference', () => {
  it('lists every operation under its tag, with parameters, schemas, responses, examples and rate headers', async () => {
    const { page, expectNoFaults } = await openPage({ path: PATH });
    await page.getByRole('heading', { level: 2, name: 'List all animals' }).waitFor();
    for (const name of ['Animals', 'Store']) {
      await operations(page).getByRole('heading', { name, exact: true }).waitFor();
    }
    await expect.poll(() => operations(page).getByRole('link').count()).toBe(7);
    const limit = page
      .getByRole('list', { name: 'Parameters' })
      .getByRole('listitem')
      .filter({ hasText: 'limit' })
      .first();
    await expect.poll(() => limit.innerText()).toMatch(/in the query[^]*from 1 to 100, default 20[^]*Maximum number/);
    await page.getByText('A paginated list of animals.').waitFor();
    await expect.poll(() => block(page, 'example of 200')).toContain('"name": "Biscuit"');
    await page.getByText('On every response').click();
    await page.getByText('The limit that applies to the caller').waitFor();
    await expectNoFaults();

    await operations(page).getByRole('link', { name: 'Schemas' }).click();
    const newPet = page.getByRole('region', { name: 'NewPet' });
    await expect
      .poll(() => newPet.getByRole('listitem').filter({ hasText: 'categoryId' }).innerText())
      .toContain('integer (int64)');
    await expectNoFaults();
  });

  it('saves named requests with variables, imports and exports them as a file, and keeps a history', async () => {
    const { page, visit, engine, expectNoFaults } = await openPage({ path: `${PATH}/listPets` });
    await page.getByRole('button', { name: 'Save…' }).click();
    await enter(field(page, 'Name of the request'), 'All of them');
    await page.getByText('Saved All of them.').waitFor();
    await operations(page).getByRole('link', { name: 'Saved requests' }).click();
    const text = field(page, 'Requests and variables');
    await expect
      .poll(() => text.inputValue())
      .toMatch(/^### All of them\nGET {{baseUrl}}\/pets\nAuthorization: Bearer {{key}}/);
    await page.getByLabel('File of requests').setInputFiles({
      name: 'other.http',
      mimeType: 'text/plain',
      buffer: Buffer.from(
        '@limit = 2\n\n### Few\nGET {{baseUrl}}/pets?limit={{limit}}\nAuthorization: Bearer {{key}}\n\n?? status == 200\n?? js response.parsedBody.length == {{limit}}\n?? header location exists\n',
      ),
    });
    await text.press('End');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Open Few' }).waitFor();
    await expectNoFaults();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as a file' }).click();
    expect((await downloading).suggestedFilename()).toBe('demo.http');
    await page.getByRole('button', { name: 'Open Few' }).click();
    await expect.poll(() => page.evaluate('document.activeElement.innerText')).toBe('Send');
    await page.keyboard.press('Enter');
    await response(page).getByText('200 OK').waitFor();
    const checked = response(page).getByRole('list', { name: 'Assertions' }).getByRole('listitem');
    await expect
      .poll(async () => (await checked.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim()))
      .toEqual([
        'passed status == 200',
        'passed js response.parsedBody.length == 2',
        'failed header location exists found nothing',
      ]);
    await expectNoFaults();
    await expect
      .poll(async () => (await engine.call('requests.get', { projectId: 'demo' })).history)
      .toContain('GET {{baseUrl}}/pets?limit=2\n');
    await field(page, 'Path, after').or(page.getByLabel(/^Path/)).fill('/pets?limit={{most}}');
    await send(page);
    await page.getByText('There is no value for most.').waitFor();
    await visit(`${PATH}/-saved`);
    await page.getByRole('button', { name: 'Open All of them' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByText('Removed All of them.').waitFor();
    await page.keyboard.press('Control+z');
    await page.getByRole('button', { name: 'Open All of them' }).waitFor();
    await page.getByRole('button', { name: 'Delete the history' }).click();
    await page.getByText('Nothing sent yet').waitFor();
  });

  it('opens each operation by link, arrow keys and palette, and keeps the focus in the list', async () => {
    const { page, visit } = await openPage({ path: PATH });
    const link = (name: RegExp) => operations(page).getByRole('link', { name });
    await link(/List all animals/).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Add an animal' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`${PATH}/createPet`);
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toContain('Add an animal');
    await runCommand(page, 'List the orders', /\/orders/);
    await page.getByRole('heading', { level: 2, name: 'List the orders' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 2, name: 'Add an animal' }).waitFor();
    await visit(`${PATH}/removedLongAgo`);
    await page.getByText('The document has no operation “removedLongAgo”').waitFor();
    await page.getByRole('link', { name: 'Show all operations' }).click();
    await page.getByRole('heading', { level: 2, name: 'List all animals' }).waitFor();
  });

  it('shows when a deprecated operation will be removed on the simulated clock, and that it was removed', async () => {
    const { page, engine, expectNoFaults } = await openPage({ path: `${PATH}/getPet` });
    await page.getByText(/It works until/).waitFor();
    await expect
      .poll(() => page.getByText(/It works until/).innerText())
      .toMatch(/5 Dec 2030, in \d+ (years|months) on the simulated clock/);
    await expectNoFaults();
    await engine.call('clock.set', { to: '2030-12-05T00:00:00Z' });
    await page.getByText(/It was removed on/).waitFor();
    await field(page, 'petId').fill('1');
    await send(page);
    await response(page).getByText('410 Gone').waitFor();
  });
});

describe('a request sent from the API reference', () => {
  it('preserves an int64 from the form to the store and back, and shows a variable in place of the key’s secret', async () => {
    const { page, engine, expectNoFaults } = await openPage({ path: `${PATH}/createPet` });
    await field(page, 'name').fill('<b>Rex</b>');
    await enter(field(page, 'categoryId'), INT64_MAX);
    await response(page).getByText('201 Created').waitFor();
    await expect.poll(() => block(page, 'body of the response')).toContain(`"categoryId": ${INT64_MAX}`);
    await expect.poll(() => response(page).innerText()).toMatch(/59 of 60 requests left, resets in/);
    await response(page).getByRole('group', { name: 'Show the response' }).getByLabel('As on the wire').check();
    await expect
      .poll(() => block(page, 'request as on the wire'))
      .toMatch(
        /^POST \/v1\/pets HTTP\/1\.1\nHost: demo[^]*Authorization: Bearer \$VIVARIUM_KEY[^]*"categoryId": 9223372036854775807/,
      );
    await expect
      .poll(() => block(page, 'response as on the wire'))
      .toMatch(/^HTTP\/1\.1 201 Created\n[^]*X-RateLimit-Remaining: 59/);
    await expectNoFaults();

    const { id: projectId } = await engine.demo();
    const { items } = await engine.call('pets.list', { projectId, search: 'Rex' });
    expect(items).toMatchObject([{ name: '<b>Rex</b>', categoryId: INT64_MAX }]);
    await page.getByRole('link', { name: /Get an animal/ }).click();
    await field(page, 'petId').fill(String(items[0]?.id));
    await send(page);
    await response(page).getByText('200 OK').waitFor();
    await expect.poll(() => block(page, 'body of the response')).toContain(`"categoryId": ${INT64_MAX}`);
  });

  it('shows the API’s errors in the response, and the engine’s errors at their fields', async () => {
    const { page } = await openPage({ path: `${PATH}/createPet` });
    await field(page, 'categoryId').fill('many');
    await send(page);
    await response(page).getByText('400 Bad Request').waitFor();
    await expect.poll(() => block(page, 'body of the response')).toContain('invalid_request');
    await page.getByRole('group', { name: 'Type the body as' }).getByLabel('Text').check();
    await field(page, 'Body, as text').fill('{"name": ');
    await send(page);
    await expect.poll(() => block(page, 'body of the response')).toContain('JSON');
    await page.getByText('More headers').click();
    await field(page, 'Headers').fill('Host: evil.example');
    await send(page);
    await page.getByText('Host is set by Vivarium.').first().waitFor();
    await expect.poll(() => field(page, 'Headers').inputValue()).toBe('Host: evil.example');
    await expect.poll(() => response(page).count()).toBe(0);
  });

  it('can be sent without a key, with a wrong secret or with the right one, which is stored nowhere', async () => {
    const { page, engine } = await openPage({ path: PATH });
    const { secret } = engine.app.demoKey() ?? { secret: '' };
    const key = page.getByRole('combobox', { name: 'API key' });
    await page.getByText('The copy has an API key').waitFor();
    await key.selectOption('No key');
    await expect.poll(() => page.getByText('The copy has an API key').count()).toBe(0);
    await send(page);
    await response(page).getByText('401 Unauthorized').waitFor();
    await key.selectOption('A pasted secret');
    const pasted = page.getByLabel('Secret', { exact: true });
    await pasted.fill('viv_wrong');
    await send(page);
    await response(page).getByText('401 Unauthorized').waitFor();
    await pasted.fill(secret);
    await send(page);
    await response(page).getByText('200 OK').waitFor();
    await expect.poll(() => page.locator('main').innerHTML()).not.toContain(secret);
    const kept = await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])');
    expect(kept).not.toContain(secret);
    await page.reload();
    await key.waitFor();
    await expect.poll(() => key.locator('option:checked').innerText()).toContain('Demo key');
  });

  it('can be copied as curl and as fetch, with the variable in place of the secret, and goes to staging', async () => {
    const { page, engine } = await openPage({ path: PATH });
    await field(page, 'limit').fill('3');
    await expect.poll(() => block(page, 'request as curl')).toMatch(/Bearer \$VIVARIUM_KEY[^]*\/v1\/pets\?limit=3/);
    await page.getByRole('group', { name: 'Copy as' }).getByLabel('fetch').check();
    await page.getByText('the system has to resolve demo.vivarium.localhost').waitFor();
    await page.getByRole('button', { name: 'Copy request as fetch' }).click();
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toMatch(/^const response = await fetch\('http/);
    await page.getByRole('group', { name: 'Environment' }).getByLabel('Staging').check();
    await expect.poll(() => page.url()).toContain('environment=staging');
    await page.getByText('http://demo-staging.vivarium.localhost').first().waitFor();
    const { id: projectId } = await engine.demo();
    await engine.call('pets.update', { projectId, environment: 'staging', id: 1, name: 'Only in staging' });
    await field(page, 'limit').fill('1');
    await send(page);
    await expect.poll(() => block(page, 'body of the response')).toContain('Only in staging');
  });
});

describe('the API reference of an upstream', () => {
  const made = {
    openapi: '3.1.0',
    info: { title: '<i>Shop</i>', version: '7' },
    paths: {
      '/carts': { get: { operationId: 'carts', summary: 'All carts', 'x-stability': 'beta', responses: {} } },
      '/trial': { get: { operationId: 'trial', summary: 'A trial', 'x-stability': 'experimental', deprecated: true } },
    },
  };

  const openShop = (url: string): Promise<EnginePage> =>
    openPage({
      path: '/projects/shop/api-reference',
      prepare: async (engine) =>
        void (await engine.call('projects.create', { name: 'Shop', target: { kind: 'upstream', url } })),
    });

  it('is generated from the document that the upstream serves, shows the stability of operations, and renders HTML as text', async () => {
    const upstream = await startUpstream((request, reply) =>
      reply
        .writeHead(200, { 'content-type': 'application/json' })
        .end(request.url === '/openapi.json' ? JSON.stringify(made) : '{"n": 9007199254740993}'),
    );
    const { page, expectNoFaults } = await openShop(upstream.url);
    await page.getByText('<i>Shop</i>').waitFor();
    await operations(page).getByTitle('beta').waitFor();
    await operations(page).getByTitle('experimental').waitFor();
    await send(page);
    await response(page).getByText('200 OK').waitFor();
    await expect.poll(() => block(page, 'body of the response')).toContain('"n": 9007199254740993');
    await expectNoFaults();
  });

  it('explains that no document is served, and can still send requests', async () => {
    const upstream = await startUpstream((_request, reply) => reply.writeHead(404).end('nothing'));
    const { page, expectNoFaults } = await openShop(upstream.url);
    await page.getByText('No OpenAPI document is served').waitFor();
    await send(page);
    await response(page).getByText('404 Not Found').waitFor();
    await expectNoFaults();
  });
});
