/**
 * `npm ci` where it is needed: what `package-lock.json` names is in `node_modules`, or the message says why not and what
 * to do. Nothing that happened before matters: interrupted installs, packages that were removed by hand, another start
 * that is at it. Plain Node (≥ 20), as `launch.mjs`.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { alone } from './alone.mjs';
import { runNpmCi } from './npm-ci.mjs';

/**
 * Installs what the lock file in `root` names, unless that is there already; another start that does so is waited for.
 *
 * @param options `root`: the folder of the lock file. `say(text)` shows a line. `prove()` is asked once after an install,
 *   one by hand included: what of it does not run, or null. `patience` as of `runNpmCi`.
 * @returns {Promise<string | null>} why it failed and what to do, or null
 */
export async function install({ root, say, prove = async () => null, patience }) {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const wanted = createHash('sha256').update(lock).digest('hex');
  const stamp = join(root, 'node_modules', '.vivarium-install');
  const isDone = () => readText(stamp) === wanted && findMissing(root) === null;
  if (isDone()) return null;
  return alone(root, async () => {
    if (isDone()) return null;
    // npm leaves out what is optional and not for this platform.
    const packages = readPackages(lock).filter(([, entry]) => !entry.optional);
    const paths = packages.map(([path]) => path);
    const problem = findProblem(root, packages) ?? (await prove());
    if (problem !== null) {
      if (existsSync(join(root, 'node_modules'))) say(`node_modules is not as the lock file has it: ${problem}.`);
      const failure = (await clear(root)) ?? (await runNpmCi(root, paths, isThere, patience));
      if (failure !== null) return failure;
      const left = findProblem(root, packages) ?? (await prove());
      if (left !== null)
        return `npm reported no error, but ${left}. Delete ${join(root, 'node_modules')} and start again.`;
    }
    try {
      writeFileSync(stamp, wanted);
    } catch {
      // A disk that cannot be written: the next start looks again.
    }
    return null;
  });
}

/** The packages of a lock file by their folders. */
function readPackages(lock) {
  return Object.entries(JSON.parse(lock).packages ?? {}).filter(([path]) => path.startsWith('node_modules/'));
}

/** The first package that npm has installed and that is not there, or null. npm writes the list of them at its end. */
function findMissing(root) {
  const list = readText(join(root, 'node_modules', '.package-lock.json'));
  if (list === null) return 'npm has not finished there';
  const missing = readPackages(list).find(([path]) => !isThere(root, path));
  return missing === undefined ? null : `${missing[0]} is missing`;
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

const isThere = (root, path) => existsSync(join(root, path, 'package.json'));

/** The first package that is not there, or in another version than the locked one, or null. */
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

/** Empties `node_modules`, as npm would, which says less about what it cannot remove. */
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
