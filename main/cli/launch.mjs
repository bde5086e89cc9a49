/**
 * `npm start`, `npm test` and `npm run vivarium` begin here, with whatever Node (≥ 20) the machine has and perhaps
 * nothing installed. This file therefore uses nothing but Node's own modules and old syntax: it installs what the lock
 * file names, makes sure of the pinned Node 24, builds what is out of date, and hands over.
 *
 * Everything it has to say goes to standard error, so that `npm run -s vivarium -- call …` prints JSON and nothing else.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { couldNotRun, fetchElectron, findElectron, planStart } from './desktop-start.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const isWindows = process.platform === 'win32';

const NODE_MAJOR_MIN = 20;
/**
 * Half of what V8 lets a half of its young generation grow to. Passing a request on leaves 35 kB behind, most of it Node's
 * own: with 8 MB it is collected twice as often, and upstreams are slower by a tenth; with 32 MB nothing is gained.
 */
const PROGRAM_FLAGS = ['--max-semi-space-size=16'];

const INSTALL_STAMP = join(root, 'node_modules', '.vivarium-install');
const PROGRAM = join(root, 'out', 'main', 'vivarium.js');
const PACKAGER = join(root, 'node_modules', 'electron-builder', 'cli.js');
/** What asks electron-builder for macOS; short options of several systems may be one word. */
const MAC_OPTION = /^(--mac(os)?(=.*)?|-[lw]*[mo][lmow]*)$/;
const BUILD_STAMP = join(root, 'out', '.vivarium-build');

/** How soon a launcher whose npm was stopped notices it. */
const PARENT_CHECK_MS = 500;

const COMMANDS = ['start', 'test', 'vivarium', 'build', 'bench', 'package'];

/** What the build reads. */
const BUILD_SOURCES = ['main', 'preload', 'renderer', 'resources'];
const BUILD_CONFIGS = ['vite.main.config.ts', 'vite.preload.config.ts', 'vite.renderer.config.ts'];
const BUILD_SOURCE_FILES = ['package.json', 'package-lock.json', ...BUILD_CONFIGS];

function main() {
  const [command = 'start', ...rest] = process.argv.slice(2);
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
    fail(
      `Vivarium needs Node ${NODE_MAJOR_MIN} or newer to start; this is ${process.version}. See https://nodejs.org.`,
    );
  }
  if (!COMMANDS.includes(command)) fail(`launch.mjs knows ${COMMANDS.join(', ')}, not "${command}".`);
  install();
  const node = findNode24();
  switch (command) {
    case 'start':
      build(node);
      return start(node, rest);
    case 'vivarium':
      build(node);
      return handOver(node, [...PROGRAM_FLAGS, PROGRAM, ...rest], callersFolder());
    case 'test':
      build(node);
      return handOver(node, [join(root, 'test', 'support', 'run-tests.ts'), ...rest], root);
    case 'bench':
      build(node);
      return handOver(node, [join(root, 'test', 'bench', 'main.ts'), ...rest], root);
    case 'package':
      if (process.platform !== 'darwin' && rest.some((word) => MAC_OPTION.test(word))) {
        fail(
          'The app for macOS can only be packaged on macOS, because Apple silicon starts no program without a signature, which only Apple’s codesign gives.',
        );
      }
      build(node);
      return handOver(node, [PACKAGER, '--publish', 'never', ...rest], root);
    case 'build':
      rmSync(BUILD_STAMP, { force: true });
      return build(node);
  }
}

/** Opens the desktop app; where that cannot be, says why and serves the same headless. */
async function start(node, words) {
  const userId = process.getuid ? process.getuid() : null;
  const plan = planStart({ platform: process.platform, env: process.env, args: words, userId });
  const headless = (reason) => {
    if (reason !== null) say(`No window, because ${reason}; serving headless instead.`);
    const open = plan.open ? ['--open'] : [];
    return handOver(node, [...PROGRAM_FLAGS, PROGRAM, 'serve', ...open, ...plan.args], callersFolder());
  };
  if (!plan.window) return headless(plan.reason);
  const electron = findElectron(root) || fetchElectron(root, node);
  if (electron === null) return headless('Electron’s runtime cannot be had here');
  const end = await handOver(electron, [root, '--', ...plan.args], callersFolder());
  if (couldNotRun(end)) return headless('Electron cannot run here, as it says above');
}

