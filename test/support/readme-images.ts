import { mkdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** `VIVARIUM_IMAGES=1` has the walk take the README's pictures on its way, at the ports that the README names. */
export const takesImages = process.env.VIVARIUM_IMAGES === '1';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'images');

const WIDTH = 1280;
/** Pictures are a little finer than most screens, and at most 300 kB. */
export const PICTURE_SCALE = 1.5;

/** Four minutes in which clients work: how many requests they make in each second, with rests and rushes, and none at rest in the end. */
const SECONDS = Array.from({ length: 240 }, (_, second) => {
  const working = 2.5 + 2 * Math.sin(second / 13) + 1.5 * Math.sin(second / 3.7);
  return Math.max(second > 220 ? 3 : 0, Math.round(working + (second % 47 === 0 ? 6 : 0)));
});

/** A picture in each theme, where the README's pictures are wanted. `height` ends it below what it is about. */
export async function takeImage(page: Page, name: string, height: number): Promise<void> {
  if (!takesImages) return;
  await mkdir(FOLDER, { recursive: true });
  await page.setViewportSize({ width: WIDTH, height });
  const reports = page.getByRole('button', { name: 'Close this report' });
  while ((await reports.count()) > 0) await reports.first().click();
  await page.mouse.move(0, 0);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) });
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Sends requests with the project's key for a while, as a background for pictures. */
export async function liveAWhile(page: Page, port: number, key: string): Promise<void> {
  if (!takesImages) return;
  for (const count of SECONDS) {
    const shown = await page.locator('header time').innerText();
    await Promise.all(Array.from({ length: count }, () => askForPets(port, key)));
    await expect.poll(() => page.locator('header time').innerText(), { timeout: 10_000 }).not.toBe(shown);
  }
}

function askForPets(port: number, key: string): Promise<void> {
  const headers = { host: `demo.vivarium.localhost:${port}`, authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    const sent = request({ port, path: '/v1/pets?limit=5', headers }, (response) => {
      response.resume().on('end', resolve);
    });
    sent.on('error', reject).end();
  });
}
