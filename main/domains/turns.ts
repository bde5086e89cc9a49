import { createTurns } from '../base/turns.ts';
import { VivariumError } from '../contract/errors.ts';

/** Maximum queue for one hostname; the cap sheds clients that ask faster than checks finish. */
const TURNS_WAITING_MAX = 50;

/** Concurrent checks: enough to overlap DNS latency, few enough not to overload a resolver. */
const TURNS_AT_ONCE = 32;

/** Serialises work per hostname and runs different hostnames concurrently up to a limit. */
export interface HostnameTurns {
  /** @throws VivariumError `unavailable` when the queue of a hostname is full. */
  run<Result>(hostname: string, work: () => Promise<Result>): Promise<Result>;
}

export function createHostnameTurns(): HostnameTurns {
  const turns = createTurns(TURNS_AT_ONCE);
  const lines = new Map<string, { last: Promise<unknown>; waiting: number }>();
  return {
    async run(hostname, work) {
      const line = lines.get(hostname) ?? { last: Promise.resolve(), waiting: 0 };
      if (line.waiting >= TURNS_WAITING_MAX) {
        throw new VivariumError(
          'unavailable',
          `${hostname} is being checked, and ${line.waiting} more checks are queued; try again in a moment.`,
        );
      }
      lines.set(hostname, line);
      line.waiting++;
      const turn = line.last.then(() => turns.take(work));
      line.last = turn.catch(() => undefined);
      try {
        return await turn;
      } finally {
        if (--line.waiting === 0) lines.delete(hostname);
      }
    },
  };
}
