import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Engine } from '../support/engine.ts';
import { enter, region, runCommand, seen, openPage, waitForFocus } from '../support/page/page-on-engine.ts';

/** A long scenario with accessibility audits, on a busy machine. */
const STORY_MS_MAX = 180_000;

const DOMAINS = '/projects/happy-paws/domains';

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const list = (page: Page) => page.getByRole('list').filter({ has: page.locator('a[data-hostname]') });
const row = (page: Page, hostname: string) => page.locator(`a[data-hostname="${hostname}"]`);

const summary = (page: Page) => region(page, 'Current state');

/** Waits until the domain's row in the list contains the text. */
const showPart = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Domains', exact: true }).getByRole('link', { name }).click();
const rowSays = (page: Page, hostname: string, text: string) => row(page, hostname).getByText(text).first().waitFor();

/** Waits until the focus is on the domain's row. */
const focused = (page: Page, hostname: string) =>
  expect.poll(() => page.evaluate('document.activeElement?.dataset.hostname')).toBe(hostname);

const proProject = async (engine: Engine): Promise<string> => (await engine.project('happy-paws')).id;

describe('a domain', () => {
  it('of a project that imitates a provider shows what its API says, and how an app reaches it', async () => {
    const { page, engine } = await openPage({ path: `${DOMAINS}/www.happypaws.test` });
    await row(page, 'www.happypaws.test').waitFor();
    await expect.poll(() => region(page, 'What the API says').count()).toBe(0);
    await engine.call('projects.update', { projectId: await proProject(engine), persona: 'vercel' });
    const panel = region(page, 'What the API says');
    await panel.getByText('"misconfigured": false').waitFor();
    await button(page, 'Connect an API client').click();
    // They have to reach this engine, whose data folder is not the default one.
    const { command = 'vivarium' } = await engine.call('status.get');
    expect(command).toContain(`--data-dir ${engine.dataDir}`);
    await panel.getByText(`${command} run happy-paws --as vercel -- npm run dev`).waitFor();
    await panel.getByText(`eval "$(${command} provider env vercel happy-paws)"`).waitFor();
    const zone = { zone: 'happypaws.test', name: 'www' };
    const records = await engine.call('records.list', zone);
    for (const { id } of records) await engine.call('records.remove', { id });
    await panel.getByText('"misconfigured": true').waitFor();
    for (const [persona, text] of [
      ['netlify', '"custom_domain": "www.happypaws.test"'],
      ['fly', '"configured": false'],
      ['render', '"verificationStatus": "unverified"'],
      ['railway', '"recordType": "DNS_RECORD_TYPE_CNAME"'],
    ] as const) {
      await engine.call('projects.update', { projectId: await proProject(engine), persona });
      // Only its last answer is unfolded.
      await panel.getByText(text).waitFor({ state: 'attached' });
      await panel.getByText(`${command} run happy-paws --as ${persona} -- npm run dev`).waitFor();
    }
  });

  it(
    'is attached, fails, is fixed with one click, fails to renew because of CAA, is fixed again, and is removed',
    async () => {
      const { page, engine, expectNoFaults } = await openPage({ path: DOMAINS });

      await rowSays(page, 'www.happypaws.test', 'verified');
      await page.keyboard.press('n');
      await enter(page.getByLabel('Hostname'), 'Shop.Acme.Test.');
      await waitForFocus(page.getByRole('heading', { name: 'shop.acme.test' }));
      await expect.poll(() => new URL(page.url()).pathname).toBe(`${DOMAINS}/shop.acme.test`);
      const record = region(page, 'Record');
      await record.getByRole('button', { name: 'Copy value' }).click();
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('cname.vivarium.localhost');

      // Without its record it fails, and the page says what to do.
      await button(page, 'Verify').click();
      await summary(page).getByText('No record yet').waitFor();
      await summary(page).getByText('no_record').waitFor();
      await rowSays(page, 'shop.acme.test', 'pending');

      // One click adds the record: announced before, and with undo.
      await summary(page).getByText('Creates the zone acme.test in Vivarium’s DNS').waitFor();
      await button(page, 'Put it in my local zone').click();
      await page.getByText('shop CNAME cname.vivarium.localhost is in the zone acme.test.').waitFor();
      await record.getByText(/^The record is in the zone/).waitFor();
      await button(page, 'Verify').click();
      await rowSays(page, 'shop.acme.test', 'verified');
      await rowSays(page, 'shop.acme.test', 'certificate issued');
      await page.getByRole('link', { name: 'https://shop.acme.test:' }).waitFor();
      await seen(region(page, 'Certificate'), /90 days left/);

      // CAA forbids the CA.
      const caa = region(page, 'CAA');
      await caa.getByText('allowed').waitFor();
      await button(page, 'Forbid it in my local zone').click();
      await summary(page).getByText('The next renewal will be refused').waitFor();
      await summary(page).getByText('CAA has changed since the last check.').waitFor();
      await region(page, 'Certificate').getByText('It will be refused').waitFor();
      await expectNoFaults();
      await button(page, 'Renew').click();
      await page.getByText('shop.acme.test was not renewed; its checks say why.').waitFor();
      await rowSays(page, 'shop.acme.test', 'renewal refused');
      await summary(page).getByText('caa_forbids').waitFor();
      const stations = caa.getByRole('listitem').filter({ has: page.locator('.mark') });
      await expect
        .poll(async () => (await stations.allInnerTexts()).map((text) => text.split('\n').slice(0, 2).join(' ')))
        .toEqual([
          'shop.acme.test continues',
          'shop.acme.test forbids',
          'shop.acme.test not asked',
          'the root not asked',
        ]);
      await seen(caa, 'acme.test CAA 0 issue ";"');
      await expectNoFaults();

      // The fix suggested by the walk works without waiting for the next attempt.
      await button(page, 'Permit it in my local zone').click();
      await caa.getByText('allowed').waitFor();
      await summary(page).getByText('Served over HTTP and HTTPS').waitFor();
      await rowSays(page, 'shop.acme.test', 'certificate issued');

      // Removal takes effect at once, and can be undone.
      await button(page, 'More for shop.acme.test').last().click();
      await page.getByRole('menuitem', { name: 'Remove' }).click();
      await row(page, 'shop.acme.test').waitFor({ state: 'detached' });
      await expect(engine.call('domains.get', { hostname: 'shop.acme.test' })).rejects.toThrow('There is no domain');
      await page.getByText('Removed shop.acme.test. It is no longer served').first().waitFor();
      await page.keyboard.press('Control+z');
      await rowSays(page, 'shop.acme.test', 'certificate issued');
      await page.getByText('shop.acme.test is attached again, verified, with a certificate.').waitFor();
    },
    STORY_MS_MAX,
  );

  it('shows pending DNS changes counting down on the app’s clock, and applies them when the clock is moved', async () => {
    const { page, expectNoFaults } = await openPage({
      path: `${DOMAINS}/shop.happypaws.test`,
      prepare: async (engine) => void (await engine.call('settings.update', { propagation: 'PT48H' })),
    });
    const record = region(page, 'Record');
    await summary(page).getByText('Replaces shop CNAME happypaws.old-host.example in').waitFor();
    await button(page, 'Replace it in my local zone').click();
    await record.getByText(/visible in (2 days|47 h)/).waitFor();
    await button(page, 'Verify').click();
    await summary(page).getByText('Not visible yet').waitFor();
    await seen(summary(page), /^Visible in/);
    await expectNoFaults();
    await button(page, 'Advance the clock').click();
    await rowSays(page, 'shop.happypaws.test', 'certificate issued');
    await record.getByText(/^The record is in the zone/).waitFor();
  });

  it('offers to extend the root for a name that it may not sign for', async () => {
    const { page, expectNoFaults } = await openPage({
      path: `${DOMAINS}/www.acme.com`,
      prepare: async (engine) => {
        await engine.call('zones.create', { name: 'acme.com' });
        await engine.call('records.put', {
          zone: 'acme.com',
          name: 'www',
          type: 'CNAME',
          value: 'cname.vivarium.localhost',
        });
        await engine.call('domains.attach', { projectId: await proProject(engine), hostname: 'www.acme.com' });
        await engine.call('domains.verify', { hostname: 'www.acme.com' });
      },
    });
    await summary(page).getByText('The root may not sign for it').waitFor();
    await button(page, 'Extend the root').click();
    const dialog = page.getByRole('dialog', { name: 'Let the root sign for acme.com?' });
    await dialog.getByText('If the name belongs to others').waitFor();
    await expectNoFaults();
    await dialog.getByRole('button', { name: 'Extend the root' }).click();
    await rowSays(page, 'www.acme.com', 'certificate issued');
  });

  it('shows its faults with expected and actual values, and the states of verification and certificate', async () => {
    const { page, expectNoFaults } = await openPage({ path: DOMAINS });
    await rowSays(page, 'www.happypaws.test', 'certificate issued');
    await rowSays(page, 'happypaws.example', 'certificate refused');
    await row(page, 'shop.happypaws.test').click();
    await summary(page).getByText('Expected').waitFor();
    await summary(page).getByText('happypaws.old-host.example', { exact: true }).waitFor();
    await expectNoFaults();

    // The same domain, as configured at another provider.
    await showPart(page, 'Configuration');
    await page.getByRole('combobox', { name: 'Provider' }).selectOption('github-pages');
    await page.getByText(/imitate GitHub Pages/).waitFor();
    await expectNoFaults();
    await showPart(page, 'Domains');
    await row(page, 'shop.happypaws.test').click();
    await summary(page).getByText('GitHub Pages: “InvalidCNAMEError”').waitFor();
    await page.getByText('GitHub Pages · DNS check unsuccessful').waitFor();
    await region(page, 'Records').getByText('_github-pages-challenge-happy-paws', { exact: true }).waitFor();
    await button(page, 'Put it in my local zone').click();
    await button(page, 'Replace it in my local zone').click();
    await button(page, /^(Verify|Re-verify)$/).click();
    await page.getByText('GitHub Pages · DNS check successful · approved').waitFor();
    await expectNoFaults();
  });
});

