import { PLAN_LIMITS } from '../../../main/contract/plan-limits.ts';
import type { Plan } from '../../../main/contract/projects.ts';
import { formatCount } from '../../time/format.ts';

export const PLAN_NAMES: Record<Plan, string> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

/** The plans to choose from, each with what it allows. */
export const PLAN_OPTIONS = (Object.keys(PLAN_NAMES) as Plan[]).map((value) => ({
  value,
  label: `${PLAN_NAMES[value]}: ${allowance(value)}`,
}));

function allowance(plan: Plan): string {
  if (plan === 'enterprise') return 'limits of its own';
  const { perMinute, perDay } = PLAN_LIMITS[plan];
  return `${formatCount(perMinute)} a minute, ${formatCount(perDay)} a day`;
}
