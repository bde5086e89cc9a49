/**
 * `npm run images`: takes the documents' pictures from a real engine with the demo data, in Chromium, at the usual
 * ports. It takes five minutes, because Home charts that time. Build first (`npm run build`).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../chromium.ts';
import { execute } from '../command.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PROGRAM = join(ROOT, 'out', 'main', 'vivarium.js');
const FOLDER = join(ROOT, 'docs', 'images');

const WIDTH = 1280;
/** A slightly higher resolution than most screens have. */
const SCALE = 1.5;
/** The margin around a part of a page, in CSS pixels. */
const MARGIN = 8;
/** Chromium's WebP quality at which text stays clean and a page stays below 150 kB. */
const QUALITY = 0.7;
const THEMES = ['light', 'dark'] as const;

type Theme = (typeof THEMES)[number];
/** One picture in each theme, as PNG in Base64. */
type Picture = Record<Theme, string>;

/** Requests in each of 240 seconds, with pauses and bursts. */
const SECONDS = Array.from({ length: 240 }, (_, second) => {
  const working = 2.5 + 2 * Math.sin(second / 13) + 1.5 * Math.sin(second / 3.7);
  return Math.max(second > 220 ? 3 : 0, Math.round(working + (second % 47 === 0 ? 6 : 0)));
});

const folder = mkdtempSync(join(tmpdir(), 'vivarium-images-'));
const dataDir = join(folder, 'data');
mkdirSync(FOLDER, { recursive: true });
const engine = spawn(process.execPath, [PROGRAM, 'serve', '--data-dir', dataDir], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: {
    ...process.env,
    NO_COLOR: '1',
    VIVARIUM_BROWSER: findChromium(),
    VIVARIUM_BROWSER_ARGUMENTS: '--headless=new --no-sandbox',
  },
});
const ended = once(engine, 'exit');
try {
  await takePictures(await untilItServes());
} finally {
  engine.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** @returns the sign-in link that the start prints. */
function untilItServes(): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    engine.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const link = /Interface +(http\S+)/.exec(printed)?.[1];
      if (link !== undefined && printed.includes('Stop with Ctrl-C')) resolve(link);
    });
    void ended.then(() => reject(new Error(`The engine ended: ${printed}`)));
  });
}

async function takePictures(link: string): Promise<void> {
  const browser = await launchChromium({ home: folder });
  const context = await browser.newContext({ viewport: { width: WIDTH, height: 800 }, deviceScaleFactor: SCALE });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByText('live', { exact: true }).waitFor();

  await save(page, 'demo', await composeSteps(page, await takeDemo(page)));
  await call('clock.reset');
  await live(page);
  await browser.close();
}

/** The five steps of *Give a demo* with the mouse; on the way, the pictures of CAA and of *Connect*. */
async function takeDemo(page: Page): Promise<Picture[]> {
  const domains = '/projects/happy-paws/domains';
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  await open(page, '/projects/happy-paws');
  await page.getByRole('region', { name: 'Needs attention' }).waitFor();
  const overview = await shoot(page);

  await open(page, `${domains}/shop.happypaws.test`);
  await page.getByRole('region', { name: 'Current state' }).getByText('Expected').waitFor();
  const checks = await shoot(page);
  await button('Replace it in my local zone').click();
  await page.getByText(/^The record is in the zone/).waitFor();
  await button('Verify').click();
  const shop = page.locator('a[data-hostname="shop.happypaws.test"]');
  await shop.getByText('certificate issued').waitFor();

  await open(page, `${domains}/happypaws.example`);
  const caa = page.getByRole('region', { name: 'CAA', exact: true });
  await caa.getByText('forbids').first().waitFor();
  await caa.scrollIntoViewIfNeeded();
  const walk = await shoot(page);
  await save(page, 'caa', await shoot(page, caa));
  await button('Permit it in my local zone').click();
  await caa.getByText('allowed').waitFor();

  await open(page, `${domains}/shop.happypaws.test`);
  await page
    .getByRole('button', { name: /^Connect/ })
    .first()
    .click();
  const connect = page.getByRole('dialog', { name: /^Connect/ });
  await connect.getByRole('radio', { name: 'From your own browser' }).check();
  await connect.getByText('PAC file', { exact: true }).waitFor();
  await save(page, 'connect', await shoot(page, connect));
  await connect.getByRole('radio', { name: 'In a temporary browser' }).check();
  await connect
    .getByRole('button', { name: /^Open in / })
    .first()
    .click();
  await page.getByText(/^Opened https:/).waitFor();
  const reached = await shoot(page);
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Time and state' }).click();
  const panel = page.getByRole('dialog', { name: 'Time and state' });
  await panel.getByLabel('Forward by', { exact: true }).fill('61 days');
  await page.keyboard.press('Enter');
  await page.getByText(/^Forward by 61 days\./).waitFor();
  // The band and the state of the domain.
  await page.evaluate('window.scrollTo(0, 0)');
  const forward = await shoot(page);
  await page.keyboard.press('Escape');
  return [overview, checks, walk, reached, forward];
}

