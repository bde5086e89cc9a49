import { realTime, sleep } from '../base/clock.ts';
import { parseDuration } from '../contract/duration.ts';
import { VivariumError } from '../contract/errors.ts';
import { isServing } from './engine-status.ts';
import { lastOf, usageError, type Option } from './flags.ts';
import { localCommand } from './local-command.ts';

const TIMEOUT_FLAG: Option = {
  name: 'timeout',
  kind: 'value',
  placeholder: 'DURATION',
  does: 'How long at most, such as 30s (the default) or 2m; a number is seconds',
};
const DEFAULT_TIMEOUT = '30s';
const LOOK_MS = 100;

export const WAIT = localCommand({
  name: 'wait',
  title: 'wait until a Vivarium serves the data folder',
  options: [TIMEOUT_FLAG],
  notes: ['Exit code 0 once it listens on all its ports; 1 when the time is over.'],
  examples: ['vivarium wait', 'vivarium wait --timeout 2m'],
  async run(read, dataDir) {
    const timeout = lastOf(read, TIMEOUT_FLAG.name) ?? DEFAULT_TIMEOUT;
    const timeoutMs = readTimeout(timeout);
    const begunMs = realTime.monotonic();
    while (!(await isServing(dataDir))) {
      const leftMs = timeoutMs - (realTime.monotonic() - begunMs);
      if (leftMs <= 0)
        throw new VivariumError('unavailable', `No Vivarium serves ${dataDir} within ${timeoutMs / 1_000} s.`);
      await sleep(Math.min(LOOK_MS, leftMs));
    }
  },
});

function readTimeout(text: string): number {
  try {
    const milliseconds = parseDuration(/^[0-9.]+$/.test(text) ? `${text}s` : text);
    if (milliseconds >= 0) return milliseconds;
  } catch {
    // Said below.
  }
  throw usageError(
    `--timeout must be a duration such as 30s or 2m, or a number of seconds, not ${JSON.stringify(text)}.`,
  );
}
