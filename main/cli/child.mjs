/**
 * The programs that the launcher runs for itself: npm, Vite, Electron's download. However the launcher ends, each of them
 * ends first, with all that it has started. Plain Node (≥ 20), as `launch.mjs`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const isWindows = process.platform === 'win32';
const END_WITH_PARENT = new URL('end-with-parent.mjs', import.meta.url).href;

/** Exit codes of programs that a signal has ended, as shells report them. */
const STOPPED_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** How soon a launcher whose npm was stopped notices it. */
const PARENT_CHECK_MS = 500;

/** How long processes that were killed may take to go away. */
const GONE_MS_MAX = 5_000;
const GONE_CHECK_MS = 20;

const running = new Set();

/**
 * Runs a script in a Node of its own, until it and all that it has started have ended. Its output goes to standard error,
 * or line by line to `onLine`. `end` ends it early.
 *
 * @returns {{ code: Promise<number>, end: () => void }}
 */
export function runNode(node, args, { cwd, env = process.env, onLine = null }) {
  const output = onLine === null ? 2 : 'pipe';
  const child = spawn(node, ['--import', END_WITH_PARENT, ...args], {
    cwd,
    env,
    stdio: ['ignore', output, output, 'ipc'],
    // A process group of its own: Ctrl-C does not reach it, and it can be ended as a whole.
    detached: !isWindows,
    windowsHide: true,
  });
  if (onLine !== null) for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine);
  const run = { end: () => endTree(child.pid), code: untilGone(child).finally(() => running.delete(run)) };
  running.add(run);
  return run;
}

async function untilGone(child) {
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve(status ?? 1));
  });
  if (isWindows) return code;
  // What was started by it and is not waited for by it.
  for (let waited = 0; waited < GONE_MS_MAX && endTree(child.pid); waited += GONE_CHECK_MS) await delay(GONE_CHECK_MS);
  return code;
}

/** Whether there was anything to end. Nothing is worth an orderly end: what was half done is done again from the start. */
function endTree(pid) {
  if (pid === undefined) return false;
  if (isWindows) return spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' }).status === 0;
  try {
    return process.kill(-pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** Calls back once when the process that started this one is gone; the result stops looking. */
export function whenOrphaned(callback) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    callback();
  }, PARENT_CHECK_MS);
  watch.unref();
  return () => clearInterval(watch);
}

/** Does work that signals, and the end of npm above, stop together with what it runs. */
export async function interruptible(work) {
  let stopping = false;
  const stop = async (signal) => {
    if (stopping) return;
    stopping = true;
    process.stderr.write('\nStopped. The next start does again what was not finished.\n');
    const runs = [...running];
    for (const run of runs) run.end();
    await Promise.allSettled(runs.map((run) => run.code));
    process.exit(STOPPED_CODES[signal]);
  };
  const signals = Object.keys(STOPPED_CODES);
  for (const signal of signals) process.on(signal, stop);
  const forget = whenOrphaned(() => stop('SIGTERM'));
  try {
    const result = await work();
    // What comes after the end of a program that was stopped is not for its caller to see.
    return stopping ? await new Promise(() => {}) : result;
  } catch (error) {
    if (stopping) await new Promise(() => {});
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, stop);
    forget();
  }
}
