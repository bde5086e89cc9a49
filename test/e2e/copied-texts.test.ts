import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, expect, it, vi } from 'vitest';
import type { Engine } from '../support/engine.ts';
import { connectClient } from '../support/page/page-acme.ts';
import { keepExamination } from '../support/examine/kept-examination.ts';
import { copiedTexts, copiedTextsInSources, unreadableCopiedTexts } from '../support/page/page-copied.ts';
import { EVERY_PAGE, FULL_PROJECT, fillEveryPage, settled } from '../support/page/page-every.ts';
import { enter, openPage } from '../support/page/page-on-engine.ts';
import { holdRun } from '../support/page/page-run.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream } from '../support/upstream-server.ts';

/** Dozens of pages in one test, on a busy machine. */
const WALK_MS_MAX = 240_000;

const WIDTHS = [1_440, 420];

/** Texts that this test does not show: those for other devices, which need a second network interface. */
const NOT_SHOWN = ['pages/machine/devices/OtherDevicesView.svelte'];

afterEach(() => vi.unstubAllEnvs());

let run: AbortController;

const WORLD =
  'vivarium: 1\nprojects: { acme: { plan: pro, domains: { acme.example: } } }\nzones: { acme.example: "" }\n';

/** Gives every page and dialog its texts to copy. */
async function prepare(engine: Engine): Promise<void> {
  await fillEveryPage(engine);
  await engine.call('world.apply', { text: WORLD, file: '/repository/vivarium.yaml' });
  await engine.call('drills.start', { drill: 'hammering' });
  keepExamination(engine.dataDir);
  chmodSync(join(engine.dataDir, 'ca/root-key.pem'), 0o644);
  const upstream = await startUpstream((request, reply) =>
    request.url === '/bytes'
      ? reply.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from('89504e470d0a1a0a', 'hex'))
      : reply.writeHead(404).end('nothing'),
  );
  await engine.call('projects.create', { name: 'Shop', target: { kind: 'upstream', url: upstream.url } });
  await engine.call('projects.create', { name: 'Dead', target: { kind: 'upstream', url: 'http://127.0.0.1:9' } });
  await engine.api();
  const { id: projectId } = await engine.project('happy-paws');
  await engine.call('projects.update', { projectId, persona: 'vercel' });
  const client = await connectClient(engine);
  await client.obtain(['www.acme.test']);
  run = await holdRun(engine, upstream.url);
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, disabled: false }).first();

async function connect(page: Page, way: string, text: string): Promise<void> {
  await button(page, /^Connect/).click();
  await page.getByRole('radio', { name: way }).check();
  await page.getByRole('dialog').getByText(text).first().waitFor();
}

