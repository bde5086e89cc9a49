import { expect, it } from 'vitest';
import { sampleSuite } from '../support/examine/kept-examination.ts';
import { runCommand, openPage, waitForFocus } from '../support/page/page-on-engine.ts';
import { finished, startCli } from '../support/rpc/rpc-cli.ts';

/** Four runs of a suite, on a busy machine. */
const EXAMINING_MS_MAX = 120_000;

const WORLD = 'vivarium: 1\nprojects:\n  shop: { plan: pro, pets: 40, keys: [ci] }\n';

it(
  'shows an examination as it runs, and leads from a square to the requests of its run and back',
  { timeout: EXAMINING_MS_MAX },
  async () => {
    const { page, engine, expectNoFaults, expectToFit } = await openPage({ path: '/break-it' });
    await runCommand(page, 'examined', /^Examined test suites/);
    await page.getByRole('heading', { name: 'Run your tests under faults' }).waitFor();
    await page.getByText(`--data-dir ${engine.dataDir} examine -- npm test`).waitFor();
    await expectNoFaults();

    const words = ['--only', 'gzip-cut,500-after-commit', '--data-dir', engine.dataDir];
    const suite = [process.execPath, '--test'];
    const env = { REPEATS_POST: '1' };
    const ended = finished(startCli(['examine', ...words, '--', ...suite], env, sampleSuite(WORLD)));
    // It appears while it runs.
    await page.getByText(/^[01] of 2 faults so far/).waitFor({ timeout: EXAMINING_MS_MAX });
    await expect(ended).resolves.toMatchObject({ code: 1 });
    await page.getByText(/^2 faults of \d+: 1 wrong, 1 survived/).waitFor();

    const grid = page.getByRole('grid', { name: 'Rows and tests' });
    const titles = () => grid.getByRole('columnheader').allTextContents();
    await expect
      .poll(titles)
      .toEqual(['Fault', 'Whole run', 'lists pets', 'reads a pet', 'creates a pet', 'counts pets']);
    const wrong = grid.getByRole('row', { name: /^500-after-commit/ }).getByRole('gridcell');
    await expect.poll(() => wrong.allTextContents()).toEqual(['wrong', 'survived', 'survived', 'survived', 'wrong']);
    const chosen = page.getByRole('region', { name: 'The chosen square' });
    await chosen.getByText('The target carried out 2 equal POST /v1/pets; without the fault it was 1.').waitFor();
    await expectNoFaults();
    await expectToFit('/break-it/examine', () => grid.waitFor());
    await page.setViewportSize({ width: 1_440, height: 900 });

    // One stop of Tab, then arrow keys.
    const square = wrong.last().getByRole('link');
    await wrong.first().getByRole('link').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await waitForFocus(square);
    await chosen.getByText(/42 !== 41/).waitFor();
    await chosen.getByText('POST /v1/pets, the 1st').waitFor();

    await page.keyboard.press('Enter');
    const entries = page.getByRole('region', { name: 'Entries' });
    await entries.getByText('Of 500-after-commit.har').waitFor();
    await expect.poll(() => entries.getByRole('listitem').count()).toBe(5);
    await entries.getByTitle('Broken on purpose: api.error-after-commit').click();
    await page.getByText('From 500-after-commit.har, not from this Vivarium’s traffic.').waitFor();
    await expectNoFaults();
    await page.goBack();
    await page.goBack();
    await waitForFocus(square);

    await page.keyboard.press('Home');
    await waitForFocus(grid.getByRole('link', { name: '500-after-commit' }));
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'api.error-after-commit' }).waitFor();
    await page.goBack();
    await waitForFocus(grid.getByRole('link', { name: '500-after-commit' }));
  },
);
