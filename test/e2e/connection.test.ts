import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { usePages } from '../support/page-browser.ts';
import { buildPage } from '../support/page-build.ts';

const openPage = usePages();

const seen = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

/** What a browser says by itself when a connection fails; a page cannot keep it from that. */
const isAboutNetwork = (text: string): boolean => /^(?:WebSocket connection to|Failed to load resource)/.test(text);

describe('a lost connection', () => {
  it('shows, keeps the page readable, and heals by itself', async () => {
    const { page, engine, errors } = await openPage();
    await seen(page, 'live');
    await engine.stop();
    await seen(page, 'The connection to Vivarium is lost.');
    await seen(page, 'http://demo.vivarium.localhost:8080/v1');
    await seen(page, 'Biscuit');
    const dataset = engine.world.pets['prj_demo'];
    if (dataset !== undefined) dataset.production = [{ id: '1', name: 'Newborn', categoryId: '1', status: 'sold' }];
    await engine.restart();
    await seen(page, 'Newborn');
    await seen(page, 'live');
    expect(await page.getByText('The connection to Vivarium is lost.').count()).toBe(0);
    expect(errors.filter((text) => !isAboutNetwork(text))).toEqual([]);
  });

  it('shows that the engine does not answer, though the connection stands', async () => {
    const { page, engine, errors } = await openPage();
    await seen(page, 'live');
    const speak = engine.hush();
    await seen(page, 'Vivarium does not answer at the moment.');
    speak();
    await seen(page, 'live');
    expect(errors).toEqual([]);
  });

  it('asks for the new link when the engine has been started with another token', async () => {
    const { page, engine } = await openPage();
    await seen(page, 'live');
    // It is there before the engine goes; whether it stays is what is asked.
    await seen(page, 'Biscuit');
    await engine.stop();
    await engine.restart('another-token');
    await seen(page, 'wants its new link');
    await seen(page, 'Biscuit');
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await page.getByLabel('Link').fill(`${engine.url}/#token=another-token`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await seen(page, 'live');
  });
});

describe('signing in', () => {
  it('explains itself without a token, and says at the field what is wrong', async () => {
    const { page, engine, errors } = await openPage({ path: '/' });
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const field = page.getByLabel('Link');
    await field.fill('http://example.org/#token=abc');
    await field.press('Enter');
    await page.getByRole('alert').getByText('The link leads to example.org').waitFor();
    expect(await field.inputValue()).toBe('http://example.org/#token=abc');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill(engine.link);
    await field.press('Enter');
    await seen(page, 'live');
    expect(page.url()).toBe(`${engine.url}/`);
    expect(errors).toEqual([]);
  });

  it('says that a link is not taken', async () => {
    const { page } = await openPage({ path: '/#token=wrong' });
    await page.getByText('Vivarium does not take that link.').waitFor();
    expect(page.url()).not.toContain('wrong');
  });

  it('takes a link that is opened in the same tab', async () => {
    const { page, engine } = await openPage({ path: '/' });
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.goto(engine.link);
    await seen(page, 'live');
    expect(page.url()).toBe(`${engine.url}/`);
  });
});

describe('what is shipped', () => {
  it('is at most 250 kB of JavaScript, compressed, and nothing inline', async () => {
    const folder = await buildPage();
    const files = await readdir(join(folder, 'assets'));
    const scripts = files.filter((name) => name.endsWith('.js'));
    const sizes = await Promise.all(
      scripts.map(async (name) => gzipSync(await readFile(join(folder, 'assets', name))).length),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000);
    const html = await readFile(join(folder, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<style|style=|<script(?![^>]*src=)|javascript:/);
    expect(files.every((name) => /-[\w-]{8}\.\w+$/.test(name))).toBe(true);
  });
});
