import { limitsWithoutKey, PLAN_LIMITS } from '../../../main/contract/plan-limits.ts';
import type { Plan, PlanLimits, Project } from '../../../main/contract/projects.ts';
import { formatCount, formatCounted } from '../time/format.ts';
import { readCount } from '../controls/typed-count.ts';

export const PLAN_NAMES: Record<Plan, string> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

export const PLANS = Object.keys(PLAN_NAMES) as Plan[];

/** A plan's limits per caller; undefined for Enterprise, whose limits are set per project. */
export const limitsOfPlan = (plan: Plan): PlanLimits | undefined =>
  plan === 'enterprise' ? undefined : PLAN_LIMITS[plan];

/** The limits of callers without a valid key, unless a target says otherwise. */
export const FREE_LIMITS: PlanLimits = PLAN_LIMITS.free;

export const describeLimits = ({ perMinute, perDay }: PlanLimits): string =>
  `${formatCount(perMinute)} a minute, ${formatCount(perDay)} a day`;

/** `5 a minute, 100 a day for each key; 60 a minute, 1,000 a day without one`: a project's limits, by caller. */
export function describeCallers(project: Pick<Project, 'limits' | 'target'>): string {
  const [keyed, without] = [project.limits, limitsWithoutKey(project)].map(describeLimits);
  return keyed === without
    ? `${keyed}, for each key and each address without one`
    : `${keyed} for each key; ${without} without one`;
}

/** The effect of a change to `plan` on `domains` attached domains; undefined if there is none. */
export function domainConsequence(from: Plan, plan: Plan, domains: number): string | undefined {
  if (domains === 0 || (from === 'free') === (plan === 'free')) return undefined;
  const counted = formatCounted(domains, 'domain', 'domains');
  return plan === 'free'
    ? `${counted} will be suspended: not served until the project is upgraded again.`
    : `${counted} will come back from suspension.`;
}

/** The plans to choose from, each with its limits. */
export const PLAN_OPTIONS = PLANS.map((value) => {
  const limits = limitsOfPlan(value);
  return {
    value,
    label: `${PLAN_NAMES[value]}: ${limits === undefined ? 'limits of its own' : describeLimits(limits)}`,
  };
});

/** Limits as typed, named by the engine's input paths. */
export interface TypedLimits {
  'limits.perMinute': string;
  'limits.perDay': string;
}

/** Limits as typed. The engine refuses missing or invalid numbers, so the type promises more than was typed. */
export const readLimits = (typed: TypedLimits): PlanLimits =>
  ({ perMinute: readCount(typed['limits.perMinute']), perDay: readCount(typed['limits.perDay']) }) as PlanLimits;
