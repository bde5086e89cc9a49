import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Sqlite from 'better-sqlite3';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Project } from '../../main/contract/projects.ts';
import { type Engine, startEngine, track } from '../support/engine.ts';
import { buildPage } from '../support/page/page-build.ts';
import { copyBy, expectNoFaults, expectToFit, useEnginePages } from '../support/page/page-on-engine.ts';
import { requireTool } from '../support/tools.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { refusingPort } from '../support/ports.ts';

const openPage = useEnginePages();

const run = promisify(execFile);

const HAPPY_PAWS = '/projects/happy-paws';

const seen = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

async function projectAt(engine: Engine, slug: string): Promise<Project> {
  const projects = (await engine.call('projects.list')) as Project[];
  const found = projects.find((project) => project.slug === slug);
  if (found === undefined) throw new Error(`There is no project ${slug}.`);
  return found;
}

/** Creates a key with the given name, and makes `count` requests with it. */
async function makeCaller(
  engine: Engine,
  { id: projectId, slug }: Project,
  name: string,
  count: number,
): Promise<void> {
  const { secret } = (await engine.call('keys.create', { projectId, name })) as { secret: string };
  for (let request = 0; request < count; request++) {
    await engine.api({ host: `${slug}.vivarium.localhost`, key: secret });
  }
}

/** A project limited to ten requests a minute, with allowed, refused and banned callers. */
async function makeBusy(engine: Engine): Promise<void> {
  const limits = { perMinute: 10, perDay: 1_000 };
  const shop = (await engine.call('projects.create', { name: 'Pet shop', plan: 'enterprise', limits })) as Project;
  await makeCaller(engine, shop, 'Storefront', 3);
  await makeCaller(engine, shop, 'Import', 16);
  await makeCaller(engine, shop, 'CI', 30);
  await engine.api({ host: 'pet-shop.vivarium.localhost', key: null });
}

