import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { usePages } from '../support/page-browser.ts';
import {
  CREATED_AT,
  demoWorld,
  makeDomain,
  makeKey,
  makePets,
  makeProject,
  makeUsage,
  type World,
} from '../support/page-world.ts';

const openPage = usePages();

const seen = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

/** Two projects, the newer one on Pro with callers at every level. */
function busyWorld(nowMs: number): World {
  const world = demoWorld();
  const shop = makeProject('Pet shop', { plan: 'pro' });
  const { limits } = shop;
  world.projects = [shop, ...world.projects];
  world.keys[shop.id] = [makeKey('a', 'Storefront'), makeKey('b', 'Import'), makeKey('c', 'CI')];
  world.usage[shop.id] = [
    makeUsage('key:a', { limits, minute: 34, day: 4_120, nowMs }),
    makeUsage('key:b', { limits, minute: 300, day: 9_210, nowMs, rest: { strikes: 6 } }),
    makeUsage('key:c', {
      limits,
      minute: 300,
      day: 9_210,
      nowMs,
      rest: { bannedUntil: new Date(nowMs + 480_000).toISOString() },
    }),
    makeUsage('address:127.0.0.1', { limits: { perMinute: 60, perDay: 1_000 }, minute: 1, day: 1, nowMs }),
  ];
  world.pets[shop.id] = { production: makePets(1_204), staging: [] };
  world.status.counts = {
    projects: 2,
    keys: 4,
    domains: 3,
    pets: 1_264,
    requests: 18_204,
    refused: 326,
    connections: 4,
  };
  return world;
}

/** For the page: `window.shownAt` becomes the moment at which `text` is there, in epoch milliseconds. */
const noteWhenShown = (text: string): string => `window.shownAt = new Promise((resolve) => {
  new MutationObserver((_changes, observer) => {
    if (!document.body.innerText.includes(${JSON.stringify(text)})) return;
    observer.disconnect();
    resolve(performance.timeOrigin + performance.now());
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}), undefined`;

/** The time of the machine, which the fake engine's clock goes by. */
const nowMs = (): number => performance.timeOrigin + performance.now();

