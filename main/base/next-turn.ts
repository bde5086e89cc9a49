/** Resolves after pending requests and other events have run. Long computations await it every few milliseconds. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
