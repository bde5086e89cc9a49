import { expect, it } from 'vitest';
import { connectClient } from '../support/page/page-acme.ts';
import { copyBy, waitForFocus, openPage } from '../support/page/page-on-engine.ts';

it('the ACME page lists orders, explains refusals by CAA and rate limits, and offers fixes', async () => {
  const { page, engine, visit, expectNoFaults } = await openPage({ path: '/acme' });
  const orders = page.getByRole('region', { name: 'Orders' });
  const walk = page.getByRole('region', { name: 'Walk' });
  const toasts = page.getByRole('region', { name: 'Reports' });
  await orders.getByText('No client has ordered yet').waitFor();
  const { https, acme } = engine.app.runtime;
  const connect = page.getByRole('region', { name: 'Connect a client' });
  // Its record is added first, below a zone whose CAA records permit it.
  await connect.getByText('-d acme.happypaws.test').waitFor();
  await connect.getByRole('button', { name: 'Put it in my local zone' }).click();
  await toasts.getByText('acme.happypaws.test points here.').waitFor();
  await connect.getByText('other', { exact: true }).click();
  const other = await copyBy(connect.getByRole('button', { name: 'Copy the text for other' }));
  expect(other).toBe(`${acme.directoryUrl}\n${engine.app.runtime.caFile}`);
  await connect.getByText('lego', { exact: true }).click();
  await connect.getByText(`--server https://localhost:${https.port}/acme/classic/directory`).waitFor();

  // An issued certificate appears without a reload, with the queries and answers of its validation.
  const client = await connectClient(engine);
  await client.obtain(['www.acme.test']);
  await orders.getByRole('link', { name: /^www\.acme\.test issued/ }).click();
  await walk.getByText(/^GET http:\/\/www\.acme\.test\/\.well-known\/acme-challenge\/.* at 127\.0\.0\.1:/).waitFor();
  await walk.getByText(/^status 200, \d+ bytes/).waitFor();
  await walk.getByRole('link', { name: 'Ask again: www.acme.test AAAA and A' }).waitFor();
  await expectNoFaults();
  await page.getByRole('button', { name: 'Revoke…', disabled: false }).press('Enter');
  await page.getByRole('dialog', { name: 'Revoke the certificate?' }).getByRole('button', { name: 'Revoke' }).click();
  await walk.getByText(/It was revoked at .*: unspecified\./).waitFor();
  await orders.getByText('revoked').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate('document.activeElement !== document.body')).toBe(true);

  // CAA forbids the next certificate: the walk names the record, links to it, and permits the CA.
  await engine.call('records.put', { zone: 'acme.test', name: '@', type: 'CAA', value: '0 issue "ca.example"' });
  await client.respond(await client.order(['dark.acme.test']));
  await orders.getByRole('link', { name: /^dark\.acme\.test failed/ }).click();
  await walk.getByText('acme.test CAA 0 issue "ca.example"', { exact: true }).first().waitFor();
  await walk.getByText('CAA forbids the certificate', { exact: false }).first().waitFor();
  await expectNoFaults();
  await walk.getByRole('link', { name: 'The record in DNS' }).click();
  await waitForFocus(page.getByRole('row', { name: /^@ CAA/ }));
  await page.getByRole('link', { name: 'Failed ACME orders at acme.test' }).click();
  await orders.getByRole('link', { name: /^dark\.acme\.test failed/ }).click();
  await walk.getByRole('button', { name: 'Permit it in my local zone' }).click();
  await toasts.getByText('The CAA records of acme.test are changed.').waitFor();
  await client.obtain(['dark.acme.test']);

  // The link to the failed orders filters the list; so does the search.
  await expect.poll(() => orders.getByRole('listitem').count()).toBe(1);
  await orders.getByLabel('State').selectOption('');
  await orders.getByRole('link', { name: /^dark\.acme\.test issued/ }).waitFor();
  await orders.getByRole('searchbox', { name: 'Search orders' }).fill('nothing');
  await orders.getByRole('button', { name: 'Show all' }).click();
  await expect.poll(() => orders.getByRole('listitem').count()).toBe(3);

  // Rate limits: switched on in the page, exceeded by the client, and reset in the page.
  await visit('/acme');
  const limits = page.getByRole('region', { name: 'Limits' });
  await limits.getByRole('switch', { name: 'Limit clients as Let’s Encrypt does' }).check();
  await toasts.getByText('ACME clients are limited.').waitFor();
  for (let count = 0; count < 4; count += 1) await client.obtain(['www.acme.test']);
  const sixth = await client.order(['www.acme.test']);
  expect(sixth.status).toBe(429);
  await client.order(['shop.acme.com']);
  const refused = page.getByRole('region', { name: 'Refused requests' });
  const limited = refused.getByRole('listitem').filter({ hasText: 'rate limited' });
  await limited.getByText('There are too many certificates for exactly this set of names', { exact: false }).waitFor();
  await limited.getByText('vivarium acme reset-limits', { exact: true }).waitFor();
  const command = await copyBy(refused.getByRole('button', { name: 'Copy “vivarium ca extend acme.com”' }));
  expect(command).toMatch(/ --data-dir \S+ ca extend acme\.com$/);
  await limits.getByRole('meter', { name: 'certificates for exactly this set of names: www.acme.test' }).waitFor();
  await expectNoFaults();
  await limits.getByRole('button', { name: 'Reset…' }).click();
  await page.getByRole('dialog', { name: 'Reset the limits?' }).getByRole('button', { name: 'Reset' }).click();
  await limits.getByRole('meter').first().waitFor({ state: 'detached' });
  await client.obtain(['www.acme.test']);

  // The client's account is deactivated.
  const accounts = page.getByRole('region', { name: 'Accounts' });
  await accounts.getByRole('button', { name: /^Deactivate / }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate', exact: true }).click();
  await accounts.getByText('deactivated', { exact: true }).waitFor();
  const last = await client.order(['www.acme.test']);
  expect(last.status).toBe(403);
});
