import { afterEach, expect, it, vi } from 'vitest';
import { startEngine } from '../../../support/engine.ts';
import { findTool, requireTool } from '../../../support/tools.ts';

/** A start of Firefox, on a busy machine. */
const JOURNEY_MS = 180_000;

afterEach(() => void vi.unstubAllEnvs());

it.runIf(findTool('firefox-esr') !== null)(
  'reach.open opens a domain and a platform hostname in Firefox at their real URL, verified by the root',
  { timeout: JOURNEY_MS },
  async () => {
    vi.stubEnv('VIVARIUM_BROWSER', requireTool('firefox-esr'));
    vi.stubEnv('VIVARIUM_BROWSER_ARGUMENTS', '--headless');
    const engine = await startEngine();
    const pages = async () => {
      const { items } = await engine.call('traffic.list', {});
      return items;
    };
    for (const hostname of ['www.happypaws.test', 'demo.vivarium.localhost']) {
      const url = `https://${hostname}/v1/openapi.json`;
      expect(await engine.call('reach.open', { hostname, browser: 'firefox' })).toEqual({
        url,
        browser: 'The browser',
        trust: 'root',
      });
      const request = { authority: hostname, target: '/v1/openapi.json', scheme: 'https', status: 200 };
      await expect.poll(pages, { timeout: JOURNEY_MS / 3 }).toContainEqual(expect.objectContaining(request));
    }
    await expect(engine.call('reach.open', { hostname: 'www.happypaws.test', browser: 'chromium' })).rejects.toThrow(
      /^No Chrome, Chromium, Edge or Brave was found\. Install one/,
    );
  },
);
