/** Resolves after the requests and other events that wait have run. Long work awaits it every few milliseconds. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
