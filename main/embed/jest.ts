import { TestEnvironment } from 'jest-environment-node';
import { startVivarium } from './index.ts';
import type { StartOptions, Vivarium } from './types.ts';

/**
 * Jest's environment `node` with the global `startVivarium`. Jest runs tests in a context where `require` cannot load
 * ESM; environments are loaded outside it, once per worker. Engines that a file has not closed are closed after it.
 */
export default class VivariumEnvironment extends TestEnvironment {
  readonly #started: Vivarium[] = [];

  override async setup(): Promise<void> {
    await super.setup();
    this.global['startVivarium'] = async (options?: StartOptions) => {
      const vivarium = await startVivarium(options);
      this.#started.push(vivarium);
      return vivarium;
    };
  }

  override async teardown(): Promise<void> {
    await Promise.all(this.#started.map(async (vivarium) => vivarium.close()));
    await super.teardown();
  }
}