/** Home of a busy project, and Traffic with a request that exceeded the limit. */
async function live(page: Page): Promise<void> {
  const projects = JSON.parse(await call('projects.list')) as { id: string; slug: string }[];
  const id = projects.find(({ slug }) => slug === 'demo')?.id;
  await call('projects.update', { projectId: id, plan: 'pro' });
  const key = /viv_\w+/.exec(readFileSync(join(dataDir, 'demo-key.json'), 'utf8'))?.[0] ?? '';
  await open(page, '/projects/demo');
  const clock = page.locator('header time');
  for (const count of SECONDS) {
    const shown = await clock.innerText();
    await Promise.all(Array.from({ length: count }, () => ask(key, 'GET', '/v1/pets?limit=5')));
    await clock.filter({ hasNotText: shown }).waitFor();
  }
  await save(page, 'home', await shoot(page, null, 640));

  await ask(key, 'POST', '/v1/pets', '{"name":"Rex","categoryId":9007199254740993}');
  await ask(key, 'GET', '/v1/pets/1');
  await ask(key, 'GET', '/v1/pets/404404');
  await ask('', 'GET', '/v1/pets?status=sold');
  await call('projects.update', { projectId: id, plan: 'free' });
  while ((await ask(key, 'GET', '/v1/pets?limit=5')) !== 429);
  await ask(key, 'GET', '/v1/pets?limit=5');
  await open(page, '/projects/demo/traffic');
  await page.getByRole('region', { name: 'Entries' }).getByRole('link').filter({ hasText: '429' }).first().click();
  await page.getByRole('region', { name: /^Entry trf_/ }).waitFor();
  await save(page, 'traffic', await shoot(page, null, 760));
}

async function open(page: Page, path: string): Promise<void> {
  await page.goto(new URL(path, page.url()).href);
  await page.getByText('live', { exact: true }).waitFor();
}

/** The window, or one part of it, in each theme. Paths are shown as in a usual data folder. */
async function shoot(page: Page, part: Locator | null = null, height = 800): Promise<Picture> {
  await page.setViewportSize({ width: WIDTH, height });
  await page.mouse.move(0, 0);
  await page.evaluate(
    `for (const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walker.nextNode(); )
       walker.currentNode.data = walker.currentNode.data.replaceAll(${JSON.stringify(dataDir)}, '/home/you/.local/share/vivarium')`,
  );
  const picture: Picture = { light: '', dark: '' };
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await part?.scrollIntoViewIfNeeded();
    const box = await part?.boundingBox();
    const clip = box && {
      x: Math.max(0, box.x - MARGIN),
      y: Math.max(0, box.y - MARGIN),
      width: box.width + 2 * MARGIN,
      height: box.height + 2 * MARGIN,
    };
    picture[colorScheme] = (await page.screenshot({ ...(clip && { clip }) })).toString('base64');
  }
  await page.emulateMedia({ colorScheme: 'light' });
  return picture;
}

/** Numbered pictures in two columns. */
async function composeSteps(page: Page, steps: readonly Picture[]): Promise<Picture> {
  const sheet = await page.context().newPage();
  const composed: Picture = { light: '', dark: '' };
  for (const theme of THEMES) {
    const [paper, ink] = theme === 'light' ? ['#ffffff', '#3b4a3f'] : ['#0d1117', '#c9d4cb'];
    await sheet.setContent(`<!doctype html><style>
      body { margin: 0; background: ${paper} }
      main { padding: 8px; display: grid; grid-template-columns: 1fr 1fr; gap: 16px }
      figure { margin: 0; display: grid; grid-template-columns: 28px 1fr; font: 600 22px sans-serif; color: ${ink} }
      img { width: 100%; border: 1px solid ${ink}55; border-radius: 6px; box-sizing: border-box }
      </style><main>${steps.map((step, index) => `<figure>${index + 1}<img src="data:image/png;base64,${step[theme]}"></figure>`).join('')}</main>`);
    composed[theme] = (await shoot(sheet, sheet.locator('main'), 1_300))[theme];
  }
  await sheet.close();
  return composed;
}

/** Converts a picture to WebP in Chromium, and writes it. */
async function save(page: Page, name: string, picture: Picture): Promise<void> {
  const sheet = await page.context().newPage();
  for (const theme of THEMES) {
    const url = await sheet.evaluate<string>(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${picture[theme]}';
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      canvas.getContext('2d').drawImage(image, 0, 0);
      const blob = await canvas.convertToBlob({ type: 'image/webp', quality: ${QUALITY} });
      return new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result);
        reader.readAsDataURL(blob);
      });
    })()`);
    writeFileSync(join(FOLDER, `${name}-${theme}.webp`), url.slice(url.indexOf(',') + 1), 'base64');
  }
  await sheet.close();
}

/** Calls one procedure of the engine, through the program itself. */
async function call(procedure: string, input: unknown = {}): Promise<string> {
  const args = [PROGRAM, 'call', procedure, JSON.stringify(input), '--data-dir', dataDir];
  return (await execute(process.execPath, args)).stdout;
}

function ask(key: string, method: string, path: string, body = ''): Promise<number | undefined> {
  const headers = {
    host: 'demo.vivarium.localhost:8080',
    ...(key !== '' && { authorization: `Bearer ${key}` }),
    ...(body !== '' && { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ port: 8080, path, method, headers }, (response) =>
      response.resume().on('end', () => resolve(response.statusCode)),
    );
    sent.on('error', reject).end(body);
  });
}
