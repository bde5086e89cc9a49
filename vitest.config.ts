import { availableParallelism } from 'node:os';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Programs of others as clients, and packages: they take long, and `npm run test:clients` runs them. */
const CLIENTS = ['test/**/*.clients.test.ts'];

/** They mostly wait: for clients that hang, and pauses that they keep. At the end of a run, nothing else would run. */
const WAITING = ['test/integration/cli/world/examine.test.ts', 'test/integration/cli/world/rehearse.test.ts'];

/** vitest's order, by project and duration or size, but for the files that wait: they come first in their project. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isWaiting = ({ moduleId }: TestSpecification): boolean => WAITING.some((path) => moduleId.endsWith(path));
    const projects = Object.values(Object.groupBy(await super.sort(files), ({ project }) => project.name));
    return projects.flatMap((some = []) => [...some.filter(isWaiting), ...some.filter((one) => !isWaiting(one))]);
  }
}

export default defineConfig({
  // View state is written with runes, which must be compiled.
  plugins: [svelte({ configFile: false })],
  test: {
    environment: 'node',
    setupFiles: ['test/support/own-tmpdir.ts'],
    // A page in a browser, audited in both themes, on a machine that has other things to do.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // As long as Playwright's own waits: what is polled for comes when the browser gets to it.
    expect: { poll: { timeout: 30_000, interval: 50 } },
    // Two more than cores, because each waits for its browser and its programs almost half of the time. Not more than
    // four, because each needs up to 1 GB of memory, besides its browser.
    maxWorkers: Math.min(Math.max(availableParallelism(), 2) + 2, 4),
    // Most of what tests make is soon garbage: collected in larger pieces, and the old space only once it is large, unit
    // tests need a fifth less CPU time.
    execArgv: ['--max-semi-space-size=64', '--initial-old-space-size=512'],
    sequence: { sequencer: WaitingFirst },
    // Modules keep nothing between two files of tests: each worker loads them once, instead of once per file.
    isolate: false,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { extends: true, test: { name: 'integration', include: ['test/integration/**/*.test.ts'], exclude: CLIENTS } },
      { extends: true, test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], exclude: CLIENTS } },
      { extends: true, test: { name: 'clients', include: CLIENTS } },
    ],
  },
});
