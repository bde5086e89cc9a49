import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from '../command.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** npm reads the whole folder. */
export const PACKING_MS_MAX = 180_000;

/**
 * Packs the tarball and installs it into the project `folder`, with the native database from here instead of the
 * registry.
 * @returns the folder of the package
 */
export async function installTarball(folder: string): Promise<string> {
  const { stdout } = await execute('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: ROOT,
  });
  const [{ filename } = { filename: '' }] = JSON.parse(stdout) as { filename: string }[];
  await execute('tar', ['-xzf', join(folder, filename), '-C', folder]);
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  renameSync(join(folder, 'package'), join(modules, 'vivarium'));
  linkPackage(folder, 'better-sqlite3');
  return join(modules, 'vivarium');
}

/** Links a package of this repository's node_modules into the project `folder`. */
export function linkPackage(folder: string, name: string): void {
  symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
}
