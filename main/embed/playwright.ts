import { test as base } from '@playwright/test';
import { startVivarium } from './index.ts';
import type { Tenant, Vivarium } from './types.ts';

type Use<Value> = (value: Value) => Promise<void>;
interface Fixtures {
  vivarium: Vivarium;
}

/**
 * Playwright's `test` with two fixtures: `vivarium`, which the tests of a worker share, and `tenant`, a separate
 * project for each test. Pages reach the served hostnames through the forward proxy, and this machine directly.
 */
export const test = base.extend({
  vivarium: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the used fixtures from the pattern.
    async ({}, use: Use<Vivarium>) => {
      const vivarium = await startVivarium();
      await use(vivarium).finally(vivarium.close);
    },
    { scope: 'worker' },
  ],
  tenant: async ({ vivarium }: Fixtures, use: Use<Tenant>) => {
    const tenant = await vivarium.tenant();
    await use(tenant).finally(tenant.close);
  },
  proxy: async ({ vivarium }: Fixtures, use: Use<object>) =>
    use({ server: vivarium.proxyUrl, bypass: 'localhost,127.0.0.1,[::1]' }),
  // Playwright has no option for a page's root, and the proxy connects only to this Vivarium.
  ignoreHTTPSErrors: true,
});
