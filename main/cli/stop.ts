import { realTime, sleep } from '../base/clock.ts';
import { codeOf } from '../base/error-code.ts';
import { VivariumError } from '../contract/errors.ts';
import { askForStatus } from './engine-status.ts';
import { localCommand } from './local-command.ts';
import { isAlive, type Running } from './running.ts';

/** Longer than the engine gives requests in progress, on each of its listeners. */
const END_MS_MAX = 30_000;
const LOOK_MS = 100;

export const STOP = localCommand({
  name: 'stop',
  title: 'stop the Vivarium that runs on the data folder',
  options: [],
  notes: [
    'Lets requests in progress finish, and returns when it has ended.',
    '',
    'Exit code 0; 1 when it did not end; 2 when no Vivarium runs on the data folder.',
  ],
  examples: ['vivarium stop', 'vivarium stop --data-dir ./vivarium-data'],
  async run(_read, dataDir, io) {
    // The answer proves that the process is this Vivarium: a number in a file may be another process's by now.
    const { running } = await askForStatus(dataDir);
    const { pid } = running;
    // On Windows, a signal would end it at once.
    if (io.platform === 'win32') await requestStop(running);
    else terminate(pid);
    const begunMs = realTime.monotonic();
    while (isAlive(pid)) {
      if (realTime.monotonic() - begunMs > END_MS_MAX) {
        throw new VivariumError('unavailable', `Process ${pid} has not ended within ${END_MS_MAX / 1_000} s.`);
      }
      await sleep(LOOK_MS);
    }
    io.stdout.write('Stopped.\n');
  },
});

/** Asks for the stop through the control port. */
export async function requestStop({ url, token }: Running): Promise<void> {
  const response = await fetch(`${url}/stop`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new VivariumError('unavailable', `Vivarium refused to stop (HTTP ${response.status}).`);
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (cause) {
    // It ended by itself in between.
    if (codeOf(cause) === 'ESRCH') return;
    throw new VivariumError('forbidden', `Process ${pid} cannot be stopped (${codeOf(cause) ?? String(cause)}).`, {
      cause,
    });
  }
}
