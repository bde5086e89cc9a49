import { factsOf, PLAN_IDS, type Plan } from '../../../main/contract/plans.ts';
import type { PlanLimits, Project } from '../../../main/contract/projects.ts';
import type { Client } from '../../connection/transport.ts';
import type { Undoable } from '../session/toasts.svelte.ts';
import { formatCount, formatCounted } from '../time/format.ts';
import { readCount } from '../controls/typed-count.ts';

export const describeLimits = ({ perMinute, perDay }: PlanLimits): string =>
  `${formatCount(perMinute)} a minute, ${formatCount(perDay)} a day`;

/** The effect of a change to `plan` on `domains` attached domains; undefined if there is none. */
export function domainConsequence(from: Plan, plan: Plan, domains: number): string | undefined {
  const served = factsOf(plan).domains;
  if (domains === 0 || factsOf(from).domains === served) return undefined;
  const counted = formatCounted(domains, 'domain', 'domains');
  return served ? `would serve ${counted} again` : `would suspend ${counted}: not served until an upgrade`;
}

/** The plans to choose from, each with its limits. */
export const PLAN_OPTIONS = PLAN_IDS.map((value) => {
  const { title, limits } = factsOf(value);
  return { value, label: `${title}: ${limits === null ? 'limits of its own' : describeLimits(limits)}` };
});

/** Limits as typed, named by the engine's input paths. */
export interface TypedLimits {
  'limits.perMinute': string;
  'limits.perDay': string;
}

/** Limits as typed. The engine refuses missing or invalid numbers, so the type promises more than was typed. */
export const readLimits = (typed: TypedLimits): PlanLimits =>
  ({ perMinute: readCount(typed['limits.perMinute']), perDay: readCount(typed['limits.perDay']) }) as PlanLimits;

/** The report of a project whose plan was changed to Pro, for its domains; `plan`: the one before. */
export const changedToPro = (
  client: Client,
  { id: projectId, name, plan }: Pick<Project, 'id' | 'name' | 'plan'>,
): Undoable => ({
  text: `${name} is on the Pro plan now.`,
  undo: () => client.projects.update({ projectId, plan }),
  undone: `${name} is on the ${factsOf(plan).title} plan again.`,
});
