import { once } from 'node:events';
import { copyFile, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { TrafficEntry } from '../../main/contract/traffic.ts';
import { type Engine, track } from '../support/engine.ts';
import { type EnginePage, enter, seen, toast, openPage, waitForFocus } from '../support/page/page-on-engine.ts';

import { settled } from '../support/page/page-every.ts';
import { startUpstream } from '../support/upstream-server.ts';

const PATH = '/projects/demo/traffic';

const list = (page: Page) => page.getByRole('region', { name: 'Entries' });
const row = (page: Page, text: string | RegExp) => list(page).getByRole('link').filter({ hasText: text });
const rows = (page: Page) => list(page).getByRole('link');
const pane = (page: Page) => page.getByRole('region', { name: /^Entry trf_/ });
const filter = (page: Page) => page.getByRole('combobox', { name: 'Filter' });
const tab = (page: Page, name: string) => page.getByRole('navigation', { name: 'Traffic' }).getByRole('link', { name });
const block = (page: Page, name: string) => page.getByRole('group', { name, exact: true });

async function openTraffic(options: Parameters<typeof openPage>[0] = {}): Promise<EnginePage> {
  const opened = await openPage({ path: PATH, ...options });
  // The heading belongs to the frame; only the page's own part handles its shortcuts.
  await filter(opened.page).waitFor();
  return opened;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Responses of an upstream, with several media types. */
const ANSWERS: Record<string, [type: string, body: string | Buffer]> = {
  '/json': [
    'application/json',
    `{"id":9007199254740993,"pets":[${Array.from({ length: 200 }, (_, n) => `{"name":"Pet ${n}"}`).join()}]}`,
  ],
  '/image': ['image/gif', Buffer.from('R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')],
};

/** Three requests, one after the other: successful, without a key, not found. */
async function few(engine: Engine): Promise<void> {
  await engine.api({ method: 'POST', body: '{"name":"Rex","categoryId":9007199254740993}' });
  await engine.api({ path: '/v1/pets?status=sold', key: null });
  await engine.api({ path: '/v1/nope' });
  await expect.poll(async () => (await kept(engine)).length).toBe(3);
}

async function kept(engine: Engine): Promise<TrafficEntry[]> {
  return (await engine.call('traffic.list', { limit: 1_000 })).items;
}

/** The recorded response, replayed by a browser from the archive alone. */
async function answeredFrom(page: Page, archive: string, engine: Engine): Promise<string> {
  const context = await page.context().browser()?.newContext();
  if (context === undefined) throw new Error('The page has no browser.');
  const file = `${archive}.har`;
  await copyFile(archive, file);
  await context.routeFromHAR(file, { notFound: 'abort' });
  const reader = await context.newPage();
  await reader.goto(`http://demo.vivarium.localhost:${engine.app.runtime.http.port}/v1/nope`);
  const text = await reader.locator('body').innerText();
  await context.close();
  // The engine received no request: replayed responses add no entries.
  await expect.poll(() => kept(engine)).toHaveLength(3);
  return text;
}

describe('the Traffic page', () => {
  it('gives instructions when it is empty, and shows every request as it arrives', async () => {
    const { page, engine } = await openTraffic();
    await page.getByText('No requests yet').waitFor();
    await page.getByRole('region', { name: 'About this page' }).getByText('/v1/pets?limit=5').waitFor();
    await few(engine);
    await row(page, /POST\s*201/).waitFor();
    await row(page, /401\s*\/v1\/pets\?status=sold/).waitFor();
    await expect.poll(() => rows(page).count()).toBe(3);
    await expect.poll(() => rows(page).first().innerText()).toContain('/v1/nope');
    // A row is tinted when it comes.
    await engine.api({ path: '/v1/later' });
    await expect.poll(() => rows(page).first().getAttribute('class')).toContain('fresh');
    await expect.poll(() => rows(page).last().getAttribute('class')).not.toContain('fresh');
  });

  it('shows an entry beside the list: stages, timings, its rate limit, headers, and bodies with exact numbers', async () => {
    const { page } = await openTraffic({ prepare: few });
    await row(page, /POST\s*201/).click();
    await pane(page).getByText('The built-in API answered.').waitFor();
    await pane(page).getByText('1 of 60 used').waitFor();
    await expect
      .poll(() => pane(page).getByRole('list', { name: 'Stages' }).innerText())
      .toMatch(/limit\s*passed[^]*built-in API\s*answered/);
    await expect.poll(() => block(page, 'request body').innerText()).toContain('9007199254740993');
    await expect.poll(() => block(page, 'response body').innerText()).toContain('9007199254740993');
    await page.getByRole('group', { name: 'View of the request' }).getByText('Headers').click();
    await seen(pane(page), /^Bearer viv_.*…$/);
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/traffic\/trf_[0-9a-z]+_1$/);
    await page.keyboard.press('Escape');
    await pane(page).waitFor({ state: 'detached' });
  });

  it('shows bodies as a foldable, searchable tree, as form fields, as an image and as bytes', async () => {
    const { page, engine, expectNoFaults } = await openTraffic();
    const upstream = await startUpstream((request, response) => {
      const [type, body] = ANSWERS[request.url ?? ''] ?? ['text/plain', ''];
      request.resume().on('end', () => response.setHeader('Content-Type', type).end(body));
    });
    const { id: projectId } = await engine.demo();
    await engine.call('projects.update', { projectId, target: { kind: 'upstream', url: upstream.url } });
    await engine.api({ path: '/json' });
    await engine.api({ path: '/form', method: 'POST', body: 'name=R%C3%A9x&note=', headers: FORM });
    await engine.api({ path: '/image' });
    // An open entry freezes the list; later entries would wait.
    await row(page, '/image').waitFor();
    await row(page, '/json').click();
    const body = block(page, 'response body');
    const lines = body.getByRole('row');
    await expect.poll(() => body.innerText()).toContain('9007199254740993');
    await body.getByRole('button', { name: 'Fold all of the response body', exact: true }).click();
    await expect.poll(() => lines.count()).toBe(4);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Control+f');
    await page.keyboard.type('PET 39');
    await body.getByText('1 of 1').waitFor();
    await expect.poll(() => body.locator('mark').innerText()).toBe('Pet 39');
    await page.keyboard.press('Escape');
    await body.getByText('1 of 1').waitFor({ state: 'detached' });
    await body.getByLabel('Find in').fill('name');
    await page.keyboard.press('Shift+Enter');
    await body.getByText('200 of 200').waitFor();
    await expect.poll(() => body.locator('mark.current').count()).toBe(1);
    await expectNoFaults();
    await body.locator('[role=row][tabindex="0"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => lines.count()).toBe(1);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => lines.count()).toBeGreaterThan(4);
    await page.getByRole('group', { name: 'View of the response' }).getByText('Hex').click();
    await body.getByText('0000  ').waitFor();
    await expectNoFaults();
    await row(page, '/form').click();
    await pane(page).getByRole('row', { name: 'name Réx' }).waitFor();
    await expectNoFaults();
    await row(page, '/image').click();
    await pane(page).getByText('1 × 1 pixels').waitFor();
    await expectNoFaults();
  });

  it('has a filter with completion by keyboard, which the address keeps and which can be saved', async () => {
    const { page, open, visit, expectNoFaults } = await openTraffic({ prepare: few });
    await row(page, /nope/).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('sta');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.keyboard.type('4');
    await page.getByRole('option', { name: '4xx' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => filter(page).inputValue()).toBe('status:4xx ');
    await expect.poll(() => rows(page).count()).toBe(2);
    await expect.poll(() => new URL(page.url()).searchParams.get('filter')).toBe('status:4xx');
    // ArrowDown leads into the list, Enter opens an entry, and Escape leads back, step by step.
    await page.keyboard.press('ArrowDown');
    await waitForFocus(rows(page).first());
    await page.keyboard.press('Enter');
    await pane(page).waitFor();
    await page.keyboard.press('Escape');
    await pane(page).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await waitForFocus(filter(page));
    await page.keyboard.press('End');
    await page.keyboard.type('method:DELETE');
    await page.getByText('No entries match').waitFor();
    await page.getByRole('button', { name: 'Show all entries' }).click();
    await expect.poll(() => rows(page).count()).toBe(3);
    const filters = page.getByRole('dialog', { name: 'Saved filters' });
    await filter(page).fill('status:401');
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await enter(filters.getByLabel('Save status:401 as'), 'No key');
    await filters.getByRole('link', { name: 'No key status:401' }).waitFor();
    await expectNoFaults();
    await open(PATH);
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await filters.getByRole('link', { name: 'No key status:401' }).click();
    await expect.poll(() => filter(page).inputValue()).toBe('status:401');
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await filters.getByRole('button', { name: 'Remove the filter No key' }).click();
    await filters.getByText('No saved filters yet').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY');
    await visit(`${PATH}?filter=status:6xx`);
    await page.getByText('status:6xx is not valid').waitFor();
    await expect.poll(() => rows(page).count()).toBe(3);
    // A mistyped field filters nothing, although its beginning was a text to search for.
    await filter(page).fill('sttus');
    await page.getByText('No entries match').waitFor();
    await filter(page).fill('sttus:4xx');
    await page.getByRole('alert').getByText('sttus: is not a field. Did you mean “status”?').waitFor();
    await expect.poll(() => rows(page).count()).toBe(3);
    await expect.poll(() => filter(page).inputValue()).toBe('sttus:4xx');
    await visit(`${PATH}?filter=is:refused`);
    await page.getByText('No entries match').waitFor();
  });

  it('shows requests that reached no project in the scope Everything', async () => {
    const { page, engine } = await openTraffic();
    await engine.api({ host: 'nobody.test' });
    await page.getByText('No requests yet').waitFor();
    await page.getByRole('group', { name: 'Scope' }).getByText('Everything').click();
    await row(page, 'nobody.test').click();
    await pane(page).getByText('No project is served at nobody.test').first().waitFor();
    await pane(page).getByRole('link', { name: 'Attach nobody.test' }).click();
    await expect.poll(() => page.getByLabel('Hostname').inputValue()).toBe('nobody.test');
  });

  it('can be opened with the requests of a key, a client address or a figure', async () => {
    const { page, visit } = await openTraffic({ prepare: few });
    const follow = async (path: string, name: string | RegExp, filter: string | null, count: number) => {
      await visit(path);
      await page
        .getByRole('link', { name, exact: typeof name === 'string' })
        .first()
        .click();
      await expect.poll(() => new URL(page.url()).searchParams.get('filter')).toEqual(filter);
      await expect.poll(() => rows(page).count()).toBe(count);
    };
    await row(page, 'status=sold').click();
    await pane(page).getByRole('link', { name: 'Requests from this address: the requests of 127.0.0.1' }).click();
    await expect.poll(() => rows(page).count()).toBe(3);
    await follow(
      '/projects/demo/keys-and-limits',
      'The requests of Demo key',
      expect.stringMatching(/^key:key_/) as string,
      2,
    );
    await follow('/projects', /^3 requests/, null, 3);
    await follow('/projects', /^0 .*refused/, 'is:refused', 0);
  });

  it('gives the path at least 240 pixels beside an open entry, and has columns for hostname and project', async () => {
    const { page, engine } = await openTraffic({ viewport: { width: 1_920, height: 900 } });
    await engine.api({ path: '/v1/nope', host: `${'long.'.repeat(20)}nobody.test` });
    await engine.api({ path: `/v1/pets?search=${'x'.repeat(200)}`, host: 'demo-staging.vivarium.localhost' });
    await row(page, 'search').getByText('staging').waitFor();
    await page.getByRole('group', { name: 'Scope' }).getByText('Everything').click();
    await expect.poll(() => row(page, 'search').innerText()).toMatch(/demo-staging\.vivarium\.localhost\s+Demo/);
    await row(page, 'nope').click();
    await pane(page).getByText('No project is served at').first().waitFor();
    const widthOf = async (part: Locator) => (await part.boundingBox())?.width ?? 0;
    for (const width of [1_100, 1_280, 1_440, 1_920]) {
      await page.setViewportSize({ width, height: 800 });
      await expect.poll(() => widthOf(row(page, 'search').locator('.path'))).toBeGreaterThanOrEqual(240);
      const share = async () => (await widthOf(list(page))) / (await widthOf(page.locator('.split')));
      await expect.poll(share).toBeGreaterThan(0.45);
    }
    // In the narrowest window the method is beside it.
    await pane(page).getByRole('button', { name: 'Close the entry' }).click();
    await page.setViewportSize({ width: 420, height: 800 });
    await row(page, 'search').getByText('GET').waitFor();
    await expect.poll(() => widthOf(row(page, 'search').locator('.path'))).toBeGreaterThanOrEqual(240);
  });

  it('has columns that can be chosen, resized, moved and sorted by keyboard and mouse, and remembers them', async () => {
    const { page, expectNoFaults } = await openTraffic({ prepare: few, viewport: { width: 1_920, height: 900 } });
    const titles = list(page).getByRole('group', { name: 'Columns' }).getByRole('button');
    await row(page, /nope/).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Hostname' }).check();
    await page.getByRole('checkbox', { name: 'Size' }).uncheck();
    await expect.poll(() => page.getByRole('checkbox', { name: 'Status' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await expect.poll(() => titles.allInnerTexts()).toContain('Hostname');
    await page.reload();
    await row(page, /nope/).waitFor();
    const shown = ['Time', 'Method', 'Status', 'Path', 'Hostname', 'Caller', 'Took'];
    await expect.poll(() => titles.allInnerTexts()).toEqual(shown);
    const caller = page.locator('[data-column=caller]');
    const width = async () => (await caller.boundingBox())?.width ?? 0;
    const before = await width();
    await caller.getByRole('button').press('Alt+ArrowRight');
    await expect.poll(width).toBe(before + 16);
    const { x = 0, y = 0 } = (await caller.locator('[data-grip]').boundingBox()) ?? {};
    await page.mouse.move(x + 4, y + 8);
    await page.mouse.down();
    await page.mouse.move(x + 34, y + 8);
    await page.mouse.up();
    await expect.poll(width).toBe(before + 46);
    await expect
      .poll(() => titles.evaluateAll((all) => all.filter((each) => each.matches('[aria-pressed=true]')).length))
      .toBe(0);
    await page.reload();
    await expect.poll(width).toBe(before + 46);
    await caller.getByRole('button').press('Alt+Enter');
    await expect.poll(width).toBe(before);
    for (const place of [5, 4, 3]) {
      await expect.poll(async () => (await titles.allInnerTexts()).indexOf('Caller')).toBe(place);
      await waitForFocus(caller.getByRole('button'));
      if (place > 3) await page.keyboard.press('Alt+Shift+ArrowLeft');
    }
    const moved = ['Time', 'Method', 'Status', 'Caller', 'Path', 'Hostname', 'Took'];
    await expect.poll(() => titles.allInnerTexts()).toEqual(moved);
    await expect.poll(() => caller.getByRole('button').evaluate((button) => button.matches(':focus'))).toBe(true);
    await titles.filter({ hasText: 'Status' }).focus();
    await page.keyboard.press('Enter');
    const order = async () => (await rows(page).allInnerTexts()).map((text) => /\s(\d{3})\s/.exec(text)?.[1]).join(' ');
    await expect.poll(order).toBe('201 401 404');
    await page.keyboard.press('Enter');
    await expect.poll(order).toBe('404 401 201');
    await page.getByText('Sorted by Status, descending').waitFor();
    await expectNoFaults();
    await page.getByRole('button', { name: 'newest first' }).click();
    await expect.poll(order).toBe('404 401 201');
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY');
  });

  it('freezes the list under the mouse, beside an open entry, and while a toast is shown', async () => {
    const { page, engine } = await openTraffic({ prepare: few });
    const second = row(page, 'status=sold');
    await second.hover();
    await settled(page);
    const before = await second.boundingBox();
    await engine.api({ path: '/v1/later' });
    await page.getByRole('button', { name: '1 new: show it' }).waitFor();
    await second.click();
    await pane(page).waitFor();
    await page.mouse.move(0, 0);
    await engine.api({ path: '/v1/latest' });
    await page.getByRole('button', { name: '2 new: show them' }).waitFor();
    await expect.poll(async () => (await second.boundingBox())?.y).toBe(before?.y);
    await pane(page).getByRole('button', { name: 'Send again' }).click();
    const report = toast(page, 'Sent again: 401.');
    await report.waitFor();
    // The toast is in the header, between its title and its commands.
    const header = page.getByRole('banner').or(page.locator('main > header')).first();
    const title = page.getByRole('heading', { level: 1 });
    const reports = page.getByRole('region', { name: 'Reports' });
    const commands = page.getByRole('button', { name: /^Commands/ });
    const isBetween = async () => {
      const boxes = await Promise.all([report, header, title, reports, commands].map((part) => part.boundingBox()));
      const [inner, outer, left, middle, right] = boxes.map((box) => box ?? { x: 0, y: 0, width: 0, height: 0 });
      if (!inner || !outer || !left || !middle || !right) return false;
      return (
        inner.y + inner.height <= outer.height && left.x + left.width < middle.x && middle.x + middle.width < right.x
      );
    };
    await expect.poll(isBetween).toBe(true);
    await row(page, '/v1/latest').waitFor();
    await pane(page).getByRole('button', { name: 'Close the entry' }).click();
    await page.mouse.move(0, 0);
    await engine.api({ path: '/v1/last' });
    await row(page, '/v1/last').waitFor();
  });

  it('explains that an entry is gone, moves between entries with the arrow keys, restores the focus, and pauses and resumes', async () => {
    const { page, engine } = await openTraffic({ path: `${PATH}/trf_77`, prepare: few });
    await pane(page).getByText('This entry is gone').waitFor();
    await page.getByRole('button', { name: 'Show all entries' }).click();
    await pane(page).waitFor({ state: 'detached' });
    await row(page, /nope/).click();
    await pane(page).getByText('/v1/nope').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await pane(page).getByText('/v1/pets?status=sold').first().waitFor();
    await page.keyboard.press('End');
    await pane(page).getByText('201', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await pane(page).waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('data-id')")).toMatch(/_1$/);
    await page.keyboard.press('h');
    await page.getByText('Paused', { exact: true }).waitFor();
    await engine.api({ path: '/v1/later' });
    await page.getByText(/1 new waiting/).waitFor();
    await expect.poll(() => row(page, '/v1/later').count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await row(page, '/v1/later').waitFor();
  });

  it('keeps its scroll position while entries arrive, and counts them', async () => {
    const { page, engine } = await openTraffic({
      prepare: async (started) => {
        for (let count = 0; count < 120; count++) await started.api({ path: `/v1/nope/${count}`, key: null });
        await expect.poll(async () => (await kept(started)).length).toBe(120);
      },
    });
    await row(page, '/v1/nope/119').waitFor();
    await rows(page).first().hover();
    await page.mouse.wheel(0, 700);
    await row(page, '/v1/nope/80').waitFor();
    // The wheel scrolls smoothly.
    const scrolled = () =>
      row(page, '/v1/nope/85').evaluate((element) => {
        for (let box: typeof element.parentElement = element; box !== null; box = box.parentElement) {
          if (box.scrollTop > 0) return box.scrollTop;
        }
        return 0;
      });
    await expect.poll(scrolled).toBe(700);
    const before = await row(page, '/v1/nope/85').boundingBox();
    for (let count = 0; count < 5; count++) await engine.api({ path: `/v1/more/${count}` });
    const news = page.getByRole('button', { name: '5 new: show them' });
    await news.waitFor();
    await expect.poll(() => row(page, '/v1/nope/85').boundingBox()).toEqual(before);
    await news.click();
    await row(page, '/v1/more/4').waitFor();
    await news.waitFor({ state: 'detached' });
  });

  it('sends a request again with its key, and shows the new entry', async () => {
    const { page, engine } = await openTraffic({ prepare: few });
    await row(page, /POST\s*201/).click();
    await pane(page).getByRole('button', { name: 'Send again' }).click();
    await toast(page, 'Sent again: 201.').waitFor();
    await pane(page)
      .getByText(/[23] of 60 used/)
      .waitFor();
    await pane(page).getByRole('link', { name: 'an earlier request' }).waitFor();
    await expect
      .poll(async () => (await kept(engine))[0])
      .toMatchObject({ method: 'POST', replayOf: expect.stringMatching(/_1$/) as string });
    const keys = await engine.call('keys.list', { projectId: (await engine.demo()).id });
    await engine.call('keys.revoke', { keyId: keys[0]?.id });
    await pane(page).getByRole('button', { name: 'Send again' }).click();
    await pane(page).getByText('is revoked').waitFor();
    await row(page, '/v1/nope').click();
    await pane(page).getByText('/v1/nope').first().waitFor();
    await expect.poll(() => pane(page).getByText('is revoked').count()).toBe(0);
  });

  it('exports and opens HAR files, and clears all entries after a confirmation', async () => {
    const { page, engine, expectNoFaults } = await openTraffic({ prepare: few });
    await row(page, /nope/).waitFor();
    await tab(page, 'Session files').click();
    await page.getByText('3 entries of this project').waitFor();
    await expectNoFaults();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as HAR' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('demo-traffic.har');
    const archive = JSON.parse(await readFile(await download.path(), 'utf8')) as { log: { entries: unknown[] } };
    expect(archive.log.entries).toHaveLength(3);
    const answered = await answeredFrom(page, await download.path(), engine);
    expect(answered).toContain('"code":"not_found"');
    // The same file opens as a separate list: filtered, shown, sent, compared, and closed.
    const file = page.getByLabel('HAR file', { exact: true });
    await file.setInputFiles({ name: 'x.har', mimeType: '', buffer: Buffer.from('{"log":{"entries":[{}]}}') });
    await page.getByRole('alert').getByText('None of its entries can be shown: entry 1 has no request: {}').waitFor();
    await file.setInputFiles({ name: 'mine.har', mimeType: '', buffer: await readFile(await download.path()) });
    await list(page).getByText('Of mine.har').waitFor();
    await filter(page).fill('body:Rex');
    await expect.poll(() => rows(page).count()).toBe(1);
    await row(page, /POST\s*201/).click();
    const archived = page.getByRole('region', { name: /^Entry har_/ });
    await archived.getByText('From mine.har, not from this Vivarium’s traffic.').waitFor();
    await expectNoFaults();
    await archived.getByRole('button', { name: 'Send again' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit and send' });
    await expect.poll(() => edit.getByLabel('Hostname').inputValue()).toBe('demo.vivarium.localhost');
    await edit.getByRole('button', { name: 'Send' }).click();
    const compared = page.getByRole('dialog', { name: 'Two requests compared' });
    await expect
      .poll(() => compared.getByRole('group', { name: 'Response', exact: true }).innerText())
      .toMatch(/201\s*401/);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Close mine.har' }).click();
    await row(page, /nope/).waitFor();
    await expect.poll(() => page.getByText('mine.har').count()).toBe(0);
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear all traffic…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Clear all traffic?' });
    await dialog.getByText('All entries are lost').waitFor();
    await dialog.getByRole('button', { name: 'Clear all traffic' }).click();
    await toast(page, 'Cleared 4 entries.').waitFor();
    await page.getByText('No requests yet').waitFor();
  });

  it('switches recording off and on, and lists the requests that are not recorded', async () => {
    const { page, engine } = await openTraffic();
    await tab(page, 'Session files').click();
    await page.getByText('requests that are not valid HTTP').waitFor();
    await page.getByRole('switch', { name: 'Record requests' }).click();
    await tab(page, 'Requests').click();
    await list(page).getByText('Recording is off').first().waitFor();
    await engine.api();
    await page.getByRole('button', { name: 'Record requests' }).click();
    await page.getByText('No requests yet').waitFor();
    await engine.api();
    await expect.poll(() => rows(page).count()).toBe(1);
  });

  it('shows the last minutes as charts and as a table', async () => {
    const { page, expectNoFaults } = await openPage({ path: `${PATH}?show=charts`, prepare: few });
    await page.getByRole('img', { name: /^3 requests, 0 of them refused/ }).waitFor();
    await page.getByRole('img', { name: '2xx: 1, 3xx: 0, 4xx: 2, 5xx: 0.' }).waitFor();
    await expect.poll(() => page.locator('.chart path.line').first().getAttribute('d')).toMatch(/^M[^]*L/);
    // No label lies where a line can be.
    const [plot, ...labels] = await page
      .locator('.chart')
      .first()
      .locator(':scope svg, :scope > p.nowrap')
      .evaluateAll((all) =>
        all.toSorted((a) => (a.tagName === 'svg' ? -1 : 1)).map((each) => each.getBoundingClientRect()),
      );
    expect(labels.map(({ bottom }) => bottom <= (plot?.top ?? 0))).toEqual([true]);
    // The values at a moment, by keyboard and under the pointer.
    const moment = page.getByRole('slider', { name: 'Answers by status: moment' });
    await moment.focus();
    await page.keyboard.press('Home');
    await expect
      .poll(() => moment.getAttribute('aria-valuetext'))
      .toMatch(/^\d+ min.* ago: 2xx 0 answers, 3xx 0 answers, 4xx 0 answers, 5xx 0 answers$/);
    const tip = page.locator('.tip');
    await expect.poll(() => tip.locator('li').allInnerTexts()).toHaveLength(4);
    await moment.blur();
    await moment.hover({ position: { x: 2, y: 20 } });
    await expect.poll(() => tip.innerText()).toMatch(/ago\s+2xx\s+0 answers\s+3xx/);
    const [chart, shown] = await Promise.all([moment.boundingBox(), tip.boundingBox()]);
    expect((shown?.x ?? 0) + (shown?.width ?? 0)).toBeLessThanOrEqual((chart?.x ?? 0) + (chart?.width ?? 0));
    expect((shown?.y ?? 0) + (shown?.height ?? 0)).toBeLessThanOrEqual((chart?.y ?? 0) + (chart?.height ?? 0));
    await expectNoFaults();
    // A range and its requests, selected by keyboard, reset, and selected by dragging.
    await moment.press('End');
    for (let step = 0; step < 4; step++) await moment.press('Shift+ArrowLeft');
    await moment.press('Enter');
    const back = page.getByRole('button', { name: 'Show all 5 minutes' });
    await back.waitFor();
    await page.getByRole('link', { name: 'Show its requests' }).waitFor();
    await expectNoFaults();
    await moment.press('Escape');
    await back.waitFor({ state: 'detached' });
    const box = await moment.boundingBox();
    const [x, y] = [(box?.x ?? 0) + 2, (box?.y ?? 0) + 20];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + (box?.width ?? 0) - 4, y, { steps: 3 });
    await page.mouse.up();
    await back.click();
    await moment.press('End');
    await moment.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('filter')).toMatch(/^since:\S+Z until:\S+Z$/);
    await page.goBack();
    await expect
      .poll(() => page.getByRole('link', { name: '4xx' }).getAttribute('href'))
      .toBe(`${PATH}?filter=status%3A4xx`);
    await expect
      .poll(
        async () =>
          (
            await page
              .getByRole('region', { name: 'Requests per second' })
              .getByRole('link', { name: 'Requests' })
              .boundingBox()
          )?.height,
      )
      .toBeLessThan(24);
    // The selected theme does not change a forced background.
    await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
    const theme = page.getByRole('group', { name: 'Theme' });
    await theme.getByTitle('Light').click();
    const colours = () =>
      page.evaluate(
        `[...new Set([...document.querySelectorAll('.chart .line, .body li line')].map((line) => getComputedStyle(line).stroke))]`,
      );
    await expect.poll(colours).toEqual(['rgb(255, 255, 255)']);
    await theme.getByTitle('Follow the system').click();
    await page.emulateMedia({ forcedColors: 'none', colorScheme: null });
    await page.getByRole('group', { name: 'View' }).getByText('As a table').click();
    await page.getByRole('table').getByRole('columnheader', { name: 'p99' }).waitFor();
    await expectNoFaults();
    await page.getByRole('group', { name: 'Range' }).getByText('30 min').click();
    await page.getByRole('heading', { name: 'The last 30 minutes' }).waitFor();
    await expect
      .poll(() => Object.fromEntries(new URL(page.url()).searchParams))
      .toEqual({ show: 'charts', minutes: '30' });
  });

  it('edits a request, sends it, and shows both answers side by side with their differences', async () => {
    const { page, engine, expectNoFaults } = await openTraffic({ prepare: few });
    await row(page, /POST\s*201/).click();
    await pane(page).getByRole('button', { name: 'Edit…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit and send' });
    await dialog.getByLabel('Body').fill('{"name":"","categoryId":1}');
    await dialog.getByLabel('Path and query').fill('no path');
    await expectNoFaults();
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.getByText('must begin with “/”').waitFor();
    await dialog.getByLabel('Path and query').fill('/v1/pets?again');
    await dialog.getByRole('button', { name: 'Send' }).click();
    const compared = page.getByRole('dialog', { name: 'Two requests compared' });
    const answers = compared.getByRole('group', { name: 'Response', exact: true });
    await expect.poll(() => answers.innerText()).toMatch(/differs:\s*201\s*400/);
    await compared.getByRole('group', { name: 'Request', exact: true }).getByText('POST /v1/pets?again').waitFor();
    await expectNoFaults();
    await compared.getByText('Differences', { exact: true }).click();
    await expect.poll(() => compared.getByText('Content-Type: application/json').count()).toBe(0);
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await kept(engine))[0]).toMatchObject({ status: 400, target: '/v1/pets?again' });
    const more = pane(page).getByRole('button', { name: 'More about the entry' });
    await more.click();
    await page.getByRole('menuitem', { name: 'Compare with another…' }).click();
    await row(page, '/v1/nope').click();
    await more.click();
    await page.getByRole('menuitem', { name: 'Compare with the chosen one' }).click();
    await compared.getByText('GET /v1/nope').waitFor();
  });

  it('shows running requests, the events of a stream and the frames of a WebSocket', async () => {
    const { page, engine, expectNoFaults } = await openTraffic();
    const upstream = await startUpstream((_request, response) => {
      response.setHeader('Content-Type', 'text/event-stream').write('event: tick\ndata: one\n\n');
    });
    const server = new WebSocketServer({ server: upstream.server });
    server.on('connection', (socket) => socket.on('message', (data: Buffer) => socket.send(`heard ${data}`)));
    await engine.call('projects.update', {
      projectId: (await engine.demo()).id,
      target: { kind: 'upstream', url: upstream.url },
    });
    const authority = `demo.vivarium.localhost:${engine.app.runtime.http.port}`;
    const events = get({
      host: '127.0.0.1',
      port: engine.app.runtime.http.port,
      path: '/events',
      headers: { host: authority },
    });
    events.on('error', () => undefined);
    track(() => void events.destroy());
    await row(page, /200\s*\/events/).click();
    await pane(page).getByText('Running').or(pane(page).getByText('tick')).first().waitFor();
    await pane(page).getByRole('listitem').filter({ hasText: 'tick' }).getByText('one').waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.move(0, 0);
    const socket = new WebSocket(`ws://127.0.0.1:${engine.app.runtime.http.port}/chat`, {
      headers: { host: authority },
    });
    await once(socket, 'open');
    socket.send('hello');
    await row(page, /101\s*\/chat/).click();
    const frames = pane(page).getByRole('region', { name: 'Frames' });
    await frames.getByText('heard hello').waitFor();
    await expectNoFaults();
    socket.send('again');
    await frames.getByText('heard again').waitFor();
    socket.close();
    await frames.getByRole('listitem').filter({ hasText: 'close' }).first().waitFor();
  });
});
