import { createTurns } from '../base/turns.ts';
import { VivariumError } from '../contract/errors.ts';

/** Work on one hostname that waits for its turn; a client that asks more often does not wait for the answers. */
const TURNS_WAITING_MAX = 50;

/** Checks at the same time: enough to use the waiting for DNS, few enough that no resolver loses questions. */
const TURNS_AT_ONCE = 32;

/** Runs work on one hostname one after another, and on different ones side by side, up to a limit. */
export interface HostnameTurns {
  /** @throws VivariumError `unavailable` when too much waits for the same hostname. */
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
          `${hostname} is being checked, and ${line.waiting} more checks wait for it; ask again in a moment.`,
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
