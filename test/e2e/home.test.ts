import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Project } from '../../main/contract/projects.ts';
import { type Engine, startEngine, track } from '../support/engine.ts';
import { builtPage } from '../support/page/page-build.ts';
import { copyBy, seen, openPage } from '../support/page/page-on-engine.ts';
import { holdRun } from '../support/page/page-run.ts';
import { requireTool } from '../support/tools.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { refusingPort } from '../support/ports.ts';

const run = promisify(execFile);

const HAPPY_PAWS = '/projects/happy-paws';

/** Creates a key with the given name, and makes `count` requests with it. */
async function makeCaller(
  engine: Engine,
  { id: projectId, slug }: Project,
  name: string,
  count: number,
): Promise<void> {
  const { secret } = await engine.call('keys.create', { projectId, name });
  for (let request = 0; request < count; request++) {
    await engine.api({ host: `${slug}.vivarium.localhost`, key: secret });
  }
}

/** A project limited to ten requests a minute, with allowed, refused and banned callers. */
async function makeBusy(engine: Engine): Promise<void> {
  const limits = { perMinute: 10, perDay: 1_000 };
  const shop = await engine.call('projects.create', { name: 'Pet shop', plan: 'enterprise', limits });
  await makeCaller(engine, shop, 'Storefront', 3);
  await makeCaller(engine, shop, 'Import', 16);
  await makeCaller(engine, shop, 'CI', 30);
  await engine.api({ host: 'pet-shop.vivarium.localhost', key: null });
}

