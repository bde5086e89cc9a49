/**
 * Lets one start at a time install or build in a folder. Each listens on the folder's own loopback port, which the
 * system frees however the process ends; the others wait for the end of a connection to it. Plain Node (≥ 20), as
 * `launch.mjs`.
 */
import { createHash } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Below the ports that systems assign. */
const PORT_MIN = 20_000;
const PORTS = 10_000;

/** How often a port is tried that another program may have, before a start goes on without it. */
const TRIES = 5;
const TRY_AGAIN_MS = 200;

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