describe('attaching a domain', () => {
  it('shows each refusal at the field and keeps what was typed; a wildcard has a hostname under it in addresses', async () => {
    const { page, visit } = await openPage({ path: `${DOMAINS}?attach=name` });
    const field = page.getByLabel('Hostname');
    for (const [typed, message] of [
      ['www.acme.test/x', /is more than a hostname.*Write only www\.acme\.test/],
      ['w*.acme.test', /must be the whole first label/],
      ['a_b.acme.test', /Use a hyphen instead/],
      ['shop.vivarium.localhost', /vivarium\.localhost/],
      ['<b>x</b>.test', /<b>x/],
    ] as const) {
      await enter(field, typed);
      await page.getByRole('alert').getByText(message).waitFor();
      await expect.poll(() => field.inputValue()).toBe(typed);
      await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    }
    await enter(field, 'www.happypaws.test');
    await page.getByRole('link', { name: 'Show www.happypaws.test in Happy Paws' }).click();
    await page.getByRole('heading', { name: 'www.happypaws.test' }).waitFor();

    await visit(`${DOMAINS}?attach=name`);
    await enter(field, '*.acme.test');
    await page.getByRole('heading', { name: '*.acme.test' }).waitFor();
    await button(page, 'Put it in my local zone').click();
    await page.getByText('* CNAME cname.vivarium.localhost is in the zone acme.test.').waitFor();
    await button(page, 'Verify').click();
    await rowSays(page, '*.acme.test', 'certificate issued');
    await page.getByRole('link', { name: 'https://www.acme.test:' }).waitFor();
    await button(page, 'More for *.acme.test').last().click();
    await page.getByRole('menuitem', { name: 'Remove' }).waitFor();
    await expect
      .poll(() => page.getByRole('menuitem').allInnerTexts())
      .toEqual(['Re-verify it', 'Break it', 'Remove it']);
  });

  it('takes many pasted hostnames, and reports each that is refused; names are shown in Unicode', async () => {
    const { page, expectNoFaults } = await openPage({ path: `${DOMAINS}?attach=name` });
    const field = page.getByLabel('Hostname');
    await field.focus();
    await page.evaluate(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'a.cust.test\\nbücher.test\\nb_c.test\\nwww.happypaws.test\\na.cust.test');
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    })()`);
    await waitForFocus(page.getByLabel('Hostnames'));
    await expectNoFaults();
    await button(page, 'Attach 3 of 5 domains').click();
    await page.getByText('1 not a hostname, 1 already attached, 1 repeated.').waitFor();
    await page.locator('a[data-hostname]:focus').waitFor();
    await rowSays(page, 'xn--bcher-kva.test', 'bücher.test');
    await button(page, 'See why').click();
    const rows = page.getByRole('dialog').getByRole('row');
    await expect.poll(() => rows.count()).toBe(4);
    // The task names its project, and lies below dialogs.
    await region(page, 'Tasks in progress').getByText('Happy Paws').waitFor();
    const isAbove = `(() => {
      const { x, y } = document.querySelector('[aria-label="Tasks in progress"] b').getBoundingClientRect();
      return document.elementFromPoint(x + 2, y + 2).closest('[aria-label="Tasks in progress"]') === null;
    })()`;
    await expect.poll(() => page.evaluate(isAbove)).toBe(true);
    await rows.nth(1).getByText('Use a hyphen instead').waitFor();
    await rows.nth(2).getByText('www.happypaws.test', { exact: true }).waitFor();
    await button(page, 'Close').first().click();
    await row(page, 'xn--bcher-kva.test').click();
    await page.getByText('xn--bcher-kva.test', { exact: true }).first().waitFor();
    await expectNoFaults();
  });

  it('offers the required plan, and can undo the change', async () => {
    const { page, engine, expectNoFaults } = await openPage({ path: '/projects/demo/domains' });
    await page.getByText('No domains yet').waitFor();
    await expectNoFaults();
    await button(page, 'Attach a domain').last().click();
    await page.getByLabel('Hostname').fill('www.acme.test');
    await button(page, 'Change to Pro and attach').click();
    await page.getByRole('heading', { name: 'www.acme.test' }).waitFor();
    await expect.poll(async () => (await engine.demo()).plan).toBe('pro');
    // Downgrading the plan suspends the domain, which is explained with a link to restore it.
    await page.keyboard.press('Control+z');
    await page.getByText('Demo is on the Free plan again.').waitFor();
    await rowSays(page, 'www.acme.test', 'suspended');
    await button(page, 'Close').click();
    await page.getByText('1 domain is suspended').waitFor();
    await expectNoFaults();
    await button(page, 'Change the plan to Pro').click();
    await rowSays(page, 'www.acme.test', 'pending');
  });

  it('deploys a project that was never deployed, and serves the hostname at once if asked to', async () => {
    const { page, engine, visit } = await openPage();
    await engine.call('projects.create', { name: 'Fresh', plan: 'pro' });
    await visit('/projects/fresh/domains?attach=name');
    await enter(page.getByLabel('Hostname'), 'fresh.test');
    await region(page, 'Record').getByText('ALIAS', { exact: true }).waitFor();
    await visit('/projects/fresh/domains?attach=name');
    await page.getByRole('switch', { name: /^Put the record into my local zone/ }).check();
    await enter(page.getByLabel('Hostname'), 'www.fresh.test');
    await page.getByRole('link', { name: 'https://www.fresh.test:' }).waitFor();
  });
});

describe('redirects and configuration', () => {
  it('are edited together, and a loop is refused at its field', async () => {
    const { page, engine, expectNoFaults } = await openPage({ path: `${DOMAINS}/www.happypaws.test` });
    await button(page, 'More for www.happypaws.test').last().click();
    await page.getByRole('menuitem', { name: 'Redirect it to another hostname' }).click();
    const from = page.getByRole('combobox', { name: 'From' });
    const to = page.getByRole('combobox', { name: 'To', exact: true });
    await expect.poll(() => from.inputValue()).toBe('www.happypaws.test');
    await waitForFocus(to);
    await to.fill('www.happypaws.test');
    await button(page, 'Save').click();
    await seen(page.getByRole('alert'), /forms a loop/);
    await expectNoFaults();
    await to.fill('happypaws.example');
    await page.getByLabel('Status').selectOption('308');
    await button(page, 'Save').click();
    await page.getByText('The redirects apply now.').waitFor();
    const answer = await engine.api({ host: 'www.happypaws.test', path: '/v1/pets?limit=1' });
    expect([answer.status, answer.headers.location]).toEqual([
      308,
      `http://happypaws.example:${engine.app.runtime.http.port}/v1/pets?limit=1`,
    ]);
    await showPart(page, 'Domains');
    await rowSays(page, 'www.happypaws.test', 'Redirects to happypaws.example');
  });

  it('are exported and imported as JSON', async () => {
    const { page, engine } = await openPage({ path: `${DOMAINS}?show=configuration` });
    const text = page.getByRole('textbox', { name: 'Configuration' });
    await expect.poll(async () => JSON.parse(await text.inputValue())).toMatchObject({ primary: null, redirects: [] });
    await text.fill('{ "primary": ');
    await button(page, 'Apply').click();
    await page.getByText(/This is not JSON/).waitFor();
    await text.fill('{ "primary": "www.happypaws.test", "domain": [] }');
    await button(page, 'Apply').click();
    await seen(page.getByRole('alert'), /domain/);
    await text.fill('{ "primary": "www.happypaws.test", "domains": ["new.happypaws.test"] }');
    await button(page, 'Apply').click();
    await page.getByText(/Attached: new\.happypaws\.test/).waitFor();
    const projectId = await proProject(engine);
    await expect
      .poll(() => engine.call('domains.export', { projectId }))
      .toMatchObject({ primary: 'www.happypaws.test' });
  });
});

