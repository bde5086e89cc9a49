import { formatPath } from '../../contract/issues.ts';
import type { ResolvedWorld } from '../../contract/world.ts';
import { isWildcard } from '../../contract/wildcards.ts';
import { type AppPlace, placeOf, readAppFolder } from './app-name.ts';
import { usageError } from '../words/flags.ts';
import type { Io } from '../text/io.ts';
import { findWorldFile, readWorldFile } from '../world/world-file.ts';

/** A command of a `vivarium.yaml`, and its hostname. */
export interface FileRun {
  command: string[];
  place: AppPlace;
}

/** Characters that only a shell understands. */
const FOR_SHELL = /[|&;<>()$`\\"'*?[\]#~=%!{}\n]/;

/**
 * Finds the command of a project in the working folder's `vivarium.yaml`: the project is named by its slug or by one
 * of its hostnames, or is the only one. Null if there is no file. @throws VivariumError
 */
export async function runOfFile(word: string | undefined, allowed: readonly string[], io: Io): Promise<FileRun | null> {
  const name = await findWorldFile(undefined, io).catch(() => null);
  if (name === null) return null;
  const { text, files } = await readWorldFile(name, allowed, io);
  const { readWorld } = await import('../../world/read.ts');
  const { projects = {} } = (await readWorld(text, files)).world;
  const { slug, run } = chooseRun(projects, word, name);
  const folder = await readAppFolder(io.workingDir);
  const hostname = word?.includes('.') === true ? word : hostnameOf(projects[slug]);
  return {
    command: FOR_SHELL.test(run) ? shellCommand(run, io) : run.trim().split(/\s+/),
    place: { ...placeOf(slug, folder), ...(hostname !== undefined && placeOf(hostname, folder)) },
  };
}

type Projects = NonNullable<ResolvedWorld['projects']>;

function chooseRun(projects: Projects, word: string | undefined, file: string): { slug: string; run: string } {
  const all = Object.entries(projects).flatMap(([slug, { run, domains = {} }]) =>
    run === undefined ? [] : [{ slug, run, hostnames: Object.keys(domains) }],
  );
  const found = all.filter(({ slug, hostnames }) => word === undefined || slug === word || hostnames.includes(word));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const path = formatPath(['projects', word ?? 'NAME', 'run']);
  if (all.length === 0) throw usageError(`${file} has no command. Write one there as ${path}, or after two dashes.`);
  throw usageError(`Name a project; ${file} has commands for ${all.map(({ slug }) => slug).join(', ')}.`);
}

/** The hostname of the app: the primary, or the first without a redirect. */
export function hostnameOf(project: Pick<Projects[string], 'primary' | 'domains'> | undefined): string | undefined {
  const own = Object.entries(project?.domains ?? {}).find(
    ([hostname, { redirect }]) => redirect === undefined && !isWildcard(hostname),
  );
  return project?.primary ?? own?.[0];
}

const shellCommand = (text: string, { platform }: Pick<Io, 'platform'>): string[] =>
  platform === 'win32' ? ['cmd', '/d', '/s', '/c', text] : ['/bin/sh', '-c', text];
