import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { type InputIssue, invalidRequest } from '../../contract/errors.ts';
import { WORLD_FILES_MAX, WORLD_TEXT_MAX } from '../../contract/world.ts';
import { ZONE_TEXT_MAX } from '../../contract/zones.ts';
import { typed } from '../../base/system/own-command.ts';
import { type Arguments, usageError, valueOption } from '../words/flags.ts';
import { fileFailure, readFileNamed, type Io } from '../text/io.ts';

/** Default file names, in search order. */
const NAMES = ['vivarium.yaml', 'vivarium.yml', 'vivarium.json'];

export const ALLOW_FLAG = valueOption('allow', 'DIR', 'A folder besides its own from which the file may name files');
export const allowedBy = (read: Arguments): readonly string[] => read.all(ALLOW_FLAG);

/** A `vivarium.yaml` as it is sent to the engine. */
export interface WorldFile {
  /** The path as given. */
  name: string;
  /** Its absolute path, without symbolic links; undefined for standard input, which owns nothing. */
  path: string | undefined;
  text: string;
  /** The texts of the files that it names. */
  files: Record<string, string>;
}

/** The file that `--file` names, or the one in the working folder. @throws VivariumError where there is none */
export async function findWorldFile(
  given: string | undefined,
  { workingDir }: Pick<Io, 'workingDir'>,
): Promise<string> {
  if (given !== undefined) return given;
  for (const name of NAMES) {
    const found = await stat(resolve(workingDir, name)).catch(() => null);
    if (found?.isFile() === true) return name;
  }
  const write = typed(`vivarium export --file ${NAMES[0] ?? ''}`);
  throw usageError(`There is no ${NAMES[0]} in ${workingDir}. Name it with --file, or write one: ${write}`);
}

/** The path that identifies a file to the engine, also if it no longer exists. */
export async function ownerPath(name: string, { workingDir }: Pick<Io, 'workingDir'>): Promise<string> {
  const path = resolve(workingDir, name);
  return await realpath(path).catch(() => path);
}

/**
 * Reads a file and those that it names, whose paths are relative to it: regular files at or below its folder or an
 * allowed one. The file may come from somebody else. @throws VivariumError that names any other file
 */
export async function readWorldFile(
  name: string,
  allowed: readonly string[],
  io: Pick<Io, 'workingDir' | 'stdin'>,
): Promise<WorldFile> {
  const size =
    name === '-'
      ? 0
      : await stat(resolve(io.workingDir, name)).then(
          (found) => found.size,
          () => 0,
        );
  if (size > WORLD_TEXT_MAX) throw invalidRequest(`${name} has more than ${WORLD_TEXT_MAX / 1024 / 1024} MiB.`);
  const text = await readFileNamed(name, io);
  const path = name === '-' ? undefined : await ownerPath(name, io);
  const folder = path === undefined ? io.workingDir : dirname(path);
  const folders = await Promise.all(
    [folder, ...allowed.map((each) => resolve(io.workingDir, each))].map((each) =>
      realpath(each).catch((cause: unknown) => {
        throw fileFailure(each, 'read', cause);
      }),
    ),
  );
  const { filesNamedIn } = await import('../../world/read.ts');
  const files: Record<string, string> = {};
  // An unreadable file is reported with its position in the text.
  for (const named of filesNamedIn(text).slice(0, WORLD_FILES_MAX)) {
    const real = await realpath(resolve(folder, named)).catch(() => null);
    if (real === null) continue;
    const what = `${name} names ${JSON.stringify(named)}`;
    if (!folders.some((each) => real.startsWith(each.endsWith(sep) ? each : each + sep)))
      throw usageError(`${what}, which is not in or below its folder. To allow another folder: --allow DIR`);
    const found = await stat(real).catch(() => null);
    if (found?.isFile() !== true || found.size > ZONE_TEXT_MAX)
      throw usageError(`${what}, which is not a file of at most ${ZONE_TEXT_MAX / 1024 / 1024} MiB.`);
    const content = await readFile(real, 'utf8').catch(() => null);
    if (content !== null) files[named] = content;
  }
  return { name, path, text, files };
}

/** `vivarium.yaml:3:5: projects.acme.plan must be …` */
export const formatIssue = (name: string, { path, message, line = 1, column = 1 }: InputIssue): string =>
  `${name}:${line}:${column}: ${[path, message].filter((part) => part !== '').join(' ')}`;