describe('Home', () => {
  it('leads with the address, says what Vivarium does with it, and offers three ways to begin', async () => {
    const { page, engine } = await openPage();
    await page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor();
    await expect.poll(() => page.title()).toBe('Home · Demo · Vivarium');
    const { http, https } = engine.app.runtime;
    const main = page.getByRole('link', { name: `https://demo.vivarium.localhost:${https.port}`, exact: true });
    await main.waitFor();
    const sizes = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main *')].map((element) => getComputedStyle(element).fontSize)`,
    );
    await expect
      .poll(() => page.evaluate(`getComputedStyle(document.querySelector('main section a')).fontSize`))
      .toBe('20px');
    expect(Math.max(...sizes.map((size) => Number.parseFloat(size)))).toBe(20);
    await expect.poll(async () => (await main.boundingBox())?.y ?? Infinity).toBeLessThan(200);
    await seen(page, /simulates a hosting platform on your computer[^]*; nothing leaves this machine\./);
    for (const name of ['Put your own server here', 'Call the sample API', 'Attach a custom domain']) {
      const { width = 0, height = 0 } = (await page.getByRole('region', { name }).boundingBox()) ?? {};
      expect(Math.min(width, height), name).toBeGreaterThan(100);
    }
    await page.getByRole('button', { name: '3 more addresses' }).click();
    const others = page.getByRole('dialog', { name: 'Other addresses' });
    for (const url of [
      `http://demo.vivarium.localhost:${http.port}`,
      `https://demo-staging.vivarium.localhost:${https.port}`,
      `http://demo-staging.vivarium.localhost:${http.port}`,
    ]) {
      await others.getByRole('link', { name: url, exact: true }).waitFor();
    }
  });

  it('shows the last requests and who called once there was traffic, without a reload', async () => {
    const { page, engine } = await openPage();
    await page.getByRole('region', { name: 'Call the sample API' }).waitFor();
    const { id: projectId } = await engine.demo();
    for (const name of ['One', 'Two']) await engine.call('keys.create', { projectId, name });
    // What the project itself asks a provider is no request to it.
    const asked = await engine.call('providers.connect', { provider: 'vercel', projectId });
    const reached = ['--proxy', asked.proxyUrl, '--cacert', asked.caFile, '-H', `Authorization: Bearer ${asked.token}`];
    await run('curl', ['-sSf', ...reached, 'https://api.vercel.com/v5/domains']);
    await Promise.all([engine.api(), engine.api({ path: '/v1/pets/7' })]);
    const requests = page.getByRole('region', { name: 'Last requests' });
    await requests.getByRole('listitem').filter({ hasText: '/v1/pets/7' }).getByText('200').waitFor();
    await expect.poll(() => requests.getByRole('listitem').count()).toBe(2);
    await page.getByRole('meter', { name: 'Demo key: minute' }).waitFor();
    await seen(page, '2 keys not used yet');
    await page.getByRole('slider', { name: 'Requests per second: moment' }).waitFor();
    await page.getByRole('img', { name: /^2 requests, 0 of them refused/ }).waitFor();
    await requests.getByText('Demo key').first().waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'Call the sample API' }).isVisible()).toBe(false);
    await page.getByText('Put your own server here, or attach a custom domain').click();
    await page.getByRole('region', { name: 'Call the sample API' }).waitFor();
    await requests.getByRole('link', { name: '/v1/pets/7' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/projects\/demo\/traffic\/trf_/);
  });

  it('copies a request that works when pasted: with the demo’s key, else with a new one that can be undone', async () => {
    requireTool('curl');
    const { page, engine, visit } = await openPage();
    const { id: projectId } = await engine.demo();
    const keysOf = async (of: string) => (await engine.call('keys.list', { projectId: of })).length;
    const copy = page.getByRole('button', { name: 'Copy first request' });
    const paste = async (text: string) => {
      const { stdout } = await run('sh', ['-c', text.replace('curl ', 'curl -sS ')]);
      const [head = '', body = ''] = stdout.split('\r\n\r\n');
      expect(head).toContain('X-RateLimit-Remaining: ');
      return JSON.parse(body) as unknown;
    };
    await copy.waitFor();
    await expect.poll(() => keysOf(projectId)).toBe(1);
    const first = await copyBy(copy);
    await expect.poll(() => paste(first)).toHaveLength(5);
    await expect.poll(() => keysOf(projectId)).toBe(1);

    const paws = await engine.project('happy-paws');
    await visit(`${HAPPY_PAWS}/traffic`);
    await copy.waitFor();
    await expect.poll(() => keysOf(paws.id)).toBe(0);
    const pasted = await copyBy(copy);
    await seen(page, 'Created the key “First request”.');
    await expect.poll(() => paste(pasted)).toHaveLength(5);
    await page.keyboard.press('Control+z');
    await seen(page, 'The key “First request” is revoked.');
    await expect.poll(() => paste(pasted)).toMatchObject({ status: 401 });
  });

  it('puts a server of one’s own behind a hostname by its port, and deploys it once it answers', async () => {
    const { port, release } = await refusingPort();
    const { page, engine } = await openPage();
    const door = page.getByRole('region', { name: 'Put your own server here' });
    await door.getByLabel('Port of your server').fill('99999');
    await door.getByRole('button', { name: 'Serve' }).click();
    await door.getByText(/must have a port from 1 to 65535/i).waitFor();
    await door.getByLabel('Port of your server').fill(String(port));
    await door.getByRole('button', { name: 'Serve' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/my-app');
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText(`Nothing is listening at localhost:${port}.`).waitFor();
    await page.getByText('no answer').waitFor();
    await page.getByRole('region', { name: 'Serve another port' }).waitFor();
    const server = createServer((_request, response) => response.end('up'));
    track(() => void server.close());
    await release();
    await once(server.listen(port, '127.0.0.1'), 'listening');
    await page.getByText('Deployed: the target answers.').waitFor();
    await page.getByText('serving', { exact: true }).waitFor();
    await expect.poll(() => attention.count()).toBe(0);
    await expect.poll(() => engine.project('my-app')).toMatchObject({ plan: 'pro' });
    await expect.poll(async () => (await engine.demo()).target).toEqual({ kind: 'api' });
  });

  it('attaches a custom domain in one step, the plan included, and leads to it afterwards', async () => {
    const { page, engine, visit } = await openPage();
    const door = page.getByRole('region', { name: 'Attach a custom domain' });
    await door.getByLabel('Hostname').fill('not a name');
    await door.getByRole('button', { name: 'Change to Pro and attach' }).click();
    await door.getByText(/contains a space/).waitFor();
    await expect.poll(async () => (await engine.demo()).plan).toBe('free');
    await door.getByLabel('Hostname').fill('shop.acme.test');
    await door.getByRole('button', { name: 'Change to Pro and attach' }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/projects/demo/domains/shop.acme.test');
    await seen(page, 'Demo is on the Pro plan now');
    await visit('/projects/demo');
    const { port } = engine.app.runtime.https;
    await page.getByRole('link', { name: `https://shop.acme.test:${port}`, exact: true }).waitFor();
    await page.getByRole('button', { name: '4 more addresses' }).waitFor();
  });

  it('shows a run with its command, folder and end, and how to start it again when it is over', async () => {
    const { page, engine, visit, expectNoFaults } = await openPage({ path: '/' });
    const upstream = createServer((_request, response) => response.end('up'));
    track(() => void upstream.close());
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    const { port } = upstream.address() as AddressInfo;
    const lease = await holdRun(engine, `http://127.0.0.1:${port}`);
    await visit('/projects/dash-acme-test');
    await page.getByRole('link', { name: /^https:\/\/dash\.acme\.test:\d+$/ }).waitFor();
    await page.getByText('run', { exact: true }).waitFor();
    const shown = page.getByRole('region', { name: 'Run', exact: true });
    for (const text of ['node server.mjs', '/home/me/dash', /its hostnames, records and project are removed/]) {
      await shown.getByText(text).waitFor();
    }
    await expectNoFaults();
    await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click();
    await page.getByText('The run node server.mjs has set this, so it can’t be edited').waitFor();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true);
    await expect.poll(() => page.getByRole('button', { name: /^Remove/ }).isDisabled()).toBe(true);
    await page.getByRole('navigation').getByRole('link', { name: 'Keys and limits' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Change to Free' }).isDisabled()).toBe(true);
    await visit('/projects/dash-acme-test/domains/dash.acme.test');
    await page.getByText('The run node server.mjs has set this, so it can’t be edited').waitFor();
    await page.getByRole('button', { name: 'More for dash.acme.test' }).last().click();
    await expect.poll(() => page.getByRole('menuitem', { name: 'Remove' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click();
    await shown.waitFor();
    lease.abort();
    await page.getByRole('heading', { name: 'The run has ended' }).waitFor();
    await seen(page, /cd \/home\/me\/dash && .*run dash\.acme\.test -- node server\.mjs/);
    await expect.poll(() => page.getByRole('link', { name: /^Demo demo/ }).count()).toBe(0);
    await page.reload();
    await page.getByRole('heading', { name: 'The run has ended' }).waitFor();
    const again = await holdRun(engine, `http://127.0.0.1:${port}`);
    await engine.call('keys.create', { projectId: 'dash-acme-test', name: 'Mine' });
    again.abort();
    upstream.close();
    upstream.closeAllConnections();
    await visit('/projects/dash-acme-test');
    const kept = page.getByRole('region', { name: 'The run has ended' });
    await kept.getByText(/dash && .*run dash\.acme\.test/).waitFor();
    await page.getByText(`Nothing is listening at 127.0.0.1:${port}`).first().waitFor();
  });

  it('removes the token from the address bar and the history, and stays signed in after a reload', async () => {
    const { page, engine } = await openPage();
    const { url, token } = engine.app.runtime.control;
    await expect.poll(() => page.url()).toBe(`${url}/`);
    const cdp = await page.context().newCDPSession(page);
    const { entries } = await cdp.send('Page.getNavigationHistory');
    expect(entries.map((entry) => entry.url).filter((visited) => visited.includes(token))).toEqual([]);
    await cdp.detach();
    await page.reload();
    await seen(page, 'live');
  });

  it('shows each caller’s two rate windows, strikes and bans, and counts down without calling the engine', async () => {
    const { page, open } = await openPage({ prepare: makeBusy });
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
  });

  it('switches between projects, and remembers the last one', async () => {
    const { page, open } = await openPage({ path: HAPPY_PAWS });
    await page.getByRole('heading', { level: 1, name: 'Happy Paws' }).waitFor();
    await page.getByRole('button', { name: 'Project: Happy Paws' }).click();
    await page.getByRole('option', { name: 'Demo' }).click();
    await page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor();
    await open('/');
    await page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor();
    await page.getByRole('button', { name: 'Project: Demo' }).click();
    await page.getByRole('option', { name: 'Happy Paws' }).click();
    await page.getByRole('heading', { level: 1, name: 'Happy Paws' }).waitFor();
    await open('/');
    await page.getByRole('heading', { level: 1, name: 'Happy Paws' }).waitFor();
  });

  it('begins without a project in the same ways, and can make the demo', async () => {
    const { page } = await openPage({ empty: true });
    await page.getByRole('region', { name: 'Put your own server here' }).waitFor();
    await page.getByRole('region', { name: 'Attach a custom domain' }).waitFor();
    await page.getByText('Break it: slow answers, 503s').waitFor();
    await page.getByRole('button', { name: 'Make the demo' }).click();
    await page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor();
    await page.getByRole('button', { name: 'Copy first request' }).waitFor();
  });

  it('shows the engine’s warnings', async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'backups'));
    writeFileSync(join(dataDir, 'backups', 'vivarium-v1-20261120T090000000Z.db'), '');
    const engine = await startEngine({ dataDir, empty: true }, { assetsDir: builtPage() });
    const { page } = await openPage({ engine });
    await seen(page.getByRole('region', { name: 'Needs attention' }), 'although there are backups of an earlier one');
  });

  it('lists problems that need attention, with links to the pages that solve them', async () => {
    const { port, release } = await refusingPort();
    const dead = `http://127.0.0.1:${port}`;
    const { page, expectNoFaults } = await openPage({
      path: HAPPY_PAWS,
      prepare: async (engine) => {
        const project = await engine.project('happy-paws');
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
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText(`Nothing is listening at 127.0.0.1:${port}.`).waitFor();
    await page.getByText('no answer').waitFor();
    await attention.getByText('CI is banned: it kept calling after it was refused.').waitFor();
    const links = () =>
      attention.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')).toSorted());
    await expect
      .poll(links)
      .toEqual([
        `${HAPPY_PAWS}/domains/happypaws.example`,
        `${HAPPY_PAWS}/domains/shop.happypaws.test`,
        `${HAPPY_PAWS}/keys-and-limits`,
        `${HAPPY_PAWS}/settings?field=Address`,
      ]);
    await expectNoFaults();

    await attention.getByRole('button', { name: 'Lift the ban of CI' }).click();
    await page.getByText('The ban of CI is lifted.').waitFor();
    await attention.getByText('CI is banned').waitFor({ state: 'detached' });
    const server = createServer((_request, response) => response.end('up'));
    track(() => void server.close());
    await release();
    await once(server.listen(port, '127.0.0.1'), 'listening');
    await page.getByText('serving', { exact: true }).waitFor();
    await attention.getByText('Nothing is listening').waitFor({ state: 'detached' });
  });

  it('groups many failing domains by cause, and verifies a group at once', async () => {
    const { page, open, visit, expectNoFaults } = await openPage({
      path: HAPPY_PAWS,
      prepare: async (engine) => {
        const { id: projectId } = await engine.project('happy-paws');
        await engine.call('zones.create', { name: 'big.test' });
        for (let index = 1; index <= 30; index++) {
          const hostname = `shop-${index}.big.test`;
          await engine.call('domains.attach', { projectId, hostname });
          await engine.call('domains.verify', { hostname });
        }
        const value = engine.app.runtime.cnameTarget;
        await engine.call('records.put', { zone: 'big.test', name: '*', type: 'CNAME', value });
      },
    });
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('No record yet: 30 domains').waitFor();
    await attention.getByRole('button', { name: 'Verify 30 domains' }).click();
    await page.getByText('30 domains checked: 30 verified, with a certificate.').waitFor();
    await attention.getByText('No record yet').waitFor({ state: 'detached' });

    // The results of a search can be verified at once, too.
    await visit(`${HAPPY_PAWS}/domains?search=shop-2`);
    await page.getByText('11 of 33 domains').waitFor();
    await page.getByRole('button', { name: 'Verify these' }).click();
    await page.getByText('11 domains checked: 11 verified, with a certificate.').waitFor();
    await expectNoFaults();

    // A link to one of the domains shows its row.
    await open(`${HAPPY_PAWS}/domains/shop-9.big.test`);
    const row = page.locator('[data-hostname="shop-9.big.test"]');
    await expect.poll(() => row.isVisible()).toBe(true);
    await expect.poll(async () => (await row.boundingBox())?.y ?? Infinity).toBeLessThan(900);
  });
});

describe('the page', () => {
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
    expect(stops.map(({ name }) => name)).toEqual(expect.arrayContaining(['Home', 'Open', 'Copy address', 'Connect…']));
  });
});
