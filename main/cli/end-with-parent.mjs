/**
 * Preloaded into every Node program that the launcher runs for itself (`child.mjs`): ends the program, and all that it has
 * started, when the launcher is gone without having ended it, as after `kill -9`. An npm that worked on would remove
 * packages from under the next start.
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
