/** Actions in the order of their calls, a number of them at a time. */
export interface Turns {
  /** Runs `action` when it is its turn, in the order of the calls. */
  take<Value>(action: () => Promise<Value>): Promise<Value>;
  /** How many wait. */
  waiting(): number;
}

/** Runs `max` actions at a time, and the others afterwards in their order. */
export function createTurns(max: number): Turns {
  const queue: (() => void)[] = [];
  let inside = 0;
  return {
    async take(action) {
      if (inside < max) inside++;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await action();
      } finally {
        // The next one takes this place over at once: a call that comes in between would otherwise overtake it.
        const next = queue.shift();
        if (next === undefined) inside--;
        else next();
      }
    },
    waiting: () => queue.length,
  };
}
