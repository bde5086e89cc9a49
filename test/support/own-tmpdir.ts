/**
 * vitest's setup file: gives every test file its own temporary folder, and every test a folder inside it. Removes both
 * after the file, to isolate tests from each other's leftovers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
// Playwright keeps using the temporary folder in which it was loaded: it must not be that of the first file.
import 'playwright-core';

/** The environment variables for it on POSIX and on Windows. */
const VARIABLES = ['TMPDIR', 'TEMP', 'TMP'] as const;
/** Where the ledger of machine changes is: on Linux, and on Windows. */
const STATE_VARIABLES = ['XDG_STATE_HOME', 'LOCALAPPDATA'] as const;
/** Short: Chromium puts a Unix socket inside, whose path may have 107 bytes. */
const PREFIX = 'v-';

function enter(folder: string): void {
  for (const name of VARIABLES) process.env[name] = folder;
}

// For the worker's own memory (see `run-tests.ts`), not that of the programs that it starts.
delete process.env['GLIBC_TUNABLES'];
// Ends with the runner, even if a signal reaches only the runner; once per worker, which loads this for every file.
if (process.env.TEST_WORKER_TMPDIR === undefined) process.once('disconnect', () => process.exit());

const outer = tmpdir();
/** For resources that outlive a test file: the browser of a worker. */
process.env.TEST_WORKER_TMPDIR = outer;
const ofFile = mkdtempSync(join(outer, PREFIX));
enter(ofFile);
for (const name of STATE_VARIABLES) process.env[name] = join(ofFile, 'state');

beforeAll(() => enter(ofFile));
beforeEach(() => enter(mkdtempSync(join(ofFile, PREFIX))));
afterEach(() => enter(ofFile));
afterAll(() => {
  enter(outer);
  rmSync(ofFile, { recursive: true, force: true, maxRetries: 5 });
});
