const NAMES: ReadonlySet<string> = new Set(['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']);

/** Whether `name`, in lower case, is a rate header; an upstream's rate headers would contradict ours. */
export const isRateField = (name: string): boolean => NAMES.has(name);