describe('the overview', () => {
  it('shows what runs, where, and how to ask it', async () => {
    const { page, errors } = await openPage();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByRole('heading', { level: 2, name: 'Demo' }).waitFor();
    expect(await page.title()).toBe('Overview · Demo · Vivarium');
    const addresses = page.getByRole('table', { name: 'Base addresses of Demo' });
    for (const url of [
      'http://demo.vivarium.localhost:8080/v1',
      'https://demo.vivarium.localhost:8443/v1',
      'http://demo-staging.vivarium.localhost:8080/v1',
      'https://demo-staging.vivarium.localhost:8443/v1',
    ]) {
      await addresses.getByText(url, { exact: true }).waitFor();
    }
    await seen(page, 'curl -H "Authorization: Bearer $VIVARIUM_KEY"');
    await page.getByRole('region', { name: 'Listeners' }).getByText('127.0.0.1:5380').waitFor();
    await seen(page, 'the first 8 of 30 pets');
    expect(await page.getByRole('row').filter({ hasText: 'available' }).count()).toBeGreaterThan(3);
    expect(await page.getByRole('navigation').getByRole('link').allInnerTexts()).toEqual(
      expect.arrayContaining(['Overview', 'General']),
    );
    expect(errors).toEqual([]);
  });

  it('takes the token out of the address bar, and stays signed in over a reload', async () => {
    const { page, engine, errors } = await openPage();
    await seen(page, 'live');
    expect(page.url()).toBe(`${engine.url}/`);
    expect(await page.evaluate('history.length')).toBeLessThanOrEqual(2);
    await page.reload();
    await seen(page, 'live');
    expect(errors).toEqual([]);
  });

  it('shows a change within 100 ms, without a reload', async () => {
    const { page, engine, errors } = await openPage();
    await seen(page, 'Biscuit');
    const dataset = engine.world.pets['prj_demo'];
    if (dataset === undefined) throw new Error('The demo world has no demo project.');
    const delays: number[] = [];
    // The best of a few: a machine that is busy otherwise is late by itself.
    for (const name of ['Zora', 'Yuki', 'Xena', 'Wim', 'Vera']) {
      await page.evaluate(noteWhenShown(name));
      dataset.production = [{ id: '7', name, categoryId: '1', status: 'sold' }];
      const changedAt = performance.timeOrigin + performance.now();
      engine.bus.emit('pets.changed', { projectId: 'prj_demo', environment: 'production' });
      delays.push((await page.evaluate<number>('window.shownAt')) - changedAt);
    }
    expect(Math.min(...delays)).toBeLessThan(100);
    await seen(page, '1 pet');
    expect(errors).toEqual([]);
  });

  it('copies an address, and says that it did', async () => {
    const { page, errors } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Copy production address over HTTPS' }).click();
    await page.getByRole('status').filter({ hasText: 'Copied production address over HTTPS.' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('https://demo.vivarium.localhost:8443/v1');
    expect(errors).toEqual([]);
  });

  it('gives the same request in JavaScript, and says what needs no set-up', async () => {
    const { page } = await openPage();
    await page.getByRole('group', { name: 'With' }).getByLabel('fetch').check();
    await seen(page, "await fetch('http://demo.vivarium.localhost:8080/v1/pets?limit=5'");
    await seen(page, /by themselves: nothing to set up/);
  });

  it('gives the request for HTTPS with the root to trust', async () => {
    const { page } = await openPage();
    await page.getByRole('group', { name: 'Over' }).getByLabel('HTTPS').check();
    await seen(page, '--cacert /home/ada/.local/share/vivarium/ca/root.pem');
  });

  it('shows each caller’s two windows with their reset times, strikes and bans', async () => {
    const { page, errors } = await openPage({ world: busyWorld(nowMs()) });
    const minute = page.getByRole('meter', { name: 'Storefront: minute' });
    await minute.waitFor();
    expect(await minute.getAttribute('aria-valuenow')).toBe('34');
    expect(await minute.getAttribute('aria-valuetext')).toMatch(/^34 of 300 requests used, resets in \d+ s$/);
    await page.getByRole('meter', { name: 'Import: minute' }).getByText('exhausted').waitFor();
    await seen(page, '6 strikes');
    await seen(page, /Banned/);
    await page.getByRole('meter', { name: '127.0.0.1: day' }).waitFor();
    expect(errors).toEqual([]);
  });

  it('counts down without asking', async () => {
    const { page, engine } = await openPage({ world: busyWorld(nowMs()) });
    const minute = page.getByRole('meter', { name: 'Storefront: minute' });
    await minute.waitFor();
    const asked = () => engine.fake.calls.filter(({ procedure }) => procedure === 'limits.usage').length;
    const before = asked();
    const text = await minute.getAttribute('aria-valuetext');
    await expect.poll(() => minute.getAttribute('aria-valuetext'), { timeout: 3_000 }).not.toBe(text);
    expect(asked()).toBe(before);
  });

  it('switches between projects, and remembers which', async () => {
    const { page, errors } = await openPage({ world: busyWorld(nowMs()) });
    await page.getByRole('heading', { level: 2, name: 'Pet shop' }).waitFor();
    await page.getByRole('button', { name: 'Project: Pet shop' }).click();
    await page.getByRole('option', { name: 'Demo' }).click();
    await page.getByRole('heading', { level: 2, name: 'Demo' }).waitFor();
    await page.getByRole('meter', { name: 'Demo key: minute' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 2, name: 'Demo' }).waitFor();
    expect(errors).toEqual([]);
  });

  it('fills an empty dataset with made-up pets', async () => {
    const { page, errors } = await openPage({ world: busyWorld(nowMs()) });
    await page.getByRole('group', { name: 'Whose pets' }).getByLabel('Staging').check();
    await seen(page, 'No pets in staging');
    await page.getByRole('button', { name: 'Add 30 made-up pets' }).click();
    await seen(page, 'the first 8 of 30 pets');
    expect(errors).toEqual([]);
  });

  it('says how to begin when there is no project', async () => {
    const { page, errors } = await openPage({ world: { ...demoWorld(), projects: [] } });
    await seen(page, 'No projects yet');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('dialog', { name: 'New project' }).getByLabel('Name', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Listeners' }).waitFor();
    expect(errors).toEqual([]);
  });

  it('shows warnings, and HTML in a name as text', async () => {
    const world = demoWorld();
    const html = '<img src=x onerror="document.title=1">';
    world.status.warnings = ['This system has no ::1.'];
    world.pets['prj_demo'] = {
      production: [{ id: '1', name: html, categoryId: '1', status: 'available' }],
      staging: [],
    };
    const { page, errors } = await openPage({ world });
    await page.getByRole('region', { name: 'Needs attention' }).getByText('This system has no ::1.').waitFor();
    await seen(page, html);
    expect(await page.title()).toContain('Overview');
    expect(errors).toEqual([]);
  });

  it('shows what needs attention, each with the way to where it is dealt with', async () => {
    const world = busyWorld(nowMs());
    const shop = world.projects[0]?.id ?? '';
    world.domains = [
      makeDomain('www.acme.test', shop),
      makeDomain('shop.acme.test', shop, {
        state: 'misconfigured',
        certificate: { state: 'none' },
        checks: [{ code: 'wrong_target', outcome: 'failed', message: 'shop.acme.test leads elsewhere.' }],
      }),
    ];
    world.deploys[shop] = [{ id: 'd', status: 'failed', reason: 'Nobody answered.', createdAt: CREATED_AT }];
    const { page, errors } = await openPage({ world });
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('The last deploy failed. Nobody answered.').waitFor();
    await attention.getByText('CI is banned: it went on asking after it was refused.').waitFor();
    await attention.getByText('shop.acme.test leads elsewhere.').waitFor();
    expect(
      await attention.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ).toEqual([
      '/projects/pet-shop/general',
      '/projects/pet-shop/domains/shop.acme.test',
      '/projects/pet-shop/keys-and-limits',
    ]);
    const domains = page.getByRole('region', { name: 'Domains' });
    await domains.getByRole('listitem').filter({ hasText: 'www.acme.test' }).getByText('certificate issued').waitFor();
    await domains.getByRole('listitem').filter({ hasText: 'shop.acme.test' }).getByText('misconfigured').waitFor();
    expect(errors).toEqual([]);
  });

  it('shows the engine’s message where something could not be read, and reads again', async () => {
    const message = 'There is not enough of it.';
    const { page, engine, errors } = await openPage({ prepare: ({ fail }) => fail('pets.list', message) });
    const pets = page.getByRole('region', { name: 'Pets' });
    await pets.getByText('The pets could not be read').waitFor();
    await seen(page, 'Vivarium');
    engine.heal();
    await pets.getByRole('button', { name: 'Read again' }).click();
    await seen(page, 'Biscuit');
    expect(errors).toEqual([]);
  });

  it('marks a clock that is not the real time, and resets it', async () => {
    const { page, engine, errors } = await openPage();
    await seen(page, 'live');
    expect(await page.getByText('ahead of the real time').count()).toBe(0);
    await engine.clock.advance(2 * 86_400_000);
    engine.bus.emit('clock.changed');
    await seen(page, 'The app’s clock is 2 days ahead of the real time.');
    await page.getByRole('button', { name: 'The app’s clock' }).getByText('moved').waitFor();
    await page.getByRole('button', { name: 'Reset to the real time' }).click();
    await page.getByText('ahead of the real time').waitFor({ state: 'detached' });
    engine.clock.freeze();
    engine.bus.emit('clock.changed');
    await seen(page, /The app’s clock is frozen/);
    expect(errors).toEqual([]);
  });
});

describe('the window', () => {
  const longName = [63, 63, 63, 61].map((length, index) => 'abcd'.charAt(index).repeat(length)).join('.');

  it.each([
    ['900×600', { width: 900, height: 600 }],
    ['1440×900 at 200 %', { width: 720, height: 450 }],
    ['900×600 at 200 %', { width: 450, height: 300 }],
    ['4K', { width: 3_840, height: 2_160 }],
  ])('of %s holds a hostname of 253 characters without scrolling sideways', async (_size, viewport) => {
    const world = demoWorld();
    world.projects = [makeProject('Demo', { hostname: longName })];
    const { page } = await openPage({ world, viewport });
    await seen(page, longName);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
  });

  it.each(['light', 'dark'] as const)(
    'follows the system’s %s theme, and can be told otherwise',
    async (colorScheme) => {
      const { page } = await openPage({ colorScheme });
      const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
      const other = colorScheme === 'light' ? 'Dark' : 'Light';
      const before = await ground();
      await page.getByRole('group', { name: 'Theme' }).getByLabel(other).check();
      expect(await ground()).not.toBe(before);
      await page.reload();
      await seen(page, 'live');
      expect(await ground()).not.toBe(before);
      await page.getByRole('group', { name: 'Theme' }).getByLabel('As the system').check();
      expect(await ground()).toBe(before);
    },
  );

  it('can be used with the keyboard alone, every stop named and visible', async () => {
    const { page } = await openPage({ world: busyWorld(nowMs()) });
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
