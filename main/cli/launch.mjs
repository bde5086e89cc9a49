/**
 * `npm start`, `npm test` and `npm run vivarium` begin here, on any Node from 20 and possibly before an install. The
 * file therefore uses only Node's own modules and old syntax: it installs the locked packages, finds the pinned Node
 * 24, builds stale output, and hands over.
 *
 * All messages go to standard error, to keep `npm run -s vivarium -- call …` pure JSON.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interruptible, runExclusively, runNode, showWait, whenOrphaned } from './launch/child.mjs';
import {
  couldNotRun,
  fetchElectron,
  findElectron,
  planAgain,
  planStart,
  findSandboxFix,
  electronArguments,
  electronEnvironment,
} from './launch/desktop-start.mjs';
import { pinnedNode, PROGRAM_FLAGS } from './node-version.mjs';
import { cleanNpmEnvironment, install } from './launch/install.mjs';
import { BUILD_CONFIGS, buildStamp, isBuilt, listSources } from './launch/up-to-date.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const isWindows = process.platform === 'win32';

const NODE_MAJOR_MIN = 20;

const PROGRAM = join(root, 'out', 'main', 'vivarium.js');
const PACKAGER = join(root, 'node_modules', 'electron-builder', 'cli.js');
/** Options that make electron-builder target macOS; short options may be combined into one word. */
const MAC_OPTION = /^(--mac(os)?(=.*)?|-[lw]*[mo][lmow]*)$/;
const BUILD_STAMP = buildStamp(root);

const NO_NODE = 'Node 24 could not be fetched; connect, or start with Node 24';

const COMMANDS = ['start', 'test', 'vivarium', 'build', 'bench', 'package'];

async function main() {
  // Inherited from a command that `bin.mjs` started, which is what npm's scripts are not.
  if (basename(process.argv[1]) === 'launch.mjs') delete process.env.VIVARIUM_COMMAND;
  const [command = 'start', ...rest] = process.argv.slice(2);
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
    fail(
      `Vivarium needs Node ${NODE_MAJOR_MIN} or newer to start; this is ${process.version}. See https://nodejs.org.`,
    );
  }
  if (!COMMANDS.includes(command)) fail(`launch.mjs knows ${COMMANDS.join(', ')}, not "${command}".`);
  if (command === 'package' && process.platform !== 'darwin' && rest.some((word) => MAC_OPTION.test(word))) {
    fail(
      'The app for macOS can only be packaged on macOS, because Apple silicon starts no program without a signature, which only Apple’s codesign gives.',
    );
  }
  const again = command === 'start' ? planAgain({ env: process.env, args: rest }) : null;
  if (again !== null) fail(`npm took the options for itself. Put -- before them: ${again}`);
  const node = await interruptible(() => prepare(command));
  switch (command) {
    case 'start':
      return start(node, rest);
    case 'vivarium':
      return handOver(node, [...PROGRAM_FLAGS, PROGRAM, ...rest], callersFolder());
    case 'test':
      return handOver(node, [join(root, 'test', 'support', 'run-tests.ts'), ...rest], root);
    case 'bench':
      return handOver(node, [join(root, 'test', 'bench', 'main.ts'), ...rest], root);
    case 'package':
      return handOver(node, [PACKAGER, '--publish', 'never', ...rest], root);
  }
}

/** Installs and builds what is missing. A signal stops this and its child processes. */
async function prepare(command) {
  const failure = await install({ root, say, prove });
  if (failure !== null) fail(failure);
  const node = await findNode24();
  if (node === null) fail(`${NO_NODE}.`);
  if (command === 'build') rmSync(BUILD_STAMP, { force: true });
  await build(node);
  return node;
}

/** Why the install does not work on this machine, or null. */
async function prove() {
  const node = await findNode24();
  if (node === null) return NO_NODE;
  const open = "new (require('better-sqlite3'))(':memory:').close()";
  const { status, stderr } = spawnSync(node, ['--eval', open], { cwd: root, encoding: 'utf8' });
  return status === 0 ? null : `better-sqlite3 does not load (${/^\w*Error: .*$/m.exec(stderr)?.[0] ?? stderr})`;
}

