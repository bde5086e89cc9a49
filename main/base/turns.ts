/** A door that lets a number of actions through at a time. */
export interface Turns {
  /** Runs `action` when it is its turn, in the order of the calls. */
  take<Value>(action: () => Promise<Value>): Promise<Value>;
  /** How many wait. */
  waiting(): number;
}

/** Lets `max` actions run at a time, the others in their order. */
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
        const next = queue.shift();
        if (next === undefined) inside--;
        else next();
      }
    },
    waiting: () => queue.length,
  };
}
