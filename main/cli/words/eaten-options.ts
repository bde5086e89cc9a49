import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { typed } from '../../base/system/own-command.ts';
import { shellWord } from '../../base/text/shell.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { Flag } from './flags.ts';
import type { Environment, Io } from '../text/io.ts';

/**
 * npm treats the options of a line without `--` as its own: `npm run vivarium project list --json`. It passes its
 * configuration to the scripts that it runs as `npm_config_…`, the only trace of these options.
 */
const PREFIX = 'npm_config_';

/** npm reads `--plan` as `-p -l -a -n` (Shorthands in npm's config documentation); `-n` leaves no trace. */
const LETTERS: Record<string, string | undefined> = { a: 'all', l: 'long', n: '', p: 'parseable' };

/** How npm interprets our single-letter options. */
const SHORT: Record<string, [name: string, value: string] | undefined> = {
  d: ['loglevel', 'info'],
  f: ['force', 'true'],
};

/** The files of npm's configuration, as it names them to its scripts. */
const FILES = ['npm_config_globalconfig', 'npm_config_userconfig'];

/**
 * Refuses a command whose options npm has consumed. Ignores options that the command also got, and those that npm's
 * configuration files set.
 * @param command such as `['projects', 'create']`
 * @param words the words after it: npm treats an unknown option as a switch and leaves its value behind
 * @throws VivariumError `conflict` with the intended line
 */
export function refuseEaten(
  command: readonly string[],
  words: readonly string[],
  options: readonly Flag[],
  { env, platform }: Pick<Io, 'env' | 'platform'>,
): void {
  if (!isOwnScript(env)) return;
  const eaten = options.flatMap((option) => {
    const value = takenValue(option, env);
    return value === null || isGiven(option, words) ? [] : [{ option, value }];
  });
  if (eaten.length === 0) return;
  const rest = [...words];
  const lost = eaten.filter(({ option, value }) => option.kind === 'value' && value === 'true');
  const left = lost.length === 1 ? rest.pop() : undefined;
  const line = [
    ...[...command, ...rest].map((word) => shellWord(word, platform)),
    ...eaten.flatMap(({ option, value }) => {
      if (option.kind === 'switch') return [value === 'true' ? `--${option.name}` : `--no-${option.name}`];
      const known = value === 'true' ? left : value;
      return [`--${option.name}`, known === undefined ? '…' : shellWord(known, platform)];
    }),
  ].join(' ');
  const names = eaten.map(({ option }) => `--${option.name}`).join(', ');
  throw new VivariumError(
    'conflict',
    `npm took ${names} for itself. Put -- before the options: ${typed(`vivarium ${line}`)}`,
  );
}

/** Our options that npm reads as shorthands of defaults, which leave no trace. */
const TRACELESS = ['local'];

/**
 * A line for standard error if npm may have consumed an option without a trace; null otherwise.
 * @param command such as `['domains', 'attach']`
 */
export function tracelessHint(
  command: readonly string[],
  words: readonly string[],
  options: readonly Flag[],
  { env, platform }: Pick<Io, 'env' | 'platform'>,
): string | null {
  const option = options.find(({ name }) => TRACELESS.includes(name));
  if (option === undefined || !isOwnScript(env) || isGiven(option, words)) return null;
  const line = ['vivarium', ...command, ...words].map((word) => shellWord(word, platform)).join(' ');
  return `Without --${option.name}: npm keeps that option if no -- is before it. To add it: ${typed(`${line} --${option.name}`)}`;
}

/** Whether npm runs this as its script `vivarium`. */
function isOwnScript(env: Environment): boolean {
  const isScript = env['npm_command'] === 'run' || env['npm_command'] === 'run-script';
  return isScript && env['npm_lifecycle_event'] === 'vivarium' && env['VIVARIUM_COMMAND'] === undefined;
}

/**
 * A sentence, with a leading space, for a command with a surplus word: npm may have consumed the option before it
 * without a trace (`-n 2`). Empty if npm did not run the command.
 * @param command such as `logs`
 */
export const surplusHint = (command: string, { env }: Pick<Io, 'env'>): string =>
  isOwnScript(env) ? ` npm keeps options that have no -- before them; type "${typed(`vivarium ${command}`)} …".` : '';

function isGiven({ name, short }: Flag, words: readonly string[]): boolean {
  const forms = [`--${name}`, `--no-${name}`, ...(short === undefined ? [] : [`-${short}`])];
  return words.some((word) => forms.includes(word.split('=', 1)[0] ?? ''));
}

/** The value that npm has for the option; null without one from the command line. */
function takenValue({ name, short }: Flag, env: Environment): string | null {
  const value = env[PREFIX + name.replaceAll('-', '_')];
  if (value !== undefined) return isConfigured(name, env) ? null : value;
  if ([...name].every((letter) => isLetterTaken(letter, env))) return 'true';
  const shorthand = short === undefined ? undefined : SHORT[short];
  return shorthand !== undefined && isTaken(shorthand, env) ? 'true' : null;
}

function isLetterTaken(letter: string, env: Environment): boolean {
  const config = LETTERS[letter];
  return config === '' || (config !== undefined && isTaken([config, 'true'], env));
}

const isTaken = ([name, value]: readonly [string, string], env: Environment): boolean =>
  env[PREFIX + name] === value && !isConfigured(name, env);

function isConfigured(name: string, env: Environment): boolean {
  const project = env['npm_config_local_prefix'];
  const files = [...FILES.map((key) => env[key]), project === undefined ? undefined : join(project, '.npmrc')];
  return files.some((file) => file !== undefined && namesIn(file).includes(name));
}

/** The names that a file in npm's ini format sets. */
function namesIn(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => (line.split('=', 1)[0] ?? '').trim());
  } catch {
    return [];
  }
}
