import { didYouMean } from '../../contract/issues.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { KeyRows, ProjectRows } from '../dependencies.ts';

/**
 * The forms of the ids that replace references; the contract's schemas are `projectReference` and `keyReference`.
 */
const ID = { project: /^prj_/, key: /^key_/ } as const;

/** Maximum matches listed in an ambiguity error. */
const LISTED_MAX = 10;

export interface ReferenceOptions {
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
  return new VivariumError('not_found', `No project "${text}".${near || ' List them: `projects.list`.'}`);
}

export const noKey = (text: string): VivariumError =>
  new VivariumError('not_found', `No API key "${text}". List a project’s: \`keys.list\`.`);

function ambiguous<Row>(path: string, message: string, rows: readonly Row[], shown: (row: Row) => string) {
  const listed = rows.slice(0, LISTED_MAX).map(shown).join(', ') + (rows.length > LISTED_MAX ? ', …' : '');
  return new VivariumError('invalid_request', `${path}: ${message}: ${listed}.`, {
    issues: [{ path, message: `${message}: ${listed}` }],
  });
}
