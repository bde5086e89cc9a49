import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { LABEL_LENGTH_MAX } from '../../base/text/hostname.ts';
import { packageName } from '../words/default-project.ts';
import { formatPath } from '../../contract/issues.ts';
import type { ResolvedWorld } from '../../contract/world.ts';
import { isWildcard, slugify } from '../../contract/hostnames.ts';
import { usageError } from '../words/flags.ts';
import type { Io } from '../text/io.ts';
import { findWorldFile, readWorldFile } from '../world/world-file.ts';

/** What a folder reveals about the app in it. */
export interface AppFolder {
  /** From `package.json`, git, or the folder. */
  name: string;
  /** The branch of a git worktree as a label; null elsewhere, and for `main` and `master`. */
  worktree: string | null;
}

/** Where an app is to be served. */
export interface AppPlace {
  /** The slug of the project, if no hostname is given. */
  name?: string;
  hostname?: string;
}

export async function readAppFolder(folder: string): Promise<AppFolder> {
  const git = await findGit(folder);
  const root = git?.root === folder ? git.repository : basename(folder);
  return { name: (await packageName(folder)) ?? root, worktree: git?.worktree ?? null };
}

/** A word with a dot is a hostname, any other a name; a worktree's label is put in front of both. */
export function placeOf(word: string | undefined, { name, worktree }: AppFolder): AppPlace {
  if (word?.includes('.') !== true) {
    const own = word ?? name;
    return { name: worktree === null ? own : `${worktree}-${own}` };
  }
  if (worktree === null) return { hostname: word };
  return { hostname: word.startsWith('*.') ? `*.${worktree}${word.slice(1)}` : `${worktree}.${word}` };
}

interface Git {
  root: string;
  repository: string;
  worktree: string | null;
}

/** Branches that most repositories have: their worktree is the app itself. */
const MAIN_BRANCHES: ReadonlySet<string> = new Set(['main', 'master', 'trunk']);

/** The closest folder with `.git`: a folder, or in a worktree a file that names one (gitrepository-layout(5)). */
async function findGit(folder: string): Promise<Git | null> {
  for (let root = folder; ; root = dirname(root)) {
    const path = join(root, '.git');
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory() === true) return { root, repository: basename(root), worktree: null };
    if (found?.isFile() === true) return readWorktree(root, path);
    if (dirname(root) === root) return null;
  }
}

async function readWorktree(root: string, path: string): Promise<Git> {
  const plain = { root, repository: basename(root), worktree: null };
  const own = /^gitdir: (.+)$/m.exec(await textOf(path))?.[1];
  if (own === undefined) return plain;
  const gitDir = resolve(root, own);
  // A submodule's is in `modules`.
  if (basename(dirname(gitDir)) !== 'worktrees') return plain;
  const common = dirname(dirname(gitDir));
  const repository = basename(common) === '.git' ? basename(dirname(common)) : basename(common, '.git');
  const branch = /^ref: refs\/heads\/(.+)$/m.exec(await textOf(join(gitDir, 'HEAD')))?.[1] ?? basename(root);
  return { root, repository, worktree: MAIN_BRANCHES.has(branch) ? null : labelOf(branch) };
}

/** At most 63 characters (RFC 1035 §2.3.4); null where no letter or digit is left. */
const labelOf = (branch: string): string | null => slugify(branch).slice(0, LABEL_LENGTH_MAX) || null;

const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/** A command of a `vivarium.yaml`, and its hostname. */
export interface FileRun {
  command: string[];
  /** Providers, as after `--as`. */
  as: readonly string[];
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
  const { slug, run, as } = chooseRun(projects, word, name);
  const folder = await readAppFolder(io.workingDir);
  const hostname = word?.includes('.') === true ? word : hostnameOf(projects[slug]);
  return {
    command: FOR_SHELL.test(run) ? shellCommand(run, io) : run.trim().split(/\s+/),
    as,
    place: { ...placeOf(slug, folder), ...(hostname !== undefined && placeOf(hostname, folder)) },
  };
}

type Projects = NonNullable<ResolvedWorld['projects']>;

function chooseRun(
  projects: Projects,
  word: string | undefined,
  file: string,
): { slug: string; run: string; as: readonly string[] } {
  const all = Object.entries(projects).flatMap(([slug, { run, as = [], domains = {} }]) =>
    run === undefined ? [] : [{ slug, run, as, hostnames: Object.keys(domains) }],
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
