/**
 * Whether the clone has to be installed or built before a command can run: the stamps of both, and what must be there.
 * Plain Node (≥ 20), as `launch.mjs`; loads little, because each command begins with this.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const BUILD_CONFIGS = ['vite.main.config.ts', 'vite.preload.config.ts', 'vite.renderer.config.ts'];
/** Inputs of the build. */
const BUILD_SOURCES = [
  'package.json',
  'package-lock.json',
  ...BUILD_CONFIGS,
  'main',
  'preload',
  'renderer',
  'resources',
];

export const buildStamp = (root) => join(root, 'out', '.vivarium-build');
export const installStamp = (root) => join(root, 'node_modules', '.vivarium-install');

export const isBuilt = (root) => readText(buildStamp(root)) === listSources(root);
export const isInstalled = (root) => readText(installStamp(root)) === readLock(root) && findMissing(root) === null;

/** npm's own list of what it installed, which it writes at the end; null without one. */
export const readInstalled = (root) => readText(join(root, 'node_modules', '.package-lock.json'));
export const readLock = (root) => readFileSync(join(root, 'package-lock.json'), 'utf8');

/** Names, sizes and times of all sources: cheap, and changes with every edit or checkout. */
export function listSources(root) {
  const lines = [];
  const add = (path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) for (const name of readdirSync(path)) add(`${path}/${name}`);
    else if (stats !== undefined) lines.push(`${path} ${stats.size} ${stats.mtimeMs}\n`);
  };
  for (const name of BUILD_SOURCES) add(`${root}/${name}`);
  return lines.join('');
}

/** The packages of a lock file, by folder. */
export function readPackages(lock) {
  return Object.entries(JSON.parse(lock).packages ?? {}).filter(([path]) => path.startsWith('node_modules/'));
}

/** The first package in npm's own list that is missing, or null. */
export function findMissing(root) {
  const list = readInstalled(root);
  if (list === null) return 'the last installation was not finished';
  const missing = readPackages(list).find(([path]) => !isThere(root, path));
  return missing === undefined ? null : `${missing[0]} is missing`;
}

export const isThere = (root, path) => existsSync(join(root, path, 'package.json'));

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
