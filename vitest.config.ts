import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // View state is written with runes, which must be compiled.
  plugins: [svelte({ configFile: false })],
  test: {
    include: ['test/unit/**/*.test.ts', 'test/integration/**/*.test.ts', 'test/e2e/**/*.test.ts'],
    environment: 'node',
    // A page in a browser, audited in both themes, on a machine that has other things to do.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A real browser beside much other work misses a moment now and then. What is broken fails twice; what needed its second
    // attempt is marked in the report.
    retry: 1,
    // Two cores are common on build machines; more workers only make the real sockets wait for each other.
    maxWorkers: 2,
  },
});
