import type { Plan, PlanLimits } from './projects.ts';

/** Requests per minute and per day of each plan (specification, section 8). Enterprise is agreed per project. */
export const PLAN_LIMITS: Record<Exclude<Plan, 'enterprise'>, PlanLimits> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};
