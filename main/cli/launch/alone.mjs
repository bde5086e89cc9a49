/**
 * A lock between concurrent starts that needs no library and no cleanup: each start listens on its own socket, which
 * the system closes however the process ends, and names it in its own file. No file is ever taken over, which rules out
 * races between two starts.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { showLine } from './live-line.mjs';

const WAITING = 'Another start is installing or building here; waiting for it…';

/** Two simultaneous starts both withdraw and retry after different random delays. */
const AGAIN_MS_MAX = 250;
/** The limit on macOS, which is below that of Linux. */
const SOCKET_PATH_MAX = 103;
/** Delay before retrying a process that could not be reached. */
const ASK_AGAIN_MS = 1_000;
/** Shorter waits print nothing. */
const QUIET_MS = 500;
/** Longer ones print a dot this often. */
const TICK_MS = 4_000;

export async function runExclusively(root, work, tickMs = TICK_MS) {
  const folder = join(root, 'out', '.starting');
  let notice;
  try {
    for (;;) {
      const claim = await claimLock(folder).catch(() => null);
      // A read-only folder stops the other starts too; `work` reports what it needs.
      const others = claim === null ? [] : await findOthers(folder, claim.name);
      if (others.length === 0) {
        notice?.end();
        return await work().finally(() => claim?.withdraw());
      }
      notice ??= showAlive(WAITING, { quietMs: QUIET_MS, tickMs });
      claim.withdraw();
      await Promise.all(others.map((other) => other.ended));
      await delay(Math.random() * AGAIN_MS_MAX);
    }
  } finally {
    notice?.end();
  }
}

/** A line for a wait of any length: `text`, once `quietMs` have passed, and a dot every `tickMs`. */
export function showAlive(text, { quietMs = 0, tickMs = TICK_MS } = {}) {
  let line = null;
  let timer = setTimeout(() => {
    line = showLine(text);
    timer = setInterval(() => line?.show(), tickMs);
  }, quietMs);
  return {
    end() {
      clearTimeout(timer);
      line?.end();
      line = null;
    },
  };
}

async function claimLock(folder) {
  mkdirSync(folder, { recursive: true });
  const name = randomUUID();
  const address = addressFor(name.slice(0, 13));
  const waiting = new Set();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => waiting.delete(socket));
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path: address, readableAll: true, writableAll: true }, resolve);
  });
  const file = join(folder, name);
  const withdraw = () => {
    process.off('exit', withdraw);
    rmSync(file, { force: true });
    server.close();
    for (const socket of waiting) socket.destroy();
    if (process.platform !== 'win32') rmSync(address, { force: true });
  };
  process.once('exit', withdraw);
  // Renamed into place: other starts never read a partial file.
  writeFileSync(`${file}.new`, address);
  renameSync(`${file}.new`, file);
  return { name, withdraw };
}

function addressFor(id) {
  if (process.platform === 'win32') return `\\\\.\\pipe\\vivarium-${id}`;
  const path = join(tmpdir(), `vivarium-${id}`);
  return path.length <= SOCKET_PATH_MAX ? path : `/tmp/vivarium-${id}`;
}

/** The other running starts, each with a promise for its end; removes the files of ended ones. */
async function findOthers(folder, own) {
  const names = readdirSync(folder).filter((name) => name !== own && !name.endsWith('.new'));
  const found = await Promise.all(names.map((name) => contactStart(join(folder, name))));
  return found.filter((other) => other !== null);
}

function contactStart(file) {
  let address;
  try {
    address = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  return new Promise((resolve) => {
    const socket = connect(address);
    const ended = new Promise((gone) => socket.once('close', gone));
    socket.once('connect', () => resolve({ ended })).resume();
    socket.on('error', ({ code }) => {
      if (code !== 'ECONNREFUSED' && code !== 'ENOENT') return resolve({ ended: delay(ASK_AGAIN_MS) });
      for (const left of [file, address]) rmSync(left, { force: true });
      resolve(null);
    });
  });
}