describe('the overview', () => {
  it('shows the addresses, the listeners, the pets and a first request', async () => {
    const opened = await openPage();
    const { page, engine } = opened;
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByRole('heading', { level: 2, name: 'Demo' }).waitFor();
    await expect.poll(() => page.title()).toBe('Overview · Demo · Vivarium');
    const { http, https, dns } = engine.app.runtime;
    const addresses = page.getByRole('table', { name: 'Base addresses of Demo' });
    for (const url of [
      `http://demo.vivarium.localhost:${http.port}/v1`,
      `https://demo.vivarium.localhost:${https.port}/v1`,
      `http://demo-staging.vivarium.localhost:${http.port}/v1`,
      `https://demo-staging.vivarium.localhost:${https.port}/v1`,
    ]) {
      await addresses.getByText(url, { exact: true }).waitFor();
    }
    await seen(page, 'curl -H "Authorization: Bearer $VIVARIUM_KEY"');
    await page.getByRole('region', { name: 'Listeners' }).getByText(`127.0.0.1:${dns.port}`).waitFor();
    await seen(page, 'the first 8 of 30 pets');
    await seen(page, 'in all projects, since the start');
    await expect
      .poll(() => page.getByRole('link', { name: 'Requests', exact: true }).getAttribute('href'))
      .toBe('/traffic?of=all');
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'available' }).count()).toBeGreaterThan(3);
    await expect
      .poll(() => page.getByRole('navigation').getByRole('link').allInnerTexts())
      .toEqual(expect.arrayContaining(['Overview', 'General']));
    await expectNoFaults(opened);
  });

  it('shows requests and changes without a reload, and HTML in a name as text', async () => {
    const { page, engine, errors } = await openPage();
    await seen(page, 'Biscuit the Border Collie');
    await engine.api();
    await page.getByRole('meter', { name: 'Demo key: minute' }).waitFor();
    const { id: projectId } = await engine.demo();
    const name = '<img src=x onerror="document.title=1">';
    await engine.call('pets.update', { projectId, id: 1, name });
    await seen(page, name);
    await expect.poll(() => page.title()).toContain('Overview');
    await engine.call('clock.advance', { by: 'PT48H' });
    await seen(page, 'The simulated clock is 2 days ahead of the real time.');
    expect(errors).toEqual([]);
  });

  it('removes the token from the address bar and the history, and stays signed in after a reload', async () => {
    const { page, engine, errors } = await openPage();
    const { url, token } = engine.app.runtime.control;
    await expect.poll(() => page.url()).toBe(`${url}/`);
    const cdp = await page.context().newCDPSession(page);
    const { entries } = await cdp.send('Page.getNavigationHistory');
    expect(entries.map((entry) => entry.url).filter((visited) => visited.includes(token))).toEqual([]);
    await cdp.detach();
    await page.reload();
    await seen(page, 'live');
    expect(errors).toEqual([]);
  });

  it('copies an address, and confirms it', async () => {
    const { page, engine, errors } = await openPage();
    const said = page.getByRole('status').filter({ hasText: 'Copied production address over HTTPS.' }).waitFor();
    await page.getByRole('button', { name: 'Copy production address over HTTPS' }).click();
    await said;
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toBe(`https://demo.vivarium.localhost:${engine.app.runtime.https.port}/v1`);
    expect(errors).toEqual([]);
  });

  it('shows the first request for Node too, and over HTTPS with the root to trust', async () => {
    const { page, engine } = await openPage();
    await page.getByRole('group', { name: 'Client' }).getByLabel('Node').check();
    await seen(page, `get('http://127.0.0.1:${engine.app.runtime.http.port}/v1/pets?limit=5'`);
    await seen(page, 'node first.mjs');
    await page.getByRole('group', { name: 'Client' }).getByLabel('curl').check();
    await seen(page, /by themselves: nothing to set up/);
    await page.getByRole('group', { name: 'Scheme' }).getByLabel('HTTPS').check();
    await seen(page, `--cacert ${engine.app.runtime.caFile}`);
  });

  it('creates a key for the first request, which then works when pasted', async () => {
    requireTool('curl');
    const { page } = await openPage({ path: HAPPY_PAWS });
    const panel = page.getByRole('region', { name: 'First request' });
    await panel.getByText('This project has no key yet.').waitFor();
    await panel.getByRole('button', { name: 'Create a key for it' }).click();
    await panel.getByText(/Bearer viv_\w{32}/).waitFor();
    const pasted = await copyBy(panel.getByRole('button', { name: 'Copy first request' }));
    const { stdout } = await run('sh', ['-c', pasted.replace('curl ', 'curl -sS ')]);
    expect(JSON.parse(stdout)).toHaveLength(5);
    await page.keyboard.press('Control+z');
    await panel.getByText('This project has no key yet.').waitFor();
    const { stdout: refused } = await run('sh', ['-c', pasted.replace('curl ', 'curl -sS ')]);
    expect(JSON.parse(refused)).toMatchObject({ status: 401 });
  });

  it('shows each caller’s two rate windows, strikes and bans, and counts down without calling the engine', async () => {
    const { page, open, errors } = await openPage({ prepare: makeBusy });
    const minute = page.getByRole('meter', { name: 'Storefront: minute' });
    await minute.waitFor();
    await expect.poll(() => minute.getAttribute('aria-valuenow')).toBe('3');
    // The reset is rounded up to a whole second, as in X-RateLimit-Reset.
    const countdown = /^3 of 10 requests used, resets in (\d+ s|1 min( 1 s)?)$/;
    await expect.poll(() => minute.getAttribute('aria-valuetext')).toMatch(countdown);
    await page.getByRole('meter', { name: 'Import: minute' }).getByText('exhausted').waitFor();
    await seen(page, '6 strikes');
    await seen(page, /Banned/);
    await page.getByRole('meter', { name: '127.0.0.1: day' }).waitFor();

    const asked: string[] = [];
    page.once('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => asked.push(String(payload)));
    });
    await open('/projects/pet-shop');
    await minute.waitFor();
    await page.getByRole('meter', { name: '127.0.0.1: day' }).waitFor();
    const askedForUsage = () => asked.filter((payload) => payload.includes('limits/usage')).length;
    const before = askedForUsage();
    expect(before).toBeGreaterThan(0);
    const text = await minute.getAttribute('aria-valuetext');
    await expect.poll(() => minute.getAttribute('aria-valuetext')).not.toBe(text);
    expect(askedForUsage()).toBe(before);
    expect(errors).toEqual([]);
  });

  it('charts the last minutes, even those before the page was opened, and continues live', async () => {
    const opened = await openPage({ path: HAPPY_PAWS });
    const { page, engine, open } = opened;
    await page.getByText(/^No requests in the last five minutes\./).waitFor();
    await Promise.all([engine.api(), engine.api(), engine.api({ key: null })]);
    await open('/projects/demo');
    await page.getByRole('img', { name: /; 3 in the last five minutes, [1-3] a second at most\.$/ }).waitFor();
    await Promise.all([engine.api(), engine.api()]);
    await page.getByRole('img', { name: /; 5 in the last five minutes/ }).waitFor();
    await page.getByRole('img', { name: /^0 requests in the last second/ }).waitFor();
    const moment = page.getByRole('slider', { name: 'Requests per second: moment' });
    const { x = 0, y = 0, width = 0 } = (await moment.boundingBox()) ?? {};
    await page.mouse.move(x + width / 2, y + 20);
    await page.mouse.down();
    await page.mouse.move(x + width + 20, y + 20, { steps: 3 });
    await page.mouse.up();
    await page.getByRole('img', { name: /^5 requests in this part/ }).waitFor();
    await page.getByRole('link', { name: 'its requests' }).waitFor();
    await expectNoFaults(opened);
    await moment.press('Escape');
    await page.getByRole('img', { name: /^0 requests in the last second/ }).waitFor();
    for (let step = 0; step < 3; step++) await moment.press('Shift+ArrowLeft');
    await moment.press('Enter');
    await page.getByRole('button', { name: 'Show all five minutes', disabled: false }).press('Enter');
    await page.getByRole('img', { name: /^0 requests in the last second/ }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY');
  });

  it('switches between projects, and remembers the last one', async () => {
    const { page, open, errors } = await openPage({ path: HAPPY_PAWS });
    await page.getByRole('heading', { level: 2, name: 'Happy Paws' }).waitFor();
    await page.getByRole('button', { name: 'Project: Happy Paws' }).click();
    await page.getByRole('option', { name: 'Demo' }).click();
    await page.getByRole('heading', { level: 2, name: 'Demo' }).waitFor();
    await open('/');
    await page.getByRole('heading', { level: 2, name: 'Demo' }).waitFor();
    await page.getByRole('button', { name: 'Project: Demo' }).click();
    await page.getByRole('option', { name: 'Happy Paws' }).click();
    await page.getByRole('heading', { level: 2, name: 'Happy Paws' }).waitFor();
    await open('/');
    await page.getByRole('heading', { level: 2, name: 'Happy Paws' }).waitFor();
    expect(errors).toEqual([]);
  });

  it('fills an empty dataset with made-up pets', async () => {
    const { page, errors } = await openPage({
      prepare: async (engine) => {
        const { id: projectId } = await engine.demo();
        await engine.call('pets.clear', { projectId, environment: 'staging' });
      },
    });
    await page.getByRole('group', { name: 'Whose pets' }).getByLabel('Staging').check();
    await seen(page, 'No pets in staging');
    await page.getByRole('button', { name: 'Add 30 made-up pets' }).click();
    await seen(page, 'the first 8 of 30 pets');
    expect(errors).toEqual([]);
  });

  it('offers a new project when there is none', async () => {
    const { page, errors } = await openPage({ empty: true });
    await seen(page, 'No projects yet');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('dialog', { name: 'New project' }).getByLabel('Name', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Listeners' }).waitFor();
    expect(errors).toEqual([]);
  });

  it('shows the engine’s warnings', async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'backups'));
    writeFileSync(join(dataDir, 'backups', 'vivarium-v1-20261120T090000000Z.db'), '');
    const engine = await startEngine({ dataDir, empty: true }, { assetsDir: await buildPage() });
    const { page, errors } = await openPage({ engine });
    await page
      .getByRole('region', { name: 'Needs attention' })
      .getByText('although there are backups of an earlier one')
      .waitFor();
    expect(errors).toEqual([]);
  });

  it('lists problems that need attention, with links to the pages that solve them', async () => {
    const { port, release } = await refusingPort();
    const dead = `http://127.0.0.1:${port}`;
    const opened = await openPage({
      path: HAPPY_PAWS,
      prepare: async (engine) => {
        const project = await projectAt(engine, 'happy-paws');
        const { id: projectId } = project;
        await engine.call('settings.update', { banAfter: 2 });
        await engine.call('projects.update', {
          projectId,
          plan: 'enterprise',
          limits: { perMinute: 2, perDay: 1_000 },
        });
        await makeCaller(engine, project, 'CI', 5);
        await engine.call('projects.update', { projectId, target: { kind: 'upstream', url: dead } });
        await engine.call('deploys.create', { projectId });
      },
    });
    const { page } = opened;
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('Nothing is listening at the upstream').waitFor();
    await page.getByText('does not answer').waitFor();
    await attention.getByText('CI is banned: it kept calling after it was refused.').waitFor();
    const links = () =>
      attention.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')).toSorted());
    await expect
      .poll(links)
      .toEqual([
        `${HAPPY_PAWS}/domains/happypaws.example`,
        `${HAPPY_PAWS}/domains/shop.happypaws.test`,
        `${HAPPY_PAWS}/settings`,
        `${HAPPY_PAWS}/keys-and-limits`,
      ]);
    const domain = (hostname: string) =>
      page.getByRole('region', { name: 'Domains' }).getByRole('listitem').filter({ hasText: hostname });
    await domain('www.happypaws.test').getByText('certificate issued').waitFor();
    await domain('shop.happypaws.test').getByText('misconfigured').waitFor();
    await page
      .getByRole('img', { name: /refused/ })
      .locator('.brick path[d^=M]')
      .first()
      .waitFor();
    await expectNoFaults(opened);

    await attention.getByRole('button', { name: 'Lift the ban of CI' }).click();
    await page.getByText('The ban of CI is lifted.').waitFor();
    await attention.getByText('CI is banned').waitFor({ state: 'detached' });
    const server = createServer((_request, response) => response.end('up'));
    track(() => void server.close());
    await release();
    await once(server.listen(port, '127.0.0.1'), 'listening');
    await attention.getByText('The last deploy failed.').waitFor();
    await page.getByText('answers', { exact: true }).waitFor();
  });

  it('groups many failing domains by cause, and verifies a group at once', async () => {
    const opened = await openPage({
      path: HAPPY_PAWS,
      prepare: async (engine) => {
        const { id: projectId } = await projectAt(engine, 'happy-paws');
        await engine.call('zones.create', { name: 'big.test' });
        for (let index = 1; index <= 60; index++) {
          const { hostname } = (await engine.call('domains.attach', {
            projectId,
            hostname: `shop-${index}.big.test`,
          })) as {
            hostname: string;
          };
          await engine.call('domains.verify', { hostname });
        }
        const value = engine.app.runtime.cnameTarget;
        await engine.call('records.put', { zone: 'big.test', name: '*', type: 'CNAME', value });
      },
    });
    const { page, open } = opened;
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('No record yet: 60 domains').waitFor();
    const domains = page.getByRole('region', { name: 'Domains' });
    await expect.poll(() => domains.getByRole('listitem').count()).toBe(6);
    await domains.getByRole('link', { name: 'All domains (63)' }).waitFor();
    await expectNoFaults(opened);
    await attention.getByRole('button', { name: 'Verify 60 domains' }).click();
    await page.getByText('60 domains checked: 60 verified, with a certificate.').waitFor();
    await attention.getByText('No record yet').waitFor({ state: 'detached' });

    // The results of a search can be verified at once, too.
    await open(`${HAPPY_PAWS}/domains?search=shop-5`);
    await page.getByText('11 of 63 domains').waitFor();
    await page.getByRole('button', { name: 'Verify these' }).click();
    await page.getByText('11 domains checked: 11 verified, with a certificate.').waitFor();
    await expectNoFaults(opened);

    // A link to one of the domains shows its row.
    await open(`${HAPPY_PAWS}/domains/shop-55.big.test`);
    const row = page.locator('[data-hostname="shop-55.big.test"]');
    await expect.poll(() => row.isVisible()).toBe(true);
    await expect.poll(async () => (await row.boundingBox())?.y ?? Infinity).toBeLessThan(900);
  });

  it('reports a dataset that could not be read, and can retry', async () => {
    const dataDir = temporaryFolder();
    const engine = await startEngine({ dataDir }, { assetsDir: await buildPage() });
    const database = new Sqlite(join(dataDir, 'vivarium.db'));
    track(() => void database.close());
    database.exec('ALTER TABLE pets RENAME TO gone');
    const { page, errors } = await openPage({ engine });
    const pets = page.getByRole('region', { name: 'Pets' });
    await pets.getByText('The pets could not be read').waitFor();
    await page.getByRole('region', { name: 'Listeners' }).waitFor();
    database.exec('ALTER TABLE gone RENAME TO pets');
    await pets.getByRole('button', { name: 'Read again' }).click();
    await seen(page, 'Biscuit');
    expect(errors).toEqual([]);
  });
});

