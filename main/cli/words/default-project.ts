import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Project } from '../../contract/projects.ts';
import { slugify } from '../../contract/hostnames.ts';
import type { Run } from '../../contract/runs.ts';
import { usageError } from './flags.ts';
import type { Io } from '../text/io.ts';

/** The rule of `chooseProject`, for the help. */
export const DEFAULT_PROJECT_RULE =
  'the only project, that of a run in this folder, or the one whose slug is the name of this folder or of its package.json';

/**
 * The project of a command that names none: the only one, or the one whose slug is one of `names`.
 * @throws VivariumError `invalid_request` that lists the slugs when neither applies.
 */
export function chooseProject<Candidate extends Pick<Project, 'slug'>>(
  projects: readonly Candidate[],
  names: readonly string[],
): Candidate {
  const [first] = projects;
  if (first === undefined) throw usageError('There is no project yet. Create one: `projects.create {"name":"App"}`.');
  const found = projects.length === 1 ? first : projects.find(({ slug }) => names.includes(slug));
  if (found !== undefined) return found;
  throw usageError(`Name a project; there are ${listed(projects.map(({ slug }) => slug))}.`);
}

const LISTED_MAX = 10;

const listed = (slugs: readonly string[]): string =>
  slugs.slice(0, LISTED_MAX).join(', ') + (slugs.length > LISTED_MAX ? ' and more' : '');

/** The slug of the project to use; says on standard error which one it is, unless it is the only one. */
export async function defaultProject(
  projects: readonly Project[],
  listRuns: () => Promise<readonly Run[]>,
  io: Pick<Io, 'workingDir' | 'stderr'>,
): Promise<string> {
  const runs = projects.length > 1 ? await listRuns() : [];
  const served = new Set(runs.filter(({ folder }) => folder === io.workingDir).map(({ project }) => project));
  const { slug } = chooseProject(projects, served.size === 1 ? [...served] : await namesOf(io.workingDir));
  if (projects.length > 1) io.stderr.write(`Project: ${slug}\n`);
  return slug;
}

/** The slugs that a folder suggests: its own name, and that of the package in it. */
async function namesOf(folder: string): Promise<string[]> {
  const name = await packageName(folder);
  return [...(name === null ? [] : [name]), basename(folder)].map(slugify);
}

/** The name in a folder's `package.json`, without a scope; null without one. */
export async function packageName(folder: string): Promise<string | null> {
  const name = (await readPackage(folder))?.name;
  return typeof name === 'string' && name !== '' ? name.replace(/^@[^/]*\//, '') : null;
}

/** A folder's `package.json`, unchecked; null if missing or unreadable for npm too. */
export async function readPackage(folder: string): Promise<{ name?: unknown; scripts?: unknown } | null> {
  try {
    return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { name?: unknown; scripts?: unknown };
  } catch {
    return null;
  }
}
