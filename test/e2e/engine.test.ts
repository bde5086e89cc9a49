import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { buildPage } from '../support/page-build.ts';

/** The built page in a real browser, before a real engine. */
let browser: Browser;
let home: string;
let built: Awaited<ReturnType<typeof buildPage>>;

beforeAll(async () => {
  built = await buildPage();
  home = await mkdtemp(join(tmpdir(), 'vivarium-home-'));
  browser = await launchChromium({ home });
});

afterAll(async () => {
  await browser.close();
  await built.remove();
  await rm(home, { recursive: true, force: true });
});

async function open(engine: Engine): Promise<{ page: Page; errors: string[] }> {
  const { url, token } = engine.app.runtime.control;
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${url}/#token=${token}`);
  return { page, errors };
}

describe('the page before a real engine', () => {
  it('shows the demo project and its pets, and follows what clients and people do', async () => {
    const engine = await startEngine({}, { assetsDir: built.folder });
    const { page, errors } = await open(engine);
    await page.getByRole('heading', { level: 2, name: 'Demo' }).waitFor();
    expect(page.url()).not.toContain('token');
    await page.getByText('Biscuit the Border Collie').first().waitFor();

    await engine.api();
    await page.getByText('Demo key').first().waitFor();

    const { id: projectId } = await engine.demo();
    await engine.call('pets.update', { projectId, id: 1, name: '<b>Renamed</b> the Collie' });
    await page.getByText('<b>Renamed</b> the Collie').first().waitFor();

    await engine.call('clock.advance', { by: 'PT48H' });
    await page
      .getByText(/48 ?h|2 days/i)
      .first()
      .waitFor();
    expect(errors).toEqual([]);
  });
});