describe('the list of domains', () => {
  it(
    'holds a thousand domains: searchable by name and state, usable by keyboard, with only visible rows rendered',
    async () => {
      const { page, expectNoFaults } = await openPage({
        prepare: async (engine) => {
          const projectId = await proProject(engine);
          const domains = Array.from({ length: 1_000 }, (_, index) => `tenant-${index}.many.test`);
          await engine.call('domains.import', { projectId, configuration: { domains } });
        },
        path: DOMAINS,
      });
      await rowSays(page, 'happypaws.example', 'verified');
      await expect.poll(() => list(page).getByRole('listitem').count()).toBeLessThan(60);
      await row(page, 'happypaws.example').focus();
      await page.keyboard.press('End');
      await focused(page, 'www.happypaws.test');
      await page.keyboard.press('ArrowUp');
      await focused(page, 'tenant-999.many.test');
      await page.keyboard.press('ArrowUp');
      await focused(page, 'tenant-998.many.test');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'tenant-998.many.test' }).waitFor();
      // The details follow the arrow keys; Escape returns to the list.
      await page.keyboard.press('ArrowUp');
      await page.getByRole('heading', { name: 'tenant-997.many.test' }).waitFor();
      await page.getByRole('heading', { name: 'tenant-997.many.test' }).focus();
      await page.keyboard.press('Escape');
      await focused(page, 'tenant-997.many.test');
      await page.keyboard.press('/');
      await page.keyboard.type('tenant-99');
      await row(page, 'tenant-99.many.test').waitFor();
      await expect.poll(() => list(page).getByRole('listitem').count()).toBe(11);
      await page.getByLabel('State').selectOption({ label: 'Misconfigured (1)' });
      await page.getByText('No domain matches').waitFor();
      await button(page, 'Show all').click();
      await button(page, 'State').click();
      await row(page, 'shop.happypaws.test').focus();
      for (const key of ['Home', 'Space', 'ArrowDown', 'Space']) await page.keyboard.press(key);
      await page.getByText('2 domains selected').waitFor();
      const firstRows = () =>
        list(page)
          .getByRole('listitem')
          .evaluateAll((all) => all.slice(0, 8).map((one) => one.dataset['key']));
      const before = await firstRows();
      await expectNoFaults();
      await page.keyboard.press('Delete');
      await page.getByText('Removed 2 domains').first().waitFor();
      await row(page, 'shop.happypaws.test').waitFor({ state: 'detached' });
      await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY');
      await page.keyboard.press('Control+z');
      await page.getByText('2 domains attached again').waitFor();
      await row(page, 'shop.happypaws.test').waitFor();
      await expect.poll(firstRows).toEqual(before);
      const boxes = list(page).getByRole('checkbox');
      await boxes.nth(1).click();
      await boxes.nth(5).click({ modifiers: ['Shift'] });
      await page.getByText('5 domains selected').waitFor();
      // The report of the undo can be scrolled off the buttons below the list.
      const covered = await page.evaluate<boolean>(`(() => {
        window.scrollTo(0, document.body.scrollHeight);
        const report = document.querySelector('[aria-label="Tasks in progress"]').getBoundingClientRect();
        const buttons = document.querySelector('.list .foot').getBoundingClientRect();
        return report.height > 0 && report.top < buttons.bottom;
      })()`);
      expect(covered).toBe(false);
      await button(page, 'More for these domains').click();
      await page.getByRole('menuitem', { name: 'Clear the selection' }).click();
      await page.getByText('1,003 domains', { exact: true }).waitFor();
      const all = page.getByRole('checkbox', { name: 'Select all' });
      await all.click();
      await page.getByText('1,003 domains selected').waitFor();
      await all.click();
      await page.getByText('1,003 domains', { exact: true }).waitFor();
    },
    STORY_MS_MAX,
  );

  it('explains a wrong link, and is usable by keyboard alone: the menu of a row, Remove, and on to the next row', async () => {
    const { page, visit } = await openPage({ path: `${DOMAINS}/gone.acme.test` });
    await page.getByText('gone.acme.test is not attached to this project').waitFor();
    await visit('/projects/demo/domains/www.happypaws.test');
    await page.getByText('It is attached to Happy Paws').waitFor();
    await page.getByRole('link', { name: 'show it there' }).click();
    await page.getByRole('heading', { name: 'www.happypaws.test' }).waitFor();
    await visit(DOMAINS);
    await rowSays(page, 'shop.happypaws.test', 'misconfigured');
    await row(page, 'happypaws.example').focus();
    await page.keyboard.press('ArrowDown');
    await focused(page, 'shop.happypaws.test');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('menu').locator(':focus').waitFor();
    await page.keyboard.press('End');
    await waitForFocus(page.getByRole('menuitem', { name: 'Remove' }));
    await page.keyboard.press('Enter');
    await row(page, 'shop.happypaws.test').waitFor({ state: 'detached' });
    await focused(page, 'www.happypaws.test');
    await page.getByText('Removed shop.happypaws.test. It is no longer served').first().waitFor();
    await page.keyboard.press('Control+z');
    await page.getByText('shop.happypaws.test is attached again, not verified, misconfigured.').waitFor();
    // A moving row ignores clicks.
    await rowSays(page, 'shop.happypaws.test', 'misconfigured');
    await row(page, 'www.happypaws.test').click();
    await region(page, 'Certificate').getByText('left').waitFor();
    await runCommand(page, 'renew the certificate', /^Renew the certificate of www\.happypaws\.test/);
    await page.getByText('www.happypaws.test has a new certificate.').waitFor();
  });

  it('gives way to the details in a narrow window, where a hostname of 253 characters fits', async () => {
    const hostname = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.${'d'.repeat(51)}.acme.test`;
    expect(hostname).toHaveLength(253);
    const { page } = await openPage({
      viewport: { width: 900, height: 600 },
      prepare: async (engine) => {
        await engine.call('domains.attach', { projectId: await proProject(engine), hostname });
        await engine.call('domains.verify', { hostname });
      },
      path: DOMAINS,
    });
    await row(page, hostname).click();
    await page.getByRole('heading', { name: hostname }).waitFor();
    await expect.poll(() => row(page, hostname).isVisible()).toBe(false);
    await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('H2');
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(900);
    await page.keyboard.press('Escape');
    await focused(page, hostname);
  });
});
