import { STAGING_SUFFIX } from '../../base/config.ts';
import { factsOf, type Plan } from '../../contract/plans.ts';
import type { PlanLimits } from '../../contract/projects.ts';
import { slugify, SLUG_LENGTH_MAX } from '../../contract/hostnames.ts';
import { type ErrorCode, notFound, VivariumError } from '../../contract/errors.ts';
import { didYouMean } from '../../contract/issues.ts';
import type { KeyRows, ProjectRows } from '../dependencies.ts';

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

export const inputError = (path: string, message: string, code: ErrorCode = 'invalid_request'): VivariumError =>
  new VivariumError(code, `${path}: ${message}`, { issues: [{ path, message }] });

/** The forms of the ids that replace references; the contract's schemas are `projectReference` and `keyReference`. */
const ID = { project: /^prj_/, key: /^key_/ } as const;

/** Maximum matches listed in an ambiguity error. */
const LISTED_MAX = 10;

interface ReferenceOptions {
  projects: Pick<ProjectRows, 'get' | 'getBySlug' | 'list'>;
  keys: Pick<KeyRows, 'get' | 'named'>;
}

/**
 * Replaces the references of an input by ids: `projectId` may be the project's id, slug or exact name, `keyId` a key's
 * id or name. Texts in the form of an id are kept; the service checks them. The same in `on`, a break's selection.
 */
export function resolveReferences(input: unknown, options: ReferenceOptions): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const { projectId: project, keyId: key, on, also } = input as Record<string, unknown>;
  const projectId = typeof project === 'string' ? resolveProject(project, options) : undefined;
  const keyId = typeof key === 'string' ? resolveKey(key, projectId, options) : undefined;
  return {
    ...input,
    ...(on !== undefined && { on: resolveReferences(on, options) }),
    ...(projectId !== undefined && { projectId }),
    ...(Array.isArray(also) && {
      also: also.map((text: unknown) => (typeof text === 'string' ? resolveProject(text, options) : text)),
    }),
    ...(keyId !== undefined && { keyId }),
  };
}

function resolveProject(text: string, { projects }: ReferenceOptions): string {
  const found = projects.get(text) ?? projects.getBySlug(text);
  if (found !== null) return found.id;
  if (ID.project.test(text)) return text;
  const named = projects.list().filter(({ name }) => name === text);
  const [only, ...others] = named;
  if (only === undefined) throw noProject(text, projects);
  if (others.length === 0) return only.id;
  throw ambiguous(
    'projectId',
    `${named.length} projects have the name "${text}"; use a slug`,
    named,
    ({ slug }) => slug,
  );
}

function resolveKey(text: string, projectId: string | undefined, { keys, projects }: ReferenceOptions): string {
  if (keys.get(text) !== null || ID.key.test(text)) return text;
  const named = keys.named(text).filter((key) => projectId === undefined || key.projectId === projectId);
  const [only, ...others] = named;
  if (only === undefined) throw noKey(text);
  if (others.length === 0) return only.id;
  throw ambiguous('keyId', `${named.length} API keys have the name "${text}"; use an id`, named, (key) => {
    return `${key.id} (${projects.get(key.projectId)?.slug ?? key.projectId})`;
  });
}

export function noProject(text: string, projects: Pick<ProjectRows, 'list'>): VivariumError {
  const near = didYouMean(
    text,
    projects.list().map(({ slug }) => slug),
  );
  return notFound(`No project "${text}".${near || ' List them: `projects.list`.'}`);
}

export const noKey = (text: string): VivariumError =>
  notFound(`No API key "${text}". List a project’s: \`keys.list\`.`);

function ambiguous<Row>(path: string, message: string, rows: readonly Row[], shown: (row: Row) => string) {
  const listed = rows.slice(0, LISTED_MAX).map(shown).join(', ');
  return inputError(path, `${message}: ${listed}.`);
}
