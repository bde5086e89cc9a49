import type { Plan, PlanLimits } from '../contract/projects.ts';

/** Requests per minute and per day of each plan (specification, section 8). Enterprise is agreed per project. */
export const PLAN_LIMITS: Record<Exclude<Plan, 'enterprise'>, PlanLimits> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};

/** What callers without a valid API key are held to, whatever the project's plan. */
export const FREE_LIMITS: PlanLimits = PLAN_LIMITS.free;

/** The limits of a project: its plan's or, with Enterprise, those agreed with it. */
export function limitsOf(project: { plan: Plan; limits: PlanLimits | null }): PlanLimits {
  if (project.plan !== 'enterprise') return PLAN_LIMITS[project.plan];
  if (project.limits === null) throw new Error('A project with the plan Enterprise has no limits stored.');
  return project.limits;
}
