/**
 * Decides whether `npm start` opens the desktop app, and fetches Electron's runtime, which its npm package downloads on
 * first use. Plain Node and old syntax, as `launch.mjs`.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runExclusively, runNode } from './child.mjs';

/** Handled here, not by the program: `npm start -- --headless`. */
const HEADLESS_OPTION = '--headless';
/** Options of `vivarium start`, which then takes the whole line: they do not open a window. */
const TERMINAL_OPTIONS = ['-d', '--detach', '-h', '--help'];

const FETCHER = join(dirname(fileURLToPath(import.meta.url)), 'fetch-electron.mjs');

const isSet = (value) => value !== undefined && value !== '' && value !== '0' && value !== 'false';

const hasDisplay = (platform, env) => platform !== 'linux' || isSet(env.DISPLAY) || isSet(env.WAYLAND_DISPLAY);

/**
 * Plans `npm start` on this machine, before anything is fetched. `reason` says why there is no window, unless the user
 * asked for none; `open`: whether to open a browser; `command`: the command of `vivarium` that serves without a window.
 * @param sandboxFix what `findSandboxFix` returned
 */
export function planStart({ platform, env, args, userId, sandboxFix }) {
  const rest = args.filter((arg) => arg !== HEADLESS_OPTION);
  const isForTerminal = args.some((arg) => TERMINAL_OPTIONS.includes(arg));
  const asked = isForTerminal || rest.length < args.length || isSet(env.VIVARIUM_HEADLESS);
  const reason = asked ? null : reasonAgainst({ platform, env, userId, sandboxFix });
  const open = !asked && hasDisplay(platform, env) && !isSet(env.CI);
  return { window: !asked && reason === null, reason, open, command: isForTerminal ? 'start' : 'serve', args: rest };
}

function reasonAgainst({ platform, env, userId, sandboxFix }) {
  if (isSet(env.CI)) return 'this is a build machine (CI is set)';
  if (!hasDisplay(platform, env)) return 'there is no display';
  if (platform === 'linux' && userId === 0) return 'Electron does not run as root';
  if (sandboxFix !== null) return `this system denies Electron its sandbox until you run\n\n${sandboxFix}\n\n`;
  return null;
}

/** The options of `npm start`; those without a value first. */
export const START_SWITCHES = ['headless', 'any-ports', 'ephemeral', 'empty', 'open'];
export const START_VALUES = ['data-dir', 'http-port', 'https-port', 'dns-port', 'control-port', 'lan', 'host'];

/**
 * The command to type instead if npm took the options of `npm start` for its own, as it does without `--` before them;
 * null if it took none. npm passes them on in its environment, and leaves their values behind as words.
 */
export function planAgain({ env, args }) {
  if (env.npm_command !== 'start' || args.some((arg) => arg.startsWith('--'))) return null;
  const valueOf = (name) => env[`npm_config_${name.replaceAll('-', '_')}`];
  const switches = START_SWITCHES.filter((name) => valueOf(name) !== undefined);
  const values = START_VALUES.filter((name) => valueOf(name) !== undefined);
  if (switches.length + values.length === 0) return null;
  const shown = (name) => (valueOf(name) !== 'true' ? valueOf(name) : values.length === 1 ? (args[0] ?? '…') : '…');
  const options = [...switches.map((name) => `--${name}`), ...values.map((name) => `--${name} ${shown(name)}`)];
  return `npm start -- ${options.join(' ')}`;
}

/** Whether AppArmor denies user namespaces to programs without a profile; `1` from Ubuntu 23.10 on. */
const RESTRICTION = ['proc', 'sys', 'kernel', 'apparmor_restrict_unprivileged_userns'];
const PROFILES = ['etc', 'apparmor.d'];
const SET_USER_ID = 0o4000;

/**
 * A command that lets Electron have its sandbox, where AppArmor would end it with SIGTRAP (electron/electron#42510).
 * Null where none is needed: the system does not restrict, a profile names the program, or Chromium's helper is
 * set-user-ID.
 * @param system the root of the file system
 */
export function findSandboxFix(root, system = '/') {
  if (!/^1\s*$/.test(readIfThere(join(system, ...RESTRICTION)))) return null;
  const folder = join(root, 'node_modules', 'electron', 'dist');
  const helper = statSync(join(folder, 'chrome-sandbox'), { throwIfNoEntry: false });
  if (helper !== undefined && (helper.mode & SET_USER_ID) !== 0) return null;
  const program = join(folder, 'electron');
  const profiles = join(system, ...PROFILES);
  const isNamed = (name) => readIfThere(join(profiles, name)).includes(program);
  if (existsSync(profiles) && readdirSync(profiles).some(isNamed)) return null;
  const profile = `abi <abi/4.0>, profile vivarium-electron "${program}" flags=(unconfined) { userns, }`;
  const file = '/etc/apparmor.d/vivarium-electron';
  const quoted = profile.replaceAll("'", "'\\''");
  return `  echo '${quoted}' | sudo tee ${file} && sudo apparmor_parser --replace ${file}`;
}

/** Empty for a folder, too. */
function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Electron's program in `root/node_modules`, or null when it has to be fetched first. Does not load the package, which
 * would download it.
 */
export function findElectron(root) {
  const folder = join(root, 'node_modules', 'electron');
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const fetched = readFileSync(join(folder, 'dist', 'version'), 'utf8')
      .trim()
      .replace(/^v/, '');
    const program = join(folder, 'dist', readFileSync(join(folder, 'path.txt'), 'utf8').trim());
    return fetched === version && existsSync(program) ? program : null;
  } catch {
    return null;
  }
}

/** Fetches Electron's runtime; gives up quickly without a network. Returns the program, or null. */
export async function fetchElectron(root, node) {
  const folder = join(root, 'node_modules', 'electron');
  // Use the environment's proxies, as npm does.
  const options = { cwd: root, env: { ...electronEnvironment(process.env), NODE_USE_ENV_PROXY: '1' } };
  return runExclusively(root, async () => {
    if (findElectron(root) !== null) return findElectron(root);
    if ((await runNode(node, [FETCHER, folder], options).code) !== 0) return null;
    // The download is in the cache; Electron's own script unpacks it from there.
    if ((await runNode(node, [join(folder, 'install.js')], options).code) !== 0) return null;
    return findElectron(root);
  });
}

/**
 * What an editor's Electron hands to the programs in its terminal. Electron would be a plain Node, look elsewhere for
 * itself or its archive, or take itself for an installed app.
 */
const FOREIGN = ['RUN_AS_NODE', 'NO_ASAR', 'FORCE_IS_PACKAGED', 'OVERRIDE_DIST_PATH', 'NO_ATTACH_CONSOLE'];

/** The environment for an Electron that is not the one that this process was started from. */
export function electronEnvironment(env) {
  const own = { ...env };
  for (const name of FOREIGN) delete own[`ELECTRON_${name}`];
  return own;
}

/** Arguments of Electron: V8's flags, the clone, and after the separator the program's own options. */
export const electronArguments = (root, flags, args) => [`--js-flags=${flags.join(' ')}`, root, '--', ...args];

const CRASH_MS_MAX = 15_000;

const NOT_RUN_CODES = [126, 127];
/** A program that cannot run on this machine crashes within this time. */
const SIGNAL_CODES_ABOVE = 128;

/** Shell exit codes: the program cannot be run, or its libraries are missing. */
export function couldNotRun({ code, signal, elapsedMs, stopped }) {
  if (stopped || elapsedMs > CRASH_MS_MAX) return false;
  return signal !== null || NOT_RUN_CODES.includes(code) || code > SIGNAL_CODES_ABOVE;
}
