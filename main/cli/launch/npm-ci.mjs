/**
 * Runs `npm ci` as a child: shows progress, reports network trouble within seconds, and hides warnings. Plain Node (≥
 * 20), as `launch.mjs`.
 */
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { runNode } from './child.mjs';
import { showLine } from './live-line.mjs';

/**
 * `tickMs`: interval of progress output. `doubtMs`: when to report a missing first answer; npm is ended then if it
 * could not even connect. `noAnswerMs`: when npm is ended; by itself it would retry for a quarter of an hour.
 */
const PATIENCE = { tickMs: 4_000, doubtMs: 8_000, noAnswerMs: 120_000 };

const OPTIONS = ['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier', '--color=false'];
/** Retries after 1 s and 3 s; npm's defaults are 10 s and 60 s. */
const RETRIES = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-factor=3'];
/** The log shows npm's first request and every answer; only its errors reach the user. */
const LOG = ['--loglevel=silly'];

/**
 * Runs `npm ci` in `root` by the program `node`. Progress is the share of `packages` (folders) that exist.
 *
 * @returns {Promise<string | null>} why it failed and what to do, or null
 */
export async function runNpmCi(root, packages, isThere, { node, patience = PATIENCE }) {
  const npm = findNpm(process.env, node);
  if (npm === null) return 'npm was not found. Run "npm ci" in this folder, and start again.';
  const log = readNpmLog();
  const progress = showProgress(`Installing ${packages.length} packages, once:`);
  const doubt = (why) => progress.note(`No network? The npm registry ${why}. npm keeps trying; Ctrl-C stops it.`);
  const run = runNode(node, [npm, 'ci', ...OPTIONS, ...RETRIES, ...LOG], {
    cwd: root,
    env: cleanNpmEnvironment(process.env),
    onLine: (line) => {
      log.read(line);
      if (log.answers === 0 && log.refusal !== null) doubt(`cannot be reached (${log.refusal})`);
    },
  });
  let offline = null;
  const tick = setInterval(() => {
    const count = packages.filter((path) => isThere(root, path)).length;
    progress.show(count / packages.length);
    const isWaiting = log.askedAt !== null && log.answers === 0 && count === 0;
    const waitedMs = isWaiting ? performance.now() - log.askedAt : 0;
    if (waitedMs >= patience.doubtMs) doubt('has not answered yet');
    if (waitedMs < (log.refusal === null ? patience.noAnswerMs : patience.doubtMs)) return;
    offline = log.refusal ?? 'it did not answer';
    run.end();
  }, patience.tickMs);
  const code = await run.code.finally(() => clearInterval(tick));
  progress.end(code === 0);
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

/** Extracts from npm's log: time of the first request, number of answers, connection error, error lines. */
export function readNpmLog() {
  const log = { askedAt: null, answers: 0, refusal: null, errors: [] };
  const read = (line) => {
    if (/^npm silly reify/.test(line)) log.askedAt ??= performance.now();
    else if (/^npm (?:ERR!|error)/.test(line)) log.errors.push(line);
    else if (/^npm http .* attempt \d+ failed with/.test(line)) log.refusal ??= networkError([line]);
    else if (/^npm http/.test(line)) log.answers++;
  };
  return Object.assign(log, { read });
}

/** Percentages, and a dot where nothing changed. */
function showProgress(title) {
  const line = showLine(title);
  let shown = 0;
  let isNoted = false;
  return {
    show(share) {
      const percent = Math.floor(share * 99);
      line.show(percent === shown ? '' : `${percent} %`);
      shown = percent;
    },
    note(text) {
      if (!isNoted) line.note(text);
      isNoted = true;
    },
    end: (isDone) => line.end(isDone ? '100 %' : ''),
  };
}

/**
 * Finds npm's program, to run it without a shell: the npm that started this, then the one beside Node or on the path.
 */
export function findNpm(env, node) {
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
