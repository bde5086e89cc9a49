import { PLAN_LIMITS } from '../../main/contract/plan-limits.ts';
import type { Plan, PlanLimits } from '../../main/contract/projects.ts';
import { formatCount, formatCounted } from '../time/format.ts';
import { readCount } from './typed-count.ts';

export const PLAN_NAMES: Record<Plan, string> = {
  free: 'Free',
  pro: 'Pro',
  business: 'Business',
  enterprise: 'Enterprise',
};

export const PLANS = Object.keys(PLAN_NAMES) as Plan[];

/** What a plan allows each caller; undefined of Enterprise, which is agreed per project. */
export const limitsOfPlan = (plan: Plan): PlanLimits | undefined =>
  plan === 'enterprise' ? undefined : PLAN_LIMITS[plan];

/** What callers without a valid key are held to, whatever the plan. */
export const ADDRESS_LIMITS: PlanLimits = PLAN_LIMITS.free;

export const describeLimits = ({ perMinute, perDay }: PlanLimits): string =>
  `${formatCount(perMinute)} a minute, ${formatCount(perDay)} a day`;

/** What a change to `plan` means for `domains` attached ones; undefined when nothing. */
export function domainConsequence(from: Plan, plan: Plan, domains: number): string | undefined {
  if (domains === 0 || (from === 'free') === (plan === 'free')) return undefined;
  const counted = formatCounted(domains, 'domain', 'domains');
  return plan === 'free'
    ? `${counted} will be suspended: not served until it is upgraded again.`
    : `${counted} will come back from suspension.`;
}

/** The plans to choose from, each with what it allows. */
export const PLAN_OPTIONS = PLANS.map((value) => {
  const limits = limitsOfPlan(value);
  return {
    value,
    label: `${PLAN_NAMES[value]}: ${limits === undefined ? 'limits of its own' : describeLimits(limits)}`,
  };
});

/** Limits as they are typed, under the places that the engine knows them by. */
export interface TypedLimits {
  'limits.perMinute': string;
  'limits.perDay': string;
}

/** Limits as typed. What is missing or no number is the engine's to refuse, so the type promises more than was typed. */
export const readLimits = (typed: TypedLimits): PlanLimits =>
  ({ perMinute: readCount(typed['limits.perMinute']), perDay: readCount(typed['limits.perDay']) }) as PlanLimits;
