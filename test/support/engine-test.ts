import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import type { Config } from '../../main/base/config.ts';
import { deployPro } from './domains-engine.ts';
import { type Engine, launchEngine } from './engine.ts';

/**
 * `it` with one engine for a file of tests. Each test gets the world that `prepare` made, no recorded requests and no
 * log lines, which takes a seventh of a start; roots, trust and the files of the data folder stay as they are.
 */
export const engineTest = <Prepared extends Engine>(
  options: Partial<Config>,
  prepare: (engine: Engine) => Promise<Prepared>,
) =>
  test
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads the used fixtures from the pattern.
    .extend('started', { scope: 'file' }, async ({}, { onCleanup }) => {
      // The folder of the test that comes first is removed after it.
      const folder = mkdtempSync(join(process.env.TEST_WORKER_TMPDIR ?? tmpdir(), 'engine-'));
      const [dataDir, machineRoot] = [join(folder, 'data'), join(folder, 'machine')];
      const engine = await launchEngine({ dataDir, ...options }, { machineRoot });
      onCleanup(async () => {
        await engine.stop();
        rmSync(folder, { recursive: true, force: true });
      });
      const prepared = await prepare(engine);
      await engine.call('snapshots.save', { name: 'begin' });
      return prepared;
    })
    .extend('engine', async ({ started }) => {
      await started.call('snapshots.restore', { name: 'begin' });
      await started.call('traffic.clear');
      started.log.length = 0;
      return started;
    })
    .extend('call', ({ engine }): Engine['call'] => engine.call)
    .extend('api', ({ engine }): Engine['api'] => engine.api);

/** With the demo. */
export const demoTest = engineTest({}, (engine) => Promise.resolve(engine));

/** Without the demo. */
export const emptyTest = engineTest({ empty: true }, (engine) => Promise.resolve(engine));

/** With a Pro project that has been deployed, its key, and a zone. */
export const domainsTest = engineTest({ empty: true }, deployPro)
  .extend('projectId', ({ engine }) => engine.projectId)
  .extend('attach', ({ engine }) => engine.attach)
  .extend('put', ({ engine }) => engine.put)
  .extend('verify', ({ engine }) => engine.verify)
  .extend('get', ({ engine }) => engine.get)
  .extend('serve', ({ engine }) => engine.serve)
  .extend('curl', ({ engine }) => engine.curl);
