import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../main/base/config.ts';
import { type Engine, startEngine, track } from '../support/engine.ts';
import { builtPage } from '../support/page/page-build.ts';
import { enter, seen, openPage } from '../support/page/page-on-engine.ts';
import { startProgram } from '../support/program.ts';

/** A page that is read while its engine is gone. */
const LOSING = { breaksConnection: true, path: '/projects/demo/pets' };

/** The link that signs in. */
const linkTo = ({ control }: Engine['app']['runtime']): string => `${control.url}/#token=${control.token}`;

/** An engine whose data the next engine reuses. */
const startKept = async (options: Partial<Config> = {}): Promise<Engine> =>
  startEngine(options, { assetsDir: builtPage() });

/** Starts on the data and the control port of an engine that has stopped. */
const startAgain = ({ dataDir, app }: Engine): Promise<Engine> =>
  startKept({ dataDir, controlPort: Number(new URL(app.runtime.control.url).port) });

describe('a lost connection', () => {
  it('is shown, keeps the page readable, and recovers automatically', async () => {
    const { page, engine } = await openPage({ ...LOSING, engine: await startKept() });
    await seen(page, 'Biscuit');
    const { id: projectId } = await engine.demo();
    await engine.stop();
    await seen(page, 'The connection to Vivarium is lost.');
    await seen(page, 'Biscuit');
    const again = await startAgain(engine);
    await again.call('pets.update', { projectId, id: 1, name: 'Newborn' });
    await seen(page, 'Newborn');
    await seen(page, 'live');
    await expect.poll(() => page.getByText('The connection to Vivarium is lost.').count()).toBe(0);
  });

  it('is distinguished from an engine that is connected but does not answer', async () => {
    // At the end, the program stops before the page that shows it is left.
    const { page } = await openPage({ empty: true, breaksConnection: true });
    const { runtime, child } = await startProgram(['--empty']);
    await page.goto(linkTo(runtime));
    await seen(page, 'live');
    child.kill('SIGSTOP');
    track(() => void child.kill('SIGCONT'));
    await seen(page, 'Vivarium does not answer at the moment.');
    child.kill('SIGCONT');
    await seen(page, 'live');
  });

  it('prompts for the new link when the engine was restarted with another token', async () => {
    const { page, engine } = await openPage({ ...LOSING, engine: await startKept() });
    // It is shown before the engine stops; the test checks whether it stays.
    await seen(page, 'Biscuit');
    await engine.stop();
    await rm(join(engine.dataDir, 'control-token'));
    const again = await startAgain(engine);
    await seen(page, 'needs its new link');
    await seen(page, 'Biscuit');
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await page.getByLabel('Link').fill(linkTo(again.app.runtime));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await seen(page, 'live');
  });
});

describe('the sign-in page', () => {
  it('explains itself without a token, and shows errors at the field', async () => {
    const { page, engine } = await openPage({ empty: true, signedIn: false });
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const field = page.getByLabel('Link');
    await enter(field, 'http://example.org/#token=abc');
    await page.getByRole('alert').getByText('The link points to example.org').waitFor();
    await expect.poll(() => field.inputValue()).toBe('http://example.org/#token=abc');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await enter(field, linkTo(engine.app.runtime));
    await seen(page, 'live');
    await expect.poll(() => page.url()).toBe(`${engine.app.runtime.control.url}/`);
  });

  it('reports a rejected link', async () => {
    const { page } = await openPage({ ...LOSING, empty: true, signedIn: false, path: '/#token=wrong' });
    await page.getByText('Vivarium rejected that link.').waitFor();
    await expect.poll(() => page.url()).not.toContain('wrong');
  });

  it('accepts Vivarium’s own link once, and never puts a token in the address', async () => {
    const { page, engine } = await openPage({ empty: true, signedIn: false, breaksConnection: true });
    const addresses: string[] = [];
    page.on('framenavigated', (frame) => addresses.push(frame.url()));
    const link = engine.app.signInLink();
    await page.goto(link);
    await seen(page, 'live');
    await expect.poll(() => page.url()).toBe(`${engine.app.runtime.control.url}/`);
    expect(addresses.filter((address) => address.includes('token'))).toEqual([]);
    await page.evaluate('sessionStorage.clear()');
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText('This link has been used, or is too old.').waitFor();
  });

  it('is skipped in other tabs of the same Vivarium, but not on another port', async () => {
    const { page, engine } = await openPage({ empty: true, breaksConnection: true });
    const other = await startEngine({ empty: true }, { assetsDir: builtPage() });
    const tab = await page.context().newPage();
    track(() => tab.close());
    await tab.goto(`${engine.app.runtime.control.url}/settings`);
    await tab.getByText('live', { exact: true }).waitFor();
    await tab.goto(other.app.runtime.control.url);
    await tab.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await engine.call('access.renewToken');
    await page.getByText('needs its new link').waitFor();
    await tab.goto(engine.app.runtime.control.url);
    await tab.evaluate('sessionStorage.clear()');
    await tab.reload();
    await tab.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });
});

it('the shipped interface has at most 300 kB of compressed JavaScript, and no inline script', async () => {
  const folder = builtPage();
  const files = await readdir(join(folder, 'assets'));
  const scripts = files.filter((name) => name.endsWith('.js'));
  const sizes = await Promise.all(
    scripts.map(async (name) => gzipSync(await readFile(join(folder, 'assets', name))).length),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000);
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*src=)|javascript:/);
  expect(files.every((name) => /-[\w-]{8}\.\w+$/.test(name))).toBe(true);
});
