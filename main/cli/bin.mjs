#!/usr/bin/env node
/**
 * The command `vivarium` that npm installs. The built program of the packed tarball runs in this process; that of a
 * clone (`npm link`) does while it is up to date. Otherwise the launcher takes over, which installs and builds what is
 * missing.
 *
 * Old syntax, as in `launch.mjs`: an old Node must be able to read this to say that it is too old.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isNodeNewEnough, NODE_WANTED, pinnedNode } from './node-version.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const built = join(folder, '..', '..', 'out', 'main');

const isScript = /^['"]?vivarium\b/.test(process.env.npm_lifecycle_script ?? '');

/** Whether the command is not on a shell's path, but npx finds it. Windows' shims hide their own path. */
const byNpx = basename(dirname(process.argv[1])) === '.bin' || (isScript && process.platform === 'win32');

/** What `main/base/system/own-command.ts` prints. */
process.env.VIVARIUM_COMMAND = byNpx ? 'npx vivarium' : runsByPath() ? `node ${quoted(process.argv[1])}` : 'vivarium';

const isClone = existsSync(join(folder, 'launch.mjs'));

/** An engine has its own Node and flags. */
const STARTS = ['serve', 'start'];
/** What opens the database itself, or reads the system's roots, needs at least the Node that was installed for it. */
const OPENS = ['rehearse', 'examine', 'check', '--check', 'backup', 'doctor', 'uninstall'];
if (process.platform !== 'linux') OPENS.push('run');

if (isClone && !(await isReady())) {
  // npm's folder of a script that calls this is not the folder of the call.
  process.env.INIT_CWD = process.cwd();
  process.argv.splice(2, 0, 'vivarium');
  await import('./launch.mjs');
} else if (isClone || isNodeNewEnough()) {
  await import(pathToFileURL(join(built, 'vivarium.js')).href);
} else {
  process.stderr.write(
    `${NODE_WANTED} In a clone Node 20 is enough: its launcher installs a newer one. See https://nodejs.org.\n`,
  );
  process.exitCode = 1;
}

/**
 * Whether a clone's command runs in this process, because a launcher and a second Node would take longer than most
 * commands. Not below npx or npm, which end without ending their children.
 */
async function isReady() {
  // The words after `--` are the user's own command: `run -- npm start`.
  const words = process.argv.slice(2).join('\n').split(/^--$/m)[0].split('\n');
  const root = join(folder, '..', '..');
  // A command that only asks the engine runs on an older Node too.
  const isEnough = isNodeNewEnough() || (process.getBuiltinModule !== undefined && existsSync(pinnedNode(root)));
  const others = isNodeNewEnough() ? STARTS : [...STARTS, ...OPENS];
  if (byNpx || isScript || !isEnough || words.some((word) => others.includes(word))) return false;
  const { isBuilt, isInstalled } = await import('./launch/up-to-date.mjs');
  return isInstalled(root) && isBuilt(root);
}

/** Whether this file was run by its path (`node main/cli/bin.mjs`): `vivarium` may then not be on the shell's path. */
function runsByPath() {
  return process.platform !== 'win32' && basename(process.argv[1]) === basename(fileURLToPath(import.meta.url));
}

function quoted(path) {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replace(/'/g, String.raw`'\''`)}'`;
}
