/**
 * Runs `npm ci` when `node_modules` does not match `package-lock.json`. Copes with interrupted installs, packages
 * removed by hand, and concurrent starts. Plain Node (≥ 20), as `launch.mjs`.
 */
import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, delimiter, dirname, join, sep } from 'node:path';
import { runExclusively, runNode, showWait } from './child.mjs';
import {
  findMissing,
  installStamp,
  isInstalled,
  isThere,
  readInstalled,
  readLock,
  readPackages,
} from './up-to-date.mjs';

/**
 * Installs the packages in the lock file of `root` if any is missing; waits for another start that is installing.
 *
 * @param options `root`: the folder of the lock file. `say(text)` shows a line. `prove()` runs once after each install,
 * manual ones included, and returns what does not work, or null. `patience` as in `runNpmCi`.
 * @returns {Promise<string | null>} why it failed and what to do, or null
 */
export async function install({ root, say, prove = async () => null, patience }) {
  if (isInstalled(root)) return null;
  return runExclusively(root, async () => {
    if (isInstalled(root)) return null;
    const lock = readLock(root);
    // npm omits optional packages for other platforms.
    const packages = readPackages(lock).filter(([, entry]) => !entry.optional);
    const problem = findProblem(root, packages) ?? (await prove());
    if (problem !== null) {
      if (existsSync(join(root, 'node_modules'))) say(`node_modules does not match package-lock.json: ${problem}.`);
      const node = moveNodeOut(root);
      const failure = (await clear(root)) ?? (await runNpmCi(root, packages, { node, patience }));
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
  });
}

/** The first package of the lock file that is missing, or that npm installed in another version; or null. */
function findProblem(root, packages) {
  const missing = findMissing(root);
  if (missing !== null) return missing;
  const installed = new Map(readPackages(readInstalled(root)));
  for (const [path, { version }] of packages) {
    const found = installed.get(path)?.version;
    if (found !== version) return `${path} is ${found ?? 'missing'}${found === undefined ? '' : `, not ${version}`}`;
  }
  return null;
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

/**
 * `checkMs`: how often npm is looked after. `doubtMs`: when to report a missing first answer; npm is ended then if it
 * could not even connect. `noAnswerMs`: when npm is ended; by itself it would retry for a quarter of an hour.
 */
const PATIENCE = { checkMs: 1_000, doubtMs: 8_000, noAnswerMs: 120_000 };

const OPTIONS = ['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier', '--color=false'];
/** Retries after 1 s and 3 s; npm's defaults are 10 s and 60 s. */
const RETRIES = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-factor=3'];
/** The log shows npm's first request and every answer; only its errors reach the user. */
const LOG = ['--loglevel=silly'];

/**
 * Runs `npm ci` in `root` by the program `node`; reports network trouble within seconds, and hides warnings.
 *
 * @returns {Promise<string | null>} why it failed and what to do, or null
 */
async function runNpmCi(root, packages, { node, patience = PATIENCE }) {
  const npm = findNpm(process.env, node);
  if (npm === null) return 'npm was not found. Run "npm ci" in this folder, and start again.';
  const log = { askedAt: null, answers: 0, refusal: null, errors: [] };
  const progress = showWait(`Installing ${packages.length} packages, once…`);
  let isDoubted = false;
  const doubt = (why) => {
    progress.end();
    if (!isDoubted) process.stderr.write(`No network? The npm registry ${why}. npm keeps trying; Ctrl-C stops it.\n`);
    isDoubted = true;
  };
  const run = runNode(node, [npm, 'ci', ...OPTIONS, ...RETRIES, ...LOG], {
    cwd: root,
    env: cleanNpmEnvironment(process.env),
    onLine(line) {
      readLogLine(log, line);
      if (log.answers === 0 && log.refusal !== null) doubt(`cannot be reached (${log.refusal})`);
    },
  });
  let offline = null;
  const check = setInterval(() => {
    // Packages may come from npm's cache.
    const isWaiting = log.askedAt !== null && log.answers === 0 && !packages.some(([path]) => isThere(root, path));
    const waitedMs = isWaiting ? performance.now() - log.askedAt : 0;
    if (waitedMs >= patience.doubtMs) doubt('has not answered yet');
    if (waitedMs < (log.refusal === null ? patience.noAnswerMs : patience.doubtMs)) return;
    offline = log.refusal ?? 'it did not answer';
    run.end();
  }, patience.checkMs);
  const code = await run.code.finally(() => clearInterval(check));
  progress.end();
  if (code === 0) return null;
  offline ??= networkError(log.errors);
  if (offline !== null) {
    return `No network: the npm registry could not be reached (${offline}). Connect, or tell npm your proxy, and start again.`;
  }
  return [...log.errors, 'npm ci failed; its messages are above. The next start installs from the beginning.'].join(
    '\n',
  );
}

const NETWORK_CODES =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/;

const networkError = (lines) => NETWORK_CODES.exec(lines.join('\n'))?.[1] ?? null;

/** Notes npm's first request, the number of answers, an error of the connection, and lines of errors. */
function readLogLine(log, line) {
  if (/^npm silly reify/.test(line)) log.askedAt ??= performance.now();
  else if (/^npm (?:ERR!|error)/.test(line)) log.errors.push(line);
  else if (/^npm http .* attempt \d+ failed with/.test(line)) log.refusal ??= networkError([line]);
  else if (/^npm http/.test(line)) log.answers++;
}

/**
 * Finds npm's program, to run it without a shell: the npm that started this, then the one beside Node or on the path.
 */
function findNpm(env, node) {
  const program = join('node_modules', 'npm', 'bin', 'npm-cli.js');
  const running = /[\\/]npm-cli\.[cm]?js$/.test(env.npm_execpath ?? '') ? [env.npm_execpath] : [];
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = [
    ...running,
    join(dirname(node), program),
    join(dirname(node), '..', 'lib', program),
    ...folders.flatMap((folder) => [join(folder, 'npm'), join(folder, program)]),
  ];
  for (const path of found) {
    if (!existsSync(path)) continue;
    const real = realpathSync(path);
    if (/npm-cli\.[cm]?js$/.test(real)) return real;
  }
  return null;
}

/** Removes the options that npm passes to its scripts through the environment; a nested npm must not inherit them. */
export function cleanNpmEnvironment(env) {
  // `NODE_ENV=production` would leave out the build tools.
  const parents = /^(npm_(lifecycle|package|config_(global|prefix|omit|include|production|only)).*|NODE_ENV)$/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !parents.test(name)));
}
