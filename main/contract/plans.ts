interface Limits {
  perMinute: number;
  perDay: number;
}

interface PlanFacts {
  title: string;
  /** Per caller; null if they are agreed per project. */
  limits: Limits | null;
  /** Whether its projects may have custom domains. */
  domains: boolean;
}

/** The plans and their requests per minute and per day (specification, section 8), from the smallest to the largest. */
export const PLANS = {
  free: { title: 'Free', limits: { perMinute: 60, perDay: 1_000 }, domains: false },
  pro: { title: 'Pro', limits: { perMinute: 300, perDay: 10_000 }, domains: true },
  business: { title: 'Business', limits: { perMinute: 1_000, perDay: 100_000 }, domains: true },
  enterprise: { title: 'Enterprise', limits: null, domains: true },
} as const satisfies Record<string, PlanFacts>;

export type Plan = keyof typeof PLANS;

export const PLAN_IDS = Object.keys(PLANS) as Plan[];

/** `{ title, limits, domains }` of a plan. */
export const factsOf = (plan: Plan): PlanFacts => PLANS[plan];

const oneOf = (words: readonly string[]) => words.join(', ').replace(/, ([^,]*)$/, ' or $1');
const withDomains = (domains: boolean) => PLAN_IDS.filter((id) => PLANS[id].domains === domains);

/** The plans whose projects may have custom domains, in words: `Pro, Business or Enterprise`; and the others. */
export const DOMAIN_PLANS = {
  ids: oneOf(withDomains(true)),
  titles: oneOf(withDomains(true).map((id) => PLANS[id].title)),
  others: oneOf(withDomains(false).map((id) => PLANS[id].title)),
};

/** Whether a project may change to a plan during its run: one that the run made may not, as it is removed unchanged. */
export const allowsPlan = (run: { created: boolean; hostnames: readonly string[] }, plan: Plan): boolean =>
  !run.created && (run.hostnames.length === 0 || PLANS[plan].domains);

/**
 * The limits of callers without a valid API key: those of Free, unless the target says that the project's plan holds.
 */
export const limitsWithoutKey = (project: {
  limits: Limits;
  target: { kind: 'api' | 'provider' | 'upstream'; withoutKey?: 'free' | 'plan' | undefined };
}): Limits => (project.target.withoutKey === 'plan' ? project.limits : PLANS.free.limits);