/** Opens the desktop app; if that is impossible, says why and serves headless. */
async function start(node, words) {
  const userId = process.getuid ? process.getuid() : null;
  const { platform, env } = process;
  const plan = planStart({ platform, env, args: words, userId, sandboxFix: findSandboxFix(root) });
  const headless = (reason) => {
    if (reason !== null) say(`No window, because ${reason}; serving headless instead.`);
    const open = plan.open ? ['--open'] : [];
    return handOver(node, [...PROGRAM_FLAGS, PROGRAM, plan.command, ...open, ...plan.args], callersFolder());
  };
  if (!plan.window) return headless(plan.reason);
  const electron = findElectron(root) ?? (await interruptible(() => fetchElectron(root, node)));
  if (electron === null) return headless('Electron’s runtime is unavailable');
  const end = await handOver(electron, electronArguments(root, PROGRAM_FLAGS, plan.args), callersFolder());
  if (couldNotRun(end)) return headless('Electron cannot run here (see above)');
}

/** Finds the pinned Node, the release line that Electron embeds; fetches it if npm skipped its install script. */
async function findNode24() {
  const pinned = pinnedNode(root);
  if (isNode24(pinned)) return pinned;
  const script = join(root, 'node_modules', 'node', 'installArchSpecificPackage.js');
  if (existsSync(script)) {
    say('Fetching Node 24…');
    const env = { ...cleanNpmEnvironment(process.env), npm_config_loglevel: 'error' };
    await runNode(process.execPath, [script], { cwd: dirname(script), env }).code;
  }
  return [pinned, process.execPath].find(isNode24) ?? null;
}

function isNode24(path) {
  if (!existsSync(path)) return false;
  return /^v24\./.test(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '');
}

/** Builds into `out/` if any source has changed; waits for another start that is building. */
async function build(node) {
  if (isBuilt(root)) return;
  await runExclusively(root, async () => {
    if (isBuilt(root)) return;
    const wanted = listSources(root);
    try {
      mkdirSync(dirname(BUILD_STAMP), { recursive: true });
      rmSync(BUILD_STAMP, { force: true });
    } catch ({ message }) {
      fail(
        `Nothing can be built into ${dirname(BUILD_STAMP)} (${message}). Start a copy in a folder that can be written.`,
      );
    }
    const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
    const progress = showWait('Building…');
    const onLine = (line) => {
      progress.end();
      say(line);
    };
    for (const config of BUILD_CONFIGS) {
      const args = [vite, 'build', '--logLevel', 'warn', '--config', config];
      const code = await runNode(node, args, { cwd: root, onLine }).code;
      if (code === 0) continue;
      progress.end();
      fail(`The build failed (${config}); the messages are above.`);
    }
    progress.end();
    writeFileSync(BUILD_STAMP, wanted);
  });
}

/** The user's folder: npm runs scripts in the project's folder, but relative paths refer to the user's. */
const callersFolder = () => process.env.INIT_CWD ?? process.cwd();

/**
 * Runs the program in Node 24 or Electron, and exits as it exits unless the caller continues. Forwards signals sent to
 * this process alone.
 */
function handOver(program, args, cwd) {
  const bin = join(root, 'node_modules', '.bin');
  const startedAt = performance.now();
  const child = spawn(program, args, {
    cwd,
    stdio: 'inherit',
    env: { ...electronEnvironment(process.env), PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` },
  });
  let stopped = false;
  const stop = (signal) => {
    stopped = true;
    child.kill(signal);
  };
  // Windows' console notifies the child itself, and `kill` would end it at once.
  const pass = isWindows ? () => (stopped = true) : stop;
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, pass);
  // Stopping npm kills its shell without a signal to this process, which then gets another parent.
  const forget = whenOrphaned(() => stop('SIGTERM'));
  return new Promise((resolve) => {
    child.on('error', (error) => fail(`${program} could not be started: ${error.message}`));
    child.on('exit', (code, signal) => {
      forget();
      for (const name of signals) process.off(name, pass);
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