/** What makes more texts appear on a page; a trailing `?` is for the second time on the same page. */
const STEPS: Record<string, (page: Page) => Promise<void>> = {
  [`${FULL_PROJECT}/keys-and-limits`]: async (page) => {
    await button(page, 'New key').click();
    await enter(page.getByRole('textbox', { name: 'Name' }), 'Laptop');
    await button(page, 'I have copied it').waitFor();
  },
  '/dns/focus.test': async (page) => {
    await button(page, 'More for focus.test').click();
    await page.getByRole('menuitem', { name: 'Update key for tools' }).click();
    await page.getByRole('dialog').getByText('As a file').waitFor();
  },
  '/dns/focus.test?': async (page) => {
    await button(page, 'More for focus.test').click();
    await page.getByRole('menuitem', { name: 'Signed answers (DNSSEC)' }).click();
    await page.getByRole('switch', { name: 'Sign the answers', disabled: false }).press('Space');
    await page.getByRole('dialog').getByText('Trust anchor for delv').waitFor();
  },
  '/dns?ask=focus.test+SOA': (page) => page.getByText('status: NOERROR').waitFor(),
  [`${FULL_PROJECT}/pets`]: (page) => button(page, 'As curl').click(),
  [`${FULL_PROJECT}/domains/www.happypaws.test`]: (page) => connect(page, 'From one program', '--proxy'),
  [`${FULL_PROJECT}/domains/www.happypaws.test?way=2`]: (page) => connect(page, 'From your own browser', 'PAC file'),
  [`${FULL_PROJECT}/domains/www.happypaws.test?way=3`]: (page) =>
    connect(page, 'From the whole system', 'PAC').then(() => page.getByText(/^The PAC file, for/).click()),
  [`${FULL_PROJECT}/domains`]: async (page) => {
    await button(page, 'Attach a domain').click();
    await enter(page.getByLabel('Hostname'), 'shop.focus.test');
    await button(page, /^Put it in my local zone/).click();
    await button(page, 'Verify').click();
    await page.getByRole('link', { name: 'https://shop.focus.test:' }).waitFor();
  },
  [`${FULL_PROJECT}/domains/www.happypaws.test?api`]: async (page) => {
    await button(page, 'Connect an API client').click();
    await page.getByText('"misconfigured": false').waitFor();
  },
  '/certificates/www.happypaws.test': (page) => page.getByText('PEM of the chain').click(),
  '/projects/demo/traffic': async (page) => {
    await page.getByRole('region', { name: 'Entries' }).getByRole('link').first().click();
    await button(page, 'As code').click();
  },
  '/projects/demo/api-reference/listPets': async (page) => {
    await button(page, 'Send').click();
    await page.getByRole('region', { name: 'Response', exact: true }).getByText('200 OK').waitFor();
  },
  '/projects/demo/api-reference/createPet': async (page) => {
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('Rex');
    await button(page, 'Send').click();
    await page.getByRole('group', { name: 'Show the response' }).getByLabel('As on the wire').check();
  },
  '/projects/shop/api-reference': async (page) => {
    await button(page, 'Send').click();
    await page.getByRole('region', { name: 'Response', exact: true }).getByText('404').waitFor();
  },
  '/projects/shop/api-reference?': async (page) => {
    await page.getByRole('textbox', { name: 'Path' }).fill('/bytes');
    await button(page, 'Send').click();
    await page.getByText('In base64').waitFor();
  },
  '/projects/dash-acme-test': async (page) => {
    run.abort();
    await page.getByRole('heading', { name: 'The run has ended' }).waitFor();
  },
  '/acme': async (page) => {
    await page
      .getByRole('region', { name: 'Orders' })
      .getByRole('link', { name: /issued/ })
      .click();
    await page.getByRole('group', { name: 'the certificate as PEM' }).waitFor();
  },
  '/break-it/examine': (page) => page.getByRole('grid', { name: 'Rows and tests' }).waitFor(),
  '/break-it/drill': async (page) => {
    await page.getByRole('radio', { name: /as long as Retry-After/ }).press('Space');
    await button(page, 'Answer').click();
    await button(page, 'Check the fix').waitFor();
  },
  '/doctor': (page) => page.getByRole('region', { name: 'Failed' }).waitFor(),
};

it(
  'every text to copy, on every page and in every dialog, is wide enough to read and not covered',
  { timeout: WALK_MS_MAX },
  async () => {
    vi.stubEnv('HOME', temporaryFolder());
    vi.stubEnv('XDG_DATA_HOME', '');
    const machineRoot = temporaryFolder();
    mkdirSync(join(machineRoot, 'etc'));
    writeFileSync(join(machineRoot, 'etc/NIXOS'), '');
    const { page, begin, visit } = await openPage({ machineRoot, prepare });
    const seen = new Set<string>();
    const look = async (path: string): Promise<void> => {
      await settled(page);
      const texts = await copiedTexts(page);
      if (texts.length === 0) return;
      for (const what of texts) seen.add(what);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(() => unreadableCopiedTexts(page), { message: `${path} at ${width} px` }).toEqual([]);
      }
      await page.setViewportSize({ width: 1_440, height: 900 });
    };
    // What a step has opened stays open until the next session.
    let leaves = false;
    for (const path of new Set([...EVERY_PAGE, ...Object.keys(STEPS)])) {
      await (leaves ? begin(path) : visit(path));
      if (!path.includes('?')) await look(path);
      leaves = path in STEPS;
      if (!leaves) continue;
      await STEPS[path]?.(page);
      await look(path);
    }
    const unseen = copiedTextsInSources().filter(
      ({ path, what }) => !NOT_SHOWN.includes(path) && ![...seen].some((name) => what.test(name)),
    );
    expect(unseen.map(({ path, what }) => `${path}: ${what.source}`)).toEqual([]);
  },
);
