import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../support/engine.ts';
import { enter, runCommand, toast, openPage, waitForFocus } from '../support/page/page-on-engine.ts';
import { requireTool } from '../support/tools.ts';

/** Ten thousand lines, each checked against the previous ones, on a busy machine. */
const IMPORT_MS_MAX = 180_000;
const run = promisify(execFile);

const put = (engine: Engine, name: string, type: string, value: string) =>
  engine.call('records.put', { zone: 'acme.test', name, type, value });

/** A zone with a few records, and nothing else. */
const withZone = {
  empty: true,
  path: '/dns/acme.test',
  async prepare(engine: Engine) {
    await engine.call('zones.create', { name: 'acme.test' });
    await put(engine, '@', 'ALIAS', 'cname.vivarium.localhost');
    await put(engine, 'www', 'A', '192.0.2.1');
    await put(engine, 'mail', 'A', '192.0.2.2');
  },
};

const lines = async (engine: Engine): Promise<string[]> => {
  const records = await engine.call('records.list', { zone: 'acme.test' });
  return records.map(({ name, ttl, type, value }) => `${name} ${ttl} ${type} ${value}`);
};

const row = (page: Page, text: RegExp) => page.getByRole('grid').getByRole('row', { name: text });
const focused = (page: Page) => expect.poll(() => page.evaluate<string>('document.activeElement.innerText'));

