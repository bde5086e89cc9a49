import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, onTestFinished, vi } from 'vitest';
import type { TrafficEntry } from '../../../../main/contract/traffic.ts';
import { demoTest as it } from '../../../support/engine-test.ts';
import { startEngine, type Engine } from '../../../support/engine.ts';
import { findChromium, folderForSocket } from '../../../support/chromium.ts';

beforeEach(() => void vi.stubEnv('TMPDIR', folderForSocket(tmpdir(), onTestFinished)));
afterEach(() => void vi.unstubAllEnvs());

const BROWSER_TIMEOUT_MS = 180_000;

/** Its sandbox needs user namespaces, which containers and root do not have. */
const HEADLESS = '--headless=new --no-sandbox';

const profiles = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('vivarium-browser-'));

/** What browsers have requested from `hostname`, once anything has arrived. */
async function askedAt(engine: Engine, hostname: string): Promise<TrafficEntry[]> {
  let entries: TrafficEntry[] = [];
  await vi.waitFor(
    async () => {
      const { items } = await engine.call('traffic.list');
      entries = items.filter((entry) => entry.authority === hostname);
      expect(entries.length).toBeGreaterThan(0);
    },
    { timeout: BROWSER_TIMEOUT_MS / 2, interval: 100 },
  );
  return entries;
}

describe('reach.open', { timeout: BROWSER_TIMEOUT_MS }, () => {
  it.each([
    ['a custom domain', 'www.happypaws.test'],
    ['a platform hostname, which Chromium asks no proxy for', 'demo.vivarium.localhost'],
  ])('opens %s over verified HTTPS at port 443', async (_, hostname) => {
    vi.stubEnv('VIVARIUM_BROWSER', findChromium());
    vi.stubEnv('VIVARIUM_BROWSER_ARGUMENTS', HEADLESS);
    const before = profiles();
    const engine = await startEngine();
    expect(await engine.call('reach.open', { hostname })).toEqual({
      url: `https://${hostname}/v1/openapi.json`,
      browser: 'The browser',
      trust: 'root',
    });
    expect(await engine.call('reach.browser')).toMatchObject({ opened: 1 });
    expect(await askedAt(engine, hostname)).toContainEqual(
      expect.objectContaining({ scheme: 'https', target: '/v1/openapi.json', status: 200 }),
    );
    await engine.stop();
    expect(profiles().filter((profile) => !before.includes(profile))).toEqual([]);
  });

  it('gives a browser without a trust store the keys of the project’s certificates', async () => {
    vi.stubEnv('VIVARIUM_BROWSER', findChromium());
    vi.stubEnv('VIVARIUM_BROWSER_ARGUMENTS', HEADLESS);
    // certutil is not installed there.
    vi.stubEnv('PATH', '/nowhere');
    const engine = await startEngine();
    expect(await engine.call('reach.open', { hostname: 'www.happypaws.test', path: '/v1/pets' })).toMatchObject({
      trust: 'keys',
    });
    expect(await askedAt(engine, 'www.happypaws.test')).toContainEqual(
      expect.objectContaining({ scheme: 'https', target: '/v1/pets', status: 401 }),
    );
  });

  it('names what to install if there is no browser, and what to do without a display', async () => {
    vi.stubEnv('VIVARIUM_BROWSER', '/nowhere/chromium');
    const without = await startEngine();
    await expect(without.call('reach.open', { hostname: 'www.happypaws.test' })).rejects.toThrow(/Install one/);
    expect(await without.call('reach.browser')).toEqual({
      problem: expect.stringMatching(/Install one/) as unknown,
      opened: 0,
      preview: false,
    });
    await expect(without.call('reach.preview', { hostname: 'www.happypaws.test' })).rejects.toThrow(/desktop app/);
    vi.stubEnv('VIVARIUM_BROWSER', process.execPath);
    vi.stubEnv('DISPLAY', '');
    vi.stubEnv('WAYLAND_DISPLAY', '');
    if (process.platform !== 'linux') return;
    await expect(without.call('reach.open', { hostname: 'www.happypaws.test' })).rejects.toThrow(
      /no display.* Other ways: `reach\.snippets \{"hostname":"www\.happypaws\.test"\}`\.$/,
    );
  });

  it('opens nothing that is not served, and no other host through a path', async ({ call }) => {
    await expect(call('reach.open', { hostname: 'example.com' })).rejects.toThrow(/Nothing is served at/);
    for (const path of ['//evil.test/', 'evil', '/a b', '@evil.test']) {
      await expect(call('reach.open', { hostname: 'www.happypaws.test', path })).rejects.toThrow(/path/);
    }
  });
});
