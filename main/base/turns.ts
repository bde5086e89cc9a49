export type Turns = ReturnType<typeof createTurns>;

/** Runs up to `max` actions at a time, and queues the others. */
export function createTurns(max: number) {
  const queue: (() => void)[] = [];
  let inside = 0;
  return {
    async enqueue<Value>(action: () => Promise<Value>): Promise<Value> {
      if (inside < max) inside++;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await action();
      } finally {
        // Hands the slot over synchronously: otherwise a new call could overtake the queue.
        const next = queue.shift();
        if (next === undefined) inside--;
        else next();
      }
    },
    waiting: (): number => queue.length,
  };
}

/** Resolves after pending requests and other events have run. Long computations await it every few milliseconds. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Maps a long list in order, and lets other work run after every `perTurn` items. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  perTurn: number,
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    if (results.length > 0 && results.length % perTurn === 0) await nextTurn();
    results.push(map(item));
  }
  return results;
}
