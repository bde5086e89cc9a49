import type { RateState } from '../../model/rate-decision.ts';

const NAMES: ReadonlySet<string> = new Set(['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']);

/** Whether `name`, in lower case, is one of the rate headers: an upstream's own would contradict ours. */
export const isRateField = (name: string): boolean => NAMES.has(name);

/** The rate headers of the specification, for a project whose limits hold for its upstream. */
export const rateFields = ({ limit, remaining, resetSeconds }: RateState): Record<string, string> => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(remaining),
  'X-RateLimit-Reset': String(resetSeconds),
});
