import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONFIG = join(ROOT, 'vite.renderer.config.ts');
const BUILDS = join(ROOT, 'node_modules', '.cache', 'vivarium-page');

/** Inputs of the interface's build. */
const SOURCES = [
  'renderer',
  'main/contract',
  'resources',
  'vite.renderer.config.ts',
  'package-lock.json',
  'test/support/page/page-build.ts',
];

/** Number of older builds kept, for switching between branches. */
const BUILDS_MAX = 4;

/** The folder of the interface built from the current sources; all test files share one build. */
export async function buildPage(): Promise<string> {
  const folder = join(BUILDS, await hashSources());
  if (existsSync(folder)) return folder;
  await mkdir(BUILDS, { recursive: true });
  const building = `${folder}.${process.pid}`;
  await asShipped(() => build({ configFile: CONFIG, logLevel: 'error', build: { outDir: building } }));
  // Another test file may have built the same sources meanwhile.
  await rename(building, folder).catch(() => rm(building, { recursive: true, force: true }));
  await removeOldBuilds();
  return folder;
}

/** The test runner's NODE_ENV would make Vite produce a development build, a fifth larger. */
async function asShipped(run: () => Promise<unknown>): Promise<void> {
  const { NODE_ENV } = process.env;
  process.env['NODE_ENV'] = 'production';
  try {
    await run();
  } finally {
    process.env['NODE_ENV'] = NODE_ENV;
  }
}

async function hashSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const path = join(ROOT, source);
    const files = (await stat(path)).isFile()
      ? [path]
      : (await readdir(path, { recursive: true, withFileTypes: true }))
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name));
    for (const file of files.toSorted()) {
      const { size, mtimeMs } = await stat(file);
      hash.update(`${file}\0${size}\0${mtimeMs}\n`);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

async function removeOldBuilds(): Promise<void> {
  const builds = await Promise.all(
    (await readdir(BUILDS)).map(async (name) => {
      const path = join(BUILDS, name);
      return { path, madeAt: (await stat(path).catch(() => ({ mtimeMs: 0 }))).mtimeMs };
    }),
  );
  const old = builds.toSorted((a, b) => b.madeAt - a.madeAt).slice(BUILDS_MAX);
  for (const { path } of old) await rm(path, { recursive: true, force: true });
}
