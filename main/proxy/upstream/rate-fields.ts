const NAMES: ReadonlySet<string> = new Set(['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']);

/** Whether `name`, in lower case, is one of the rate headers: an upstream's own would contradict ours. */
export const isRateField = (name: string): boolean => NAMES.has(name);
