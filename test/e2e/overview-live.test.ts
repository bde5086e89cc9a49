import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { expectSound, useEnginePages } from '../support/page-on-engine.ts';
import { requireTool } from '../support/tools.ts';

const openPage = useEnginePages();

const run = promisify(execFile);

describe('the overview before a real engine', () => {
  it('shows the last minutes to whoever opens it later, and goes on with them', async () => {
    const { page, engine, open } = await openPage({ path: '/projects/happy-paws' });
    await page.getByText('No requests yet. They show here as they come.').waitFor();
    await Promise.all([engine.api(), engine.api(), engine.api({ key: null })]);
    await open('/projects/demo');
    await page.getByRole('img', { name: /; 3 in the last five minutes, [1-3] a second at most\.$/ }).waitFor();
    await Promise.all([engine.api(), engine.api()]);
    await page.getByRole('img', { name: /; 5 in the last five minutes/ }).waitFor();
    await page.getByRole('img', { name: /^0 requests in the last second/ }).waitFor();
  });

  it('is sound with a ban, failing domains and a wrong record', async () => {
    const opened = await openPage({ path: '/projects/happy-paws' });
    const { page, engine, open } = opened;

    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByRole('link', { name: 'shop.happypaws.test' }).waitFor();
    await attention.getByRole('link', { name: 'happypaws.example' }).waitFor();
    await expectSound(opened, 'overview');
    for (let request = 0; request < 81; request++) await engine.api();
    await open('/projects/demo');
    await attention.getByText('Demo key is banned').waitFor();
    await page
      .getByRole('img', { name: /refused/ })
      .locator('.brick path[d^=M]')
      .first()
      .waitFor();
    await expectSound(opened, 'overview-banned');
  });

  it('makes a key that stands in the request, which then works as pasted', async () => {
    requireTool('curl');
    const { page } = await openPage({ path: '/projects/happy-paws' });
    const panel = page.getByRole('region', { name: 'First request' });
    await panel.getByText('This project has no key yet.').waitFor();
    await panel.getByRole('button', { name: 'Make a key for it' }).click();
    await panel.getByText(/Bearer viv_\w{32}/).waitFor();
    await panel.getByRole('button', { name: 'Copy first request' }).click();
    const pasted = await page.evaluate<string>('navigator.clipboard.readText()');
    const { stdout } = await run('sh', ['-c', pasted.replace('curl ', 'curl -sS ')]);
    expect(JSON.parse(stdout)).toHaveLength(5);
    await page.getByRole('button', { name: 'Undo' }).click();
    await panel.getByText('This project has no key yet.').waitFor();
    const { stdout: refused } = await run('sh', ['-c', pasted.replace('curl ', 'curl -sS ')]);
    expect(JSON.parse(refused)).toMatchObject({ status: 401 });
  });
});
