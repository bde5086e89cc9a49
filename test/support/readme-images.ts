import { mkdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';

/** `VIVARIUM_IMAGES=1` has the walk take the README's pictures on its way, at the ports that the README names. */
export const takesImages = process.env.VIVARIUM_IMAGES === '1';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'images');

/** Requests in each of the seconds before a picture: as many as clients at work make, and now and then too many. */
const PULSE = [1, 2, 3, 5, 4, 2, 6, 9, 4, 3, 2, 1, 1, 4, 7, 12, 6, 3, 2, 2, 5, 3, 1, 0, 2, 4, 3, 8, 5, 2];
const PULSES = 8;

/** A picture in each theme, where the README's pictures are wanted. */
export async function takeImage(page: Page, name: string): Promise<void> {
  if (!takesImages) return;
  await mkdir(FOLDER, { recursive: true });
  await page.mouse.move(0, 0);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) });
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Has the Overview show four minutes of life, where its picture is wanted. */
export async function liveAWhile(port: number, key: string): Promise<void> {
  if (!takesImages) return;
  for (const count of Array.from({ length: PULSES }, () => PULSE).flat()) {
    const asked = Array.from({ length: count }, () => askForPets(port, key));
    await Promise.all([...asked, pause(1_000)]);
  }
}

function askForPets(port: number, key: string): Promise<void> {
  const headers = { host: `demo.vivarium.localhost:${port}`, authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    const sent = request({ port, path: '/v1/pets?limit=5', headers }, (response) =>
      response.resume().on('end', resolve),
    );
    sent.on('error', reject).end();
  });
}
