/**
 * Runs the launcher's own child programs: npm, Vite, Electron's download. However the launcher ends, each child and its
 * descendants end first. Plain Node (≥ 20), as `launch.mjs`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const isWindows = process.platform === 'win32';
const END_WITH_PARENT = new URL('end-with-parent.mjs', import.meta.url).href;

/** Exit codes that shells report for programs ended by a signal. */
const STOPPED_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** How often the launcher checks whether npm was stopped. */
const PARENT_CHECK_MS = 500;

/** How long killed processes may take to disappear. */
const GONE_MS_MAX = 5_000;
const GONE_CHECK_MS = 20;

const running = new Set();

/**
 * Runs a script in a separate Node until it and all its descendants have ended. Output goes to standard error, or line
 * by line to `onLine`. `end` ends it early.
 *
 * @returns {{ code: Promise<number>, end: () => void }}
 */
export function runNode(node, args, { cwd, env = process.env, onLine = null }) {
  const output = onLine === null ? 2 : 'pipe';
  const child = spawn(node, ['--import', END_WITH_PARENT, ...args], {
    cwd,
    env,
    stdio: ['ignore', output, output, 'ipc'],
    // A separate process group: Ctrl-C does not reach it, and it can be killed as a whole.
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
  // Kills descendants that the child did not wait for.
  for (let waited = 0; waited < GONE_MS_MAX && endTree(child.pid); waited += GONE_CHECK_MS) await delay(GONE_CHECK_MS);
  return code;
}

/**
 * Kills the process tree; returns whether anything was running. SIGKILL is safe: the next start redoes unfinished work.
 */
function endTree(pid) {
  if (pid === undefined) return false;
  if (isWindows) return spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' }).status === 0;
  try {
    return process.kill(-pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/**
 * Calls back once when the npm that started this process has ended; returns a function that stops watching. After a
 * shell, a program in the background goes on.
 */
export function whenOrphaned(callback) {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    callback();
  }, PARENT_CHECK_MS);
  watch.unref();
  return () => clearInterval(watch);
}

/** How often something is shown to go on. */
const TICK_MS = 4_000;

/** Shows that something goes on: `text`, and a dot now and then until `end`. */
export function showWait(text) {
  process.stderr.write(text);
  const timer = setInterval(() => process.stderr.write(' .'), TICK_MS);
  let isOver = false;
  return {
    end() {
      clearInterval(timer);
      if (!isOver) process.stderr.write('\n');
      isOver = true;
    },
  };
}

/** Runs `work`; a signal or the end of npm stops it together with its child processes. */
export async function interruptible(work) {
  let stopping = false;
  const stop = async (signal) => {
    if (stopping) return;
    stopping = true;
    process.stderr.write('\nStopped. The next start resumes unfinished work.\n');
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
    // After a stop, the caller must not see the failure of the killed child.
    return stopping ? await new Promise(() => {}) : result;
  } catch (error) {
    if (stopping) await new Promise(() => {});
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, stop);
    forget();
  }
}

/** Below the ports that systems assign. */
const PORT_MIN = 20_000;
const PORTS = 10_000;

/** How often a port is tried that another program may have, before a start goes on without it. */
const TRIES = 5;
const TRY_AGAIN_MS = 200;

/**
 * Lets one start at a time install or build in a folder. Each listens on the folder's own loopback port, which the
 * system frees however the process ends; the others wait for the end of a connection to it.
 */
export async function runExclusively(root, work) {
  const name = createHash('sha256').update(root).digest('hex');
  const port = PORT_MIN + (Number.parseInt(name.slice(0, 8), 16) % PORTS);
  let isNoted = false;
  for (let tried = 0; tried < TRIES; tried++) {
    const release = await claim(port, name);
    if (release !== null) return work().finally(release);
    await waitForEnd(port, name, () => {
      tried = -1;
      if (!isNoted) process.stderr.write('Another start is installing or building here; waiting for it…\n');
      isNoted = true;
    });
    await delay(TRY_AGAIN_MS);
  }
  return work();
}

/** Listens on the port, and names the folder to the others; null if another program listens there. */
function claim(port, name) {
  const waiting = new Set();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => waiting.delete(socket));
    socket.write(name);
  });
  const release = () => {
    server.close();
    for (const socket of waiting) socket.destroy();
  };
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve(release));
  });
}

/** Calls `onOther` if a start in this folder listens, and resolves at its end; at once for any other program. */
function waitForEnd(port, name, onOther) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const timer = setTimeout(() => socket.destroy(), TRY_AGAIN_MS * TRIES);
    socket.once('data', (text) => {
      clearTimeout(timer);
      if (text.toString() === name) onOther();
      else socket.destroy();
    });
    socket
      .on('error', () => socket.destroy())
      .once('close', () => {
        clearTimeout(timer);
        resolve();
      });
  });
}
