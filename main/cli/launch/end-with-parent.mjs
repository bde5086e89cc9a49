/**
 * Preloaded into every Node program that the launcher runs (`child.mjs`): ends the program and its descendants when the
 * launcher disappears without ending it, as after `kill -9`. A surviving npm would remove packages that the next start
 * uses.
 */
import { spawnSync } from 'node:child_process';

if (process.channel) {
  process.once('disconnect', () => {
    if (process.platform === 'win32') spawnSync('taskkill', ['/pid', String(process.pid), '/t', '/f']);
    else process.kill(-process.pid, 'SIGKILL');
  });
  // The listener alone would keep the program running.
  process.channel.unref();
}