describe('zones', () => {
  it('are created or refused at the field, listed, and selected with the arrow keys', async () => {
    const { page, visit, expectNoFaults } = await openPage({ empty: true, path: '/dns' });
    await page.getByText('No zones of your own yet').waitFor();
    await expectNoFaults();
    await page.locator('body').press('n');
    const dialog = page.getByRole('dialog', { name: 'Create a zone' });
    await enter(dialog.getByLabel('Name', { exact: true }), '-acme.test');
    await dialog.getByRole('alert').getByText('hyphen').waitFor();
    await expect.poll(() => dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('-acme.test');
    await enter(dialog.getByLabel('Name', { exact: true }), 'acme.test');
    await page.getByRole('heading', { level: 2, name: 'acme.test' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/dns/acme.test');
    await page.getByText('No records yet').waitFor();

    const zone = page.getByRole('link', { name: /^acme\.test/ });
    await zone.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { level: 2, name: 'vivarium.localhost' }).waitFor();
    await page.getByText('read-only, from the projects').waitFor();
    await row(page, /^cname A 3600 127\.0\.0\.1/).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Add a record' }).count()).toBe(0);
    await expect.poll(() => page.getByRole('button', { name: /^(Edit|Remove) / }).count()).toBe(0);

    // A link to a zone that does not exist offers to create it.
    await visit('/dns/gone.test');
    await page.getByText('There is no zone gone.test here').waitFor();
    await page.getByRole('button', { name: 'Create gone.test' }).click();
    await expect.poll(() => dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('gone.test');
  });

  it('are signed, broken and given a new key by keyboard, and restored with all their records, even forced ones', async () => {
    const { page, engine, expectNoFaults } = await openPage(withZone);
    await engine.call('records.put', { zone: 'acme.test', name: 'www', type: 'CNAME', value: 'x.test', force: true });
    const before = await lines(engine);
    await row(page, /^www CNAME/).waitFor();
    const dnssec = () => engine.call('zones.dnssec', { name: 'acme.test' });
    await page.getByRole('button', { name: 'More for acme.test' }).click();
    await page.getByRole('menuitem', { name: 'Signed answers (DNSSEC)' }).click();
    const dialog = page.getByRole('dialog', { name: 'DNSSEC of acme.test' });
    await dialog.getByRole('switch', { name: 'Sign the answers of acme.test', disabled: false }).press('Space');
    await toast(page, 'acme.test is signed.').waitFor();
    const { anchors } = await dnssec();
    await dialog.getByText(anchors?.unbound.trim() ?? 'no anchor', { exact: true }).waitFor();
    await expectNoFaults();
    await dialog.getByLabel('Failure to rehearse').selectOption('Expired signatures');
    await toast(page, 'acme.test is answered with expired signatures.').waitFor();
    await dialog.getByRole('button', { name: 'Roll the key', disabled: false }).press('Enter');
    await toast(page, 'A new key signs acme.test too.').waitFor();
    await dialog.getByText('retires in 2 days').waitFor();
    await expect.poll(() => dnssec()).toMatchObject({ break: 'expired', keys: [{}, {}] });
    await page.keyboard.press('Escape');
    await page.getByText('4 records, signed').waitFor();

    await page.getByRole('button', { name: 'More for acme.test' }).click();
    await page.getByRole('menuitem', { name: 'Remove acme.test' }).click();
    await toast(page, /^Removed acme.test with 4 records\./).waitFor();
    await expect.poll(() => engine.call('zones.list')).toEqual([]);
    await expect.poll(() => new URL(page.url()).pathname).toBe('/dns');
    await page.keyboard.press('Control+z');
    await toast(page, 'acme.test is back with 4 records.').waitFor();
    await expect.poll(() => lines(engine)).toEqual(before);
    await expect.poll(() => dnssec()).toMatchObject({ signed: true, keys: [{}] });
  });
});

describe('records', () => {
  it('are added one after another, with hints for the selected type, and by force after a refusal', async () => {
    const { page, engine, expectNoFaults } = await openPage(withZone);
    await row(page, /^www A/).waitFor();
    await page.locator('body').press('n');
    const form = page.getByRole('form', { name: 'New record' });
    await form.getByLabel('Name', { exact: true }).fill('shop');
    await form.getByLabel('Type').selectOption('CAA');
    await form.getByText('“issue” names who may sign').waitFor();
    await enter(form.getByLabel('Value'), '0 issue');
    await form.getByRole('alert').getByText('the text is missing').waitFor();
    await expect.poll(() => form.getByLabel('Name', { exact: true }).inputValue()).toBe('shop');
    await enter(form.getByLabel('Value'), '0 issue "not a domain%"');
    await row(page, /^shop CAA .*malformed/).waitFor();
    // The form is ready for another record of the same type.
    await expect.poll(() => page.evaluate('document.activeElement.value')).toBe('');
    await expect.poll(() => form.getByLabel('Type').inputValue()).toBe('CAA');
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, /^shop/).waitFor({ state: 'detached' });
    await expect.poll(() => lines(engine)).toHaveLength(3);

    // What only a careless provider would accept can be stored by force.
    await page.getByRole('button', { name: 'Add a record' }).click();
    await expect.poll(() => form.getByRole('button', { name: 'Store it anyway' }).count()).toBe(0);
    await form.getByLabel('Name', { exact: true }).fill('www');
    await form.getByLabel('Type').selectOption('CNAME');
    await form.getByLabel('Value').fill('cname.vivarium.localhost');
    await form.getByRole('button', { name: 'Add' }).click();
    await form.getByRole('alert').getByText('A CNAME must be the only record of its name').waitFor();
    await expectNoFaults();
    await form.getByRole('button', { name: 'Store it anyway' }).click();
    await row(page, /^www CNAME/).waitFor();
    await expect.poll(() => lines(engine)).toContain('www 3600 CNAME cname.vivarium.localhost');
  });

  it('are selected, edited and removed by keyboard alone', async () => {
    const { page, engine } = await openPage(withZone);
    await row(page, /^@ ALIAS/).focus();
    await page.keyboard.press('ArrowDown');
    await focused(page).toMatch(/^mail/);
    await page.keyboard.press('Enter');
    const form = page.getByRole('form', { name: 'Edit mail A 192.0.2.2' });
    await waitForFocus(form.getByLabel('Value'));
    await page.keyboard.type('2001:db8::2');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('is not an IPv4 address').waitFor();
    await waitForFocus(form.getByLabel('Value'));
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    // From A to the next type in the system's list.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await page.keyboard.type('60');
    await page.keyboard.press('Enter');
    await row(page, /^mail AAAA 60 2001:db8::2/).waitFor();
    await expect.poll(() => lines(engine)).toContain('mail 60 AAAA 2001:db8::2');
    await focused(page).toMatch(/^mail/);

    await page.keyboard.press('Delete');
    await row(page, /^mail/).waitFor({ state: 'detached' });
    await focused(page).toMatch(/^www/);
    await toast(page, /^Removed mail AAAA/).waitFor();
    await page.keyboard.press('Control+z');
    await row(page, /^mail AAAA/).waitFor();
    await toast(page, /^mail AAAA .* is back\.$/).waitFor();
    await page.keyboard.press('Control+z');
    await row(page, /^mail A 3600 192\.0\.2\.2/).waitFor();
    await expect.poll(() => lines(engine)).toContain('mail 3600 A 192.0.2.2');
  });

  it('appear when they are added elsewhere, with HTML as text; the address keeps a filter by name, type and value', async () => {
    const { page, engine, open } = await openPage(withZone);
    await row(page, /^www A/).waitFor();
    await put(engine, 'note', 'TXT', '<img src=x onerror="alert(1)">');
    await row(page, /^note TXT/).waitFor();
    await page.getByText('<img src=x onerror="alert(1)">').waitFor();

    await page.locator('body').press('/');
    await waitForFocus(page.getByLabel('Search records'));
    await page.keyboard.type('192.0.2.2');
    await row(page, /^www/).waitFor({ state: 'detached' });
    await row(page, /^mail A/).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?search=192.0.2.2');
    await page.keyboard.press('Escape');
    await page.getByLabel('Record type').selectOption('ALIAS');
    await row(page, /^mail/).waitFor({ state: 'detached' });
    await open('/dns/acme.test?type=MX');
    await page.getByText('No record matches').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await row(page, /^mail A/).waitFor();
  });
});

it('propagation counts down on the app’s clock, and shows the answer given until then', async () => {
  const { page, engine, expectNoFaults } = await openPage({
    ...withZone,
    async prepare(engine) {
      await withZone.prepare(engine);
      const gone = await put(engine, 'gone', 'TXT', 'here');
      await engine.call('settings.update', { propagation: 'PT1H' });
      await engine.call('clock.freeze');
      const www = await engine.call('records.list', { zone: 'acme.test', name: 'www' });
      await engine.call('records.update', { id: www[0]?.id, value: '192.0.2.9' });
      await engine.call('records.remove', { id: gone.id });
      await put(engine, 'new', 'MX', '10 mail.acme.test');
    },
  });
  await row(page, /^www A .*192\.0\.2\.9.*Answered in 1 h; until then 192\.0\.2\.1/).waitFor();
  await row(page, /^new MX .*until then nothing/).waitFor();
  await row(page, /^gone TXT .*Removed; still answered for 1 h/).waitFor();
  await page.getByText('3 on the way').waitFor();
  await page.getByText('Changes are visible after 1 h.').waitFor();
  await expectNoFaults();
  await page.getByRole('link', { name: 'Propagation and resolver' }).click();
  const chosen = page.getByRole('group', { name: 'Propagation' }).getByRole('radio', { name: '1 hour' });
  await expect.poll(() => chosen.isChecked()).toBe(true);
  await page.goBack();

  await engine.call('clock.advance', { by: 'PT15M' });
  await row(page, /^www A .*Answered in 45 min/).waitFor();
  await page.getByRole('button', { name: 'Restore gone TXT here' }).click();
  await row(page, /^gone TXT .*Removed/).waitFor({ state: 'detached' });
  await row(page, /^gone TXT/).waitFor();
  await engine.call('clock.advance', { by: 'PT1H' });
  await page.getByText('on the way').waitFor({ state: 'detached' });
  await row(page, /^www A 3600 192\.0\.2\.9 Query/).waitFor();
});

describe('zone files', () => {
  const TEXT = ['$TTL 300', 'new A 192.0.2.7', 'bad A nowhere', 'www CNAME other', '@ CAA 0 issue "%%"'].join('\n');

  it('are imported with a report for each line, and refused lines can be forced', async () => {
    const { page, engine, expectNoFaults } = await openPage(withZone);
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import a zone file into acme.test' });
    await dialog.getByLabel('Zone file', { exact: true }).fill(TEXT);
    await expectNoFaults();
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('2 records added').waitFor();
    const refused = dialog.getByRole('region', { name: 'Refused' });
    await refused.getByText('Line 3').waitFor();
    await refused.getByText('bad A nowhere').waitFor();
    await refused.getByText('is not an IPv4 address').waitFor();
    await dialog.getByRole('region', { name: 'Accepted, with a warning' }).getByText('malformed').waitFor();
    await expectNoFaults();
    await dialog.getByRole('button', { name: 'Store 1 refused line anyway' }).click();
    await dialog.getByText('3 records added').waitFor();
    await dialog.getByRole('button', { name: 'Back to the text' }).click();
    await expect.poll(() => dialog.getByLabel('Zone file', { exact: true }).inputValue()).toBe(TEXT);
    await page.keyboard.press('Escape');
    await row(page, /^new A 300/).waitFor();
    await expect.poll(() => lines(engine)).toContain('www 300 CNAME other.acme.test');
  });

  it('of 10,000 records are imported, and only visible rows are rendered', { timeout: IMPORT_MS_MAX }, async () => {
    const { page } = await openPage(withZone);
    await page.getByRole('button', { name: 'Import' }).click();
    const records = Array.from({ length: 10_000 }, (_, index) => `host-${index} 300 IN A 192.0.2.${index % 256}`);
    records[41] = 'host-41 300 IN A 192.0.2.999';
    const dialog = page.getByRole('dialog');
    await dialog
      .getByLabel('Zone file to import')
      .setInputFiles({ name: 'big.zone', mimeType: 'text/plain', buffer: Buffer.from(records.join('\n')) });
    await dialog.getByText('10,000 lines').waitFor();
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('9,999 records added').waitFor({ timeout: IMPORT_MS_MAX });
    await dialog.getByText('Line 42').waitFor();
    await dialog.getByText('host-41 300 IN A 192.0.2.999').waitFor();
    await page.keyboard.press('Escape');
    await row(page, /^host-/)
      .first()
      .waitFor();
    // The page reads a zone of this size in parts.
    await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('10003');
    await expect.poll(() => page.getByRole('row').count()).toBeLessThan(100);
    await row(page, /^@ ALIAS/).focus();
    await page.keyboard.press('End');
    await focused(page).toMatch(/^www/);
    await page.getByLabel('Search records').fill('host-9998');
    await row(page, /^host-9998 A/).waitFor();
    await page.getByText('1 found').waitFor();
  });

  it('are exported by copying and by downloading', async () => {
    const { page, engine } = await openPage(withZone);
    const { text } = await engine.call('zones.export', { name: 'acme.test' });
    const menu = page.getByRole('button', { name: 'More for acme.test' });
    await menu.click();
    await page.getByRole('menuitem', { name: 'Copy the zone file' }).click();
    await toast(page, 'Copied the zone file of acme.test.').waitFor();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(text);
    await menu.click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Download the zone file' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('acme.test.zone');
    expect(await readFile(await download.path(), 'utf8')).toBe(text);
  });
});

describe('the query form', () => {
  it('shows the answer in the format of dig, with the dig command to repeat it', async () => {
    const { page, engine } = await openPage(withZone);
    await page.getByLabel('Search zones').waitFor();
    await page.locator('body').press('a');
    await waitForFocus(page.getByLabel('Query name'));
    await page.keyboard.type('acme.test');
    await page.getByLabel('Query type').selectOption('SOA');
    await page.getByRole('button', { name: 'Query', exact: true }).click();
    const answer = page.getByRole('group', { name: 'The answer as dig shows it' });
    await answer.getByText('status: NOERROR').waitFor();
    const { port } = engine.app.runtime.dns;
    await page.getByText(`dig @127.0.0.1 -p ${port} acme.test SOA`, { exact: true }).waitFor();
    // The page asks without a cookie.
    const asked = ['@127.0.0.1', '-p', String(port), '+nocookie', 'acme.test', 'SOA'];
    const { stdout } = await run(requireTool('dig'), asked);
    const words = (text: string, marks: RegExp) =>
      text
        .split('\n')
        .filter((line) => marks.test(line))
        .map((line) => line.trim().split(/\s+/).join(' '));
    const shown = async () => (await answer.innerText()).replaceAll('\u00a0', ' ');
    for (const marks of [/^;; flags/, /^;acme/, /^acme/, /^;; MSG SIZE/, /^; EDNS/]) {
      await expect.poll(async () => words(await shown(), marks)).toEqual(words(stdout, marks));
    }
    await expect.poll(() => new URL(page.url()).search).toBe('?ask=acme.test+SOA');
  });

  it('updates its answer, explains negative ones, and can be opened from a record’s row', async () => {
    const { page, engine, open, visit } = await openPage(withZone);
    await page.getByRole('button', { name: 'Query www A 192.0.2.1' }).click();
    const answer = page.getByRole('group', { name: 'The answer as dig shows it' });
    await answer.getByText('192.0.2.1').waitFor();
    await put(engine, 'www', 'A', '192.0.2.77');
    await answer.getByText('192.0.2.77').waitFor();

    await open('/dns?ask=nowhere.other+A');
    await page.getByText('The server has no zone for this name.').waitFor();
    await visit('/dns?ask=nope.acme.test+A');
    await page.getByText('There is no such name.').waitFor();
    await visit('/dns?ask=www.acme.test+TXT');
    await page.getByText('The name exists, but has no record of this type.').waitFor();
    await enter(page.getByLabel('Query name'), 'a..b');
    await page.getByRole('alert').getByText('empty').waitFor();
    await expect.poll(() => page.getByLabel('Query name').inputValue()).toBe('a..b');
  });
});

it('the DNS page adds its actions to the palette', async () => {
  const { page, engine } = await openPage(withZone);
  await row(page, /^www A/).waitFor();
  await runCommand(page, 'remove acme', /^Remove acme\.test/);
  await toast(page, 'Removed acme.test with 3 records.').waitFor();
  await expect.poll(() => engine.call('zones.list')).toEqual([]);
});
