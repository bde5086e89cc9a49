/**
 * `npm run icons`: makes every icon file from `resources/icons/vivarium.svg`, with the system's Chromium. The results
 * are committed, so that packaging needs no browser; a test fails when they are older than their source.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchChromium } from '../chromium.ts';
import { encodeIcns, encodeIco, ICNS_SIZES, type Picture } from './icon-files.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'resources', 'icons');

const LINUX_SIZES = [16, 24, 32, 48, 64, 128, 256, 512];
const WINDOWS_SIZES = [16, 24, 32, 48, 64, 128, 256];
const TRAY_SIZE = 32;
/** Apple's menu bar. */
const TEMPLATE_SIZE = 16;

/** Apple's icons leave a tenth on each side. */
const APPLE_MARGIN = 0.1;

const source = readFileSync(join(FOLDER, 'vivarium.svg'), 'utf8');

/** A silhouette in black with the leaf cut out: macOS colours it itself. */
function template(svg: string): string {
  const paths = [...svg.matchAll(/<path[^>]*\/>/g)].map(([path]) => path);
  const [house = '', , leaf = '', vein = ''] = paths;
  const paint = (path: string, colour: string) =>
    path.replaceAll(/(fill|stroke)="#[0-9a-f]+"/g, (_all, what: string) => `${what}="${colour}"`);
  return svg.replace(
    /<path.*<\/svg>/s,
    `<mask id="m">${paint(house, 'white')}${paint(leaf, 'black')}${paint(vein, 'white')}</mask>` +
      '<rect width="32" height="32" mask="url(#m)"/></svg>',
  );
}

async function draw(page: Page, svg: string, size: number, margin = 0): Promise<Picture> {
  await page.setViewportSize({ width: size, height: size });
  const inset = Math.round(size * margin);
  const sized = svg.replace('<svg ', `<svg width="${size - 2 * inset}" height="${size - 2 * inset}" `);
  await page.setContent(`<body style="margin:${inset}px;line-height:0">${sized}`);
  return { size, png: await page.screenshot({ omitBackground: true }) };
}

const home = mkdtempSync(join(tmpdir(), 'vivarium-icons-'));
const browser = await launchChromium({ home });
const page = await browser.newPage();
const all = async (sizes: readonly number[], margin?: number): Promise<Picture[]> => {
  const pictures: Picture[] = [];
  for (const size of sizes) pictures.push(await draw(page, source, size, margin));
  return pictures;
};
const write = (name: string, content: string | Buffer) => writeFileSync(join(FOLDER, name), content);

mkdirSync(join(FOLDER, 'linux'), { recursive: true });
for (const { size, png } of await all(LINUX_SIZES)) write(join('linux', `${size}x${size}.png`), png);
write('vivarium.ico', encodeIco(await all(WINDOWS_SIZES)));
write('vivarium.icns', encodeIcns(await all(ICNS_SIZES, APPLE_MARGIN)));
for (const [suffix, scale] of [
  ['', 1],
  ['@2x', 2],
] as const) {
  write(`tray${suffix}.png`, (await draw(page, source, TRAY_SIZE * scale)).png);
  write(`trayTemplate${suffix}.png`, (await draw(page, template(source), TEMPLATE_SIZE * scale)).png);
}
write('made-from.txt', `${createHash('sha256').update(source).digest('hex')}  vivarium.svg\n`);
await browser.close();
rmSync(home, { recursive: true, force: true });
