import { typed } from '../../base/system/own-command.ts';
import { posixWord } from '../../base/text/shell.ts';
import type { VivariumError } from '../../contract/errors.ts';
import { PROVIDER_IDS } from '../../contract/provider-table.ts';
import type { Io } from '../text/io.ts';
import { dashesIn, DATA_DIR_FLAG, type Arguments, usageError, valueOption, switchOption } from '../words/flags.ts';
import { ALLOW_FLAG, allowedBy, findWorldFile, readWorldFile } from '../world/world-file.ts';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { LABEL_LENGTH_MAX } from '../../base/text/hostname.ts';
import { packageName } from '../words/default-project.ts';
import { formatPath } from '../../contract/issues.ts';
import type { ResolvedWorld } from '../../contract/world.ts';
import { isWildcard, slugify } from '../../contract/hostnames.ts';

const PORT_FLAG = valueOption('port', 'N', 'The port to serve if the command opens several; passed to it as PORT');
const PROJECT_FLAG = valueOption('project', 'PROJECT', 'An existing project to use; its target is restored at the end');
const WILDCARD_FLAG = switchOption('wildcard', 'Also serve every name directly below the hostname');
const KEEP_HOST_FLAG = switchOption('keep-host', 'Send the requested hostname to the command in Host');
const NO_ENV_FLAG = switchOption('no-env', 'Set no proxy and no certificates in the command’s environment');
const AS_FLAG = valueOption(
  'as',
  'PROVIDER[=PROJECT,…]',
  `Answer the provider’s own API here: ${PROVIDER_IDS.join(', ')}; repeatable. Without projects, that of the run`,
);
export const OPTIONS = [AS_FLAG, PORT_FLAG, PROJECT_FLAG, WILDCARD_FLAG, KEEP_HOST_FLAG, NO_ENV_FLAG, ALLOW_FLAG];

export type Asked = Omit<ReturnType<typeof readAsked>, 'as'> & { as: readonly ReturnType<typeof readAs>[] };

export function noCommand(words: readonly string[] = ['app.acme.test', 'npm', 'run', 'dev']): VivariumError {
  const command = words[0]?.includes('.') === true ? words.toSpliced(1, 0, '--') : ['--', ...words];
  const line = typed(`vivarium run ${command.map(posixWord).join(' ')}`);
  return usageError(`The command is missing. Write it after two dashes: ${line}`);
}

const SHOWN_MAX = 8_192;

/** The window's commands begin with the data folder. */
export function withoutDataDir(args: readonly string[]): string[] {
  const flag = `--${DATA_DIR_FLAG.name}`;
  const dashes = dashesIn(args);
  return args.filter(
    (word, at) => at >= dashes || !(word === flag || word.startsWith(`${flag}=`) || args[at - 1] === flag),
  );
}

export const shown = (words: readonly string[]): string => words.map(posixWord).join(' ').slice(0, SHOWN_MAX);

export function readAsked(read: Arguments, dataDir: string, command: readonly string[]) {
  const [word, ...others] = read.positionals;
  if (others.length > 0 && command.length === 0) throw noCommand(read.positionals);
  if (others.length > 0)
    throw usageError(
      `Unexpected argument ${JSON.stringify(others[0])}: one name or hostname, then -- and the command.`,
    );
  const text = read.last(PORT_FLAG);
  const port = text === undefined ? null : portOf(text);
  if (text !== undefined && port === null) {
    throw usageError(`--port must be a number from 1 to 65535, not ${JSON.stringify(text)}.`);
  }
  const projectId = read.last(PROJECT_FLAG);
  if (projectId !== undefined && word !== undefined && !word.includes('.')) {
    throw usageError(
      `--project names the project already; write a hostname or nothing in place of ${JSON.stringify(word)}.`,
    );
  }
  return {
    as: read.all(AS_FLAG),
    word,
    command,
    port,
    projectId,
    wildcard: read.isOn(WILDCARD_FLAG),
    keepHost: read.isOn(KEEP_HOST_FLAG),
    noEnv: read.isOn(NO_ENV_FLAG),
    allowed: allowedBy(read),
    dataDir,
  };
}

/** `vercel`, or `vercel=shop,blog`. */
export function readAs(text: string): { provider: string; projects: string[] } {
  const [provider = '', projects = ''] = text.split('=', 2);
  return { provider, projects: projects.split(',').filter((project) => project !== '') };
}

export function portOf(text: string | undefined): number | null {
  const port = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
  return port > 0 && port < 65_536 ? port : null;
}

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
