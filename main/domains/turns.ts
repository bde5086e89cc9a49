import { VivariumError } from '../contract/errors.ts';

/** Work on one hostname that waits for its turn; whoever asks more often than this is not waiting for the answers. */
export const TURNS_WAITING_MAX = 50;

/** Checks at the same time: enough to use the waiting for DNS, few enough that no resolver loses questions. */
export const TURNS_AT_ONCE = 32;

/** Runs work on one hostname one after another, and on different ones side by side, up to a limit. */
export interface Turns {
  /** @throws VivariumError `unavailable` when too much waits for the same hostname. */
  run<Result>(hostname: string, work: () => Promise<Result>): Promise<Result>;
}

export function createTurns(atOnce: number = TURNS_AT_ONCE): Turns {
  const lines = new Map<string, { last: Promise<unknown>; waiting: number }>();
  const queue: (() => void)[] = [];
  let running = 0;

  async function withSlot<Result>(work: () => Promise<Result>): Promise<Result> {
    // Whoever is woken takes over the slot, so that nobody slips in between.
    if (running >= atOnce) await new Promise<void>((resolve) => queue.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next === undefined) running--;
      else next();
    }
  }

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
      const turn = line.last.then(() => withSlot(work));
      line.last = turn.catch(() => undefined);
      try {
        return await turn;
      } finally {
        if (--line.waiting === 0) lines.delete(hostname);
      }
    },
  };
}
