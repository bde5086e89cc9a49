import { expect, it } from 'vitest';
import { openPage } from '../support/page/page-on-engine.ts';

const PATH = '/projects/demo/traffic?show=manners';

it('says how a client gets a grade, while none has sent requests', async () => {
  const { page } = await openPage({ path: PATH });
  await page.getByText('No API client has sent requests').waitFor();
  await page.getByText(/break api\.unavailable --everything --rate 50%$/).waitFor();
  await page.getByRole('link', { name: 'break them here' }).click();
  await page.getByRole('heading', { name: '503 with Retry-After' }).waitFor();
});

it('grades each client, leads to the requests behind a finding, and decides them by another plan', async () => {
  const { page, expectNoFaults } = await openPage({
    path: PATH,
    prepare: async (engine) => {
      for (let request = 0; request < 150; request++) await engine.api();
    },
  });
  const card = page.getByRole('region', { name: /^Demo key, / });
  await card.getByText('Grade F', { exact: true }).waitFor();
  await card.getByText(/^\d rules not seen yet$/).waitFor();
  const decided = page.getByRole('region', { name: 'Requests under' });
  await decided.getByText('90 of 150 requests refused').waitFor();
  await decided.getByText(/^1 ban, first /).waitFor();
  await expectNoFaults();
  const plan = decided.getByRole('combobox', { name: 'Limits' });
  await plan.selectOption('Pro');
  await decided.getByText(/^0 of 150 requests refused/).waitFor();
  await plan.selectOption('limits of your own');
  await decided.getByRole('textbox', { name: 'Per minute' }).fill('5');
  await decided.getByRole('textbox', { name: 'Per minute' }).press('Enter');
  await decided.getByText('145 of 150 requests refused').waitFor();
  await card.getByRole('link', { name: /Stops when refused/ }).click();
  await page.getByRole('region', { name: 'Entries' }).getByRole('link').first().waitFor();
  await expect.poll(() => page.getByRole('combobox', { name: 'Filter' }).inputValue()).toMatch(/^id:trf_/);
});
