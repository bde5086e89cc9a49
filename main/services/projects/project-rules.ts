import { STAGING_SUFFIX } from '../../base/config.ts';
import { factsOf, type Plan } from '../../contract/plans.ts';
import type { PlanLimits } from '../../contract/projects.ts';
import { slugify, SLUG_LENGTH_MAX } from '../../contract/hostnames.ts';
import { type InputIssue, VivariumError } from '../../contract/errors.ts';

/** Labels of the platform zone with another meaning. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'api',
  'break',
  'cname',
  'ns',
  'ns1',
  'ns2',
  'www',
  'control',
  'localhost',
]);

/**
 * Derives a slug from `name`: its letters and digits without accents, joined by hyphens; `project` if there are none.
 */
export function slugFromName(name: string): string {
  const slug = slugify(name);
  const usable = slug === '' ? 'project' : slug;
  return slugFault(usable) === null ? usable : `${usable.slice(0, SLUG_LENGTH_MAX - 8)}-project`;
}

/** Why a well-formed slug can't be used, or null. */
export function slugFault(slug: string): string | null {
  if (RESERVED_SLUGS.has(slug)) return `"${slug}" is reserved for the platform; choose another one.`;
  if (slug.endsWith(STAGING_SUFFIX)) return `must not end with "${STAGING_SUFFIX}", which marks staging hostnames.`;
  if (slug.startsWith('xn--') || slug.slice(2, 4) === '--')
    return 'must not have hyphens as its third and fourth character (RFC 5891 §4.2.3.1).';
  return null;
}

/** The first of `slug`, `slug-2`, `slug-3`, … that is not taken. */
export function freeSlug(slug: string, taken: (slug: string) => boolean): string {
  let candidate = slug;
  for (let number = 2; taken(candidate); number++) {
    const ending = `-${number}`;
    candidate = slug.slice(0, SLUG_LENGTH_MAX - ending.length).replace(/-+$/, '') + ending;
  }
  return candidate;
}

/**
 * The limits stored with a plan: one with agreed limits requires both, others have fixed ones and accept none.
 * @throws VivariumError invalid_request
 */
export function limitsForPlan(plan: Plan, limits: PlanLimits | null | undefined): PlanLimits | null {
  if (factsOf(plan).limits === null) {
    if (limits) return limits;
    throw inputError('limits', `are required with the plan "${plan}": {"perMinute": …, "perDay": …}.`);
  }
  if (limits) throw inputError('limits', `can only be set with the plan "enterprise"; "${plan}" has fixed ones.`);
  return null;
}

export function inputError(path: string, message: string): VivariumError {
  const issue: InputIssue = { path, message };
  return new VivariumError('invalid_request', `${path}: ${message}`, { issues: [issue] });
}
