import type { Plan, PlanLimits, TargetSetting } from './projects.ts';

/** Requests per minute and per day of each plan (specification, section 8). Enterprise is agreed per project. */
export const PLAN_LIMITS: Record<Exclude<Plan, 'enterprise'>, PlanLimits> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};

/**
 * The limits of callers without a valid API key: those of Free, unless the target says that the project's plan holds.
 */
export const limitsWithoutKey = ({ limits, target }: { limits: PlanLimits; target: TargetSetting }): PlanLimits =>
  target.kind === 'upstream' && target.withoutKey === 'plan' ? limits : PLAN_LIMITS.free;
