/** Resolves when whatever else waits, requests above all, has had its turn. Long work awaits it every few milliseconds. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
