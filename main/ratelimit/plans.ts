import { PLAN_LIMITS } from '../contract/plan-limits.ts';
import type { Plan, PlanLimits } from '../contract/projects.ts';

/** What callers without a valid API key are held to, whatever the project's plan. */
export const FREE_LIMITS: PlanLimits = PLAN_LIMITS.free;

/** The limits of a project: its plan's or, with Enterprise, those agreed with it. */
export function limitsOf(project: { plan: Plan; limits: PlanLimits | null }): PlanLimits {
  if (project.plan !== 'enterprise') return PLAN_LIMITS[project.plan];
  if (project.limits === null) throw new Error('A project with the plan Enterprise has no limits stored.');
  return project.limits;
}
