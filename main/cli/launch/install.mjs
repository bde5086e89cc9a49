/**
 * Runs `npm ci` when `node_modules` does not match `package-lock.json`. Copes with interrupted installs, packages
 * removed by hand, and concurrent starts. Plain Node (≥ 20), as `launch.mjs`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { runExclusively } from './alone.mjs';
import { runNpmCi } from './npm-ci.mjs';
import { findMissing, installStamp, isInstalled, isThere, readLock, readPackages } from './up-to-date.mjs';

/**
 * Installs the packages in the lock file of `root` if any is missing; waits for another start that is installing.
 *
 * @param options `root`: the folder of the lock file. `say(text)` shows a line. `prove()` runs once after each install,
 * manual ones included, and returns what does not work, or null. `patience` as in `runNpmCi`.
 * @returns {Promise<string | null>} why it failed and what to do, or null
 */
export async function install({ root, say, prove = async () => null, patience }) {
  if (isInstalled(root)) return null;
  return runExclusively(
    root,
    async () => {
      if (isInstalled(root)) return null;
      const lock = readLock(root);
      // npm omits optional packages for other platforms.
      const packages = readPackages(lock).filter(([, entry]) => !entry.optional);
      const paths = packages.map(([path]) => path);
      const problem = findProblem(root, packages) ?? (await prove());
      if (problem !== null) {
        if (existsSync(join(root, 'node_modules'))) say(`node_modules does not match package-lock.json: ${problem}.`);
        const node = moveNodeOut(root);
        const failure = (await clear(root)) ?? (await runNpmCi(root, paths, isThere, { node, patience }));
        // Windows keeps a running program until the next install.
        await rm(aside(root), { recursive: true, force: true }).catch(() => undefined);
        if (failure !== null) return failure;
        const left = findProblem(root, packages) ?? (await prove());
        if (left !== null)
          return `npm reported no error, but ${left}. Delete ${join(root, 'node_modules')} and start again.`;
      }
      try {
        writeFileSync(installStamp(root), lock);
      } catch {
        // Read-only disk: the next start checks again.
      }
      return null;
    },
    patience?.tickMs,
  );
}

/** The first package that is missing or whose version differs from the lock file, or null. */
function findProblem(root, packages) {
  const missing = findMissing(root);
  if (missing !== null) return missing;
  for (const [path, { version }] of packages) {
    if (!isThere(root, path)) return `${path} is missing`;
    const found = readVersion(join(root, path, 'package.json'));
    if (version !== undefined && found !== version) return `${path} is ${found}, not ${version}`;
  }
  return null;
}

function readVersion(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).version;
  } catch {
    return 'damaged';
  }
}

/**
 * Moves the Node that runs this out of `node_modules`, because npm puts the locked one first on the path of its
 * scripts: npm could not be started with it any more, and Windows cannot remove a running program. Returns the new
 * path.
 */
function moveNodeOut(root) {
  try {
    const folder = realpathSync(join(root, 'node_modules'));
    if (!process.execPath.startsWith(folder + sep)) return process.execPath;
    mkdirSync(aside(root), { recursive: true });
    const node = join(aside(root), basename(process.execPath));
    renameSync(process.execPath, node);
    return node;
  } catch {
    // No `node_modules`, or a folder that `clear` cannot empty either.
    return process.execPath;
  }
}

const aside = (root) => join(root, 'out', '.installing');

/** Empties `node_modules`, as `npm ci` would, but with a clearer error for files that cannot be removed. */
async function clear(root) {
  const folder = join(root, 'node_modules');
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
    return null;
  } catch ({ message }) {
    return `${folder} cannot be emptied (${message}). Delete it, or start a copy in a folder that can be written.`;
  }
}