/** Installs exactly what the lock file names, unless that is there already. */
function install() {
  const wanted = hashFile(join(root, 'package-lock.json'));
  if (readStamp(INSTALL_STAMP) === wanted) return;
  const hidden = join(root, 'node_modules', '.package-lock.json');
  // Somebody ran `npm install` or `npm ci` by hand after the lock file last changed: that is as good.
  if (existsSync(hidden) && statSync(hidden).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs) {
    writeFileSync(INSTALL_STAMP, wanted);
    return;
  }
  say('Installing dependencies (once, about a minute)…');
  const npm = process.env.npm_execpath;
  const options = { cwd: root, stdio: ['ignore', 2, 2], env: cleanNpmEnvironment() };
  const done =
    npm !== undefined && /\.[cm]?js$/.test(npm)
      ? spawnSync(process.execPath, [npm, 'ci', '--no-audit', '--no-fund'], options)
      : spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { ...options, shell: isWindows });
  if (done.status !== 0) fail('npm ci failed; its messages are above. This first step needs the network.');
  writeFileSync(INSTALL_STAMP, wanted);
}

/** npm tells its scripts their parent's options through the environment; a nested npm must not take them for its own. */
function cleanNpmEnvironment() {
  // `NODE_ENV=production` would leave out the build tools.
  const parents = /^(npm_(lifecycle|package|config_(global|prefix|omit|include|production|only)).*|NODE_ENV)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !parents.test(name)));
}

/** The pinned Node, the release line that Electron embeds; fetched again if its install script was not allowed to run. */
function findNode24() {
  const pinned = join(root, 'node_modules', 'node', 'bin', isWindows ? 'node.exe' : 'node');
  if (!isNode24(pinned)) {
    const script = join(root, 'node_modules', 'node', 'installArchSpecificPackage.js');
    if (existsSync(script)) {
      say('Fetching Node 24…');
      spawnSync(process.execPath, [script], {
        cwd: dirname(script),
        stdio: ['ignore', 2, 2],
        env: cleanNpmEnvironment(),
      });
    }
  }
  if (isNode24(pinned)) return pinned;
  if (isNode24(process.execPath)) return process.execPath;
  return fail(
    'Node 24 could not be installed into node_modules. Allow its install script (`npm rebuild node`), or run this with Node 24.',
  );
}

function isNode24(path) {
  if (!existsSync(path)) return false;
  return /^v24\./.test(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '');
}

/** Builds into `out/` when a source is newer than what is there. */
function build(node) {
  const wanted = hashSources();
  if (readStamp(BUILD_STAMP) === wanted) return;
  say('Building…');
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  for (const config of BUILD_CONFIGS) {
    const done = spawnSync(node, [vite, 'build', '--logLevel', 'warn', '--config', config], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    });
    if (done.status !== 0) fail(`The build failed (${config}); the messages are above.`);
  }
  mkdirSync(dirname(BUILD_STAMP), { recursive: true });
  writeFileSync(BUILD_STAMP, wanted);
}

/** Names, sizes and times of all sources: cheap, and different after every edit or checkout. */
function hashSources() {
  const hash = createHash('sha256');
  const add = (path) => {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  };
  for (const file of BUILD_SOURCE_FILES) if (existsSync(join(root, file))) add(join(root, file));
  for (const folder of BUILD_SOURCES) {
    if (!existsSync(join(root, folder))) continue;
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) add(join(entry.parentPath ?? entry.path, entry.name));
    }
  }
  return hash.digest('hex');
}

const hashFile = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

const readStamp = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null);

/** Where the user is: npm runs scripts in the project, and relative paths are meant from elsewhere. */
const callersFolder = () => process.env.INIT_CWD ?? process.cwd();

/**
 * Runs the rest in Node 24, or in Electron, and ends as it ends, unless the caller goes on. Signals sent to this process
 * alone are passed on.
 */
function handOver(program, args, cwd) {
  const bin = join(root, 'node_modules', '.bin');
  const startedAt = performance.now();
  const child = spawn(program, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` },
  });
  let stopped = false;
  const stop = (signal) => {
    stopped = true;
    child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, stop);
  // Whoever stops npm itself stops its shell, which tells nobody: this process then belongs to another parent.
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) stop('SIGTERM');
  }, PARENT_CHECK_MS);
  watch.unref();
  return new Promise((resolve) => {
    child.on('error', (error) => fail(`${program} could not be started: ${error.message}`));
    child.on('exit', (code, signal) => {
      clearInterval(watch);
      for (const name of signals) process.off(name, stop);
      process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
      resolve({ code, signal, stopped, elapsedMs: performance.now() - startedAt });
    });
  });
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}

await main();
