import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';

const CONFIG = join(import.meta.dirname, '..', '..', 'vite.renderer.config.ts');

/** The interface as it is in the sources now, built into a folder of its own. */
export async function buildPage(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'vivarium-page-'));
  await build({ configFile: CONFIG, logLevel: 'error', build: { outDir: folder } });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