describe('the page', () => {
  it('fits a hostname of 253 characters without scrolling sideways, in windows of every size', async () => {
    const zone = 'happypaws.test';
    const hostname = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.${'d'.repeat(46)}.${zone}`;
    expect(hostname).toHaveLength(253);
    const opened = await openPage({
      prepare: async (engine) => {
        const { id: projectId } = await projectAt(engine, 'happy-paws');
        await engine.call('domains.attach', { projectId, hostname });
        const record = { zone, name: hostname.slice(0, -zone.length - 1), type: 'CNAME' };
        await engine.call('records.put', { ...record, value: engine.app.runtime.cnameTarget });
        await engine.call('domains.verify', { hostname });
        await engine.call('domains.setPrimary', { projectId, hostname });
      },
    });
    const { page, engine } = opened;
    const address = `http://${hostname}:${engine.app.runtime.http.port}/v1`;
    await expectToFit(opened, HAPPY_PAWS, () => seen(page, address));
  });

  it.each(['light', 'dark'] as const)('follows the system’s %s theme unless another is set', async (colorScheme) => {
    const { page } = await openPage({ colorScheme });
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const other = colorScheme === 'light' ? 'Dark' : 'Light';
    const before = await ground();
    await page.getByRole('group', { name: 'Theme' }).getByLabel(other).check();
    await expect.poll(() => ground()).not.toBe(before);
    await page.reload();
    await seen(page, 'live');
    await expect.poll(() => ground()).not.toBe(before);
    await page.getByRole('group', { name: 'Theme' }).getByLabel('Follow the system').check();
    await expect.poll(() => ground()).toBe(before);
  });

  it('can be used with the keyboard alone: every tab stop has a name and a visible focus', async () => {
    const { page } = await openPage({ prepare: makeBusy });
    await page.getByRole('meter', { name: 'Storefront: minute' }).waitFor();
    const stops: { name: string; outline: string }[] = [];
    const AT_FOCUS = `(() => {
      const element = document.activeElement;
      const shown = element.matches('input[type=radio]') ? element.closest('label') : element;
      return { name: (element.ariaLabel ?? element.labels?.[0]?.innerText ?? element.innerText ?? '').trim(),
        tag: element.tagName, outline: getComputedStyle(shown).outlineStyle };
    })()`;
    for (;;) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate<{ name: string; tag: string; outline: string }>(AT_FOCUS);
      if (stop.tag === 'BODY' || stops.length > 60) break;
      stops.push(stop);
    }
    expect(stops[0]?.name).toBe('Skip to the content');
    expect(stops.filter(({ name, outline }) => name === '' || outline === 'none')).toEqual([]);
    expect(stops.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Overview', 'Copy first request', 'Copy production address over HTTP', 'HTTP']),
    );
  });
});
