import { test as base, type TestAPI } from 'vitest';
import { startVivarium } from './index.ts';
import type { Tenant, Vivarium } from './types.ts';

/**
 * Vitest's `test` with two fixtures: `vivarium`, which the tests of a file share, and `tenant`, a separate project for
 * each test. Both are created when a test names them.
 */
export const test: TestAPI<{ vivarium: Vivarium; tenant: Tenant }> = base.extend<{
  vivarium: Vivarium;
  tenant: Tenant;
}>({
  vivarium: [
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads the used fixtures from the pattern.
    async ({}, use) => {
      const vivarium = await startVivarium();
      await use(vivarium).finally(vivarium.close);
    },
    { scope: 'file' },
  ],
  tenant: async ({ vivarium }, use) => {
    const tenant = await vivarium.tenant();
    await use(tenant).finally(tenant.close);
  },
});
