import { posixWord, shellWord } from '../../base/text/shell.ts';
import { didYouMean } from '../../contract/issues.ts';
import { conflict, invalidRequest, type VivariumError } from '../../contract/errors.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DataDirInputs, resolveDataDir } from '../../base/system/data-dir.ts';
import { typed } from '../../base/system/own-command.ts';
import type { Environment, Io } from '../text/io.ts';

/** One `--name` of a command. A switch takes no value and can be negated as `--no-name`; other flags need a value. */
export interface Flag {
  name: string;
  kind: 'switch' | 'value';
  /** One letter: `f` for `-f`. */
  short?: string;
  /** Other names, not shown. */
  aliases?: readonly string[];
  /** Whether its value may be omitted, which means an empty one; a value must then be attached: `--lan=en0`. */
  mayLackValue?: boolean;
  /** Whether an empty value is valid; other flags refuse it, because it comes from an unset variable of a script. */
  mayBeEmpty?: boolean;
}

/** A flag with its texts for the help and for shell completion. */
export interface Option extends Flag {
  /** The name of its value, such as `DIR`; none for a switch. */
  placeholder?: string;
  does: string;
  /** The environment variable that sets it too. */
  variable?: string;
}

export const valueOption = (name: string, placeholder: string, does: string): Option => ({
  name,
  kind: 'value',
  placeholder,
  does,
});

export const switchOption = (name: string, does: string): Option => ({ name, kind: 'switch', does });

/** What a command line gives; of several values of a flag, the last one is effective. */
export class Arguments {
  /** The values of each flag, in order; a switch has "true" or "false". */
  readonly flags = new Map<string, string[]>();
  readonly positionals: string[] = [];

  has = ({ name }: Pick<Flag, 'name'>): boolean => this.flags.has(name);
  all = ({ name }: Pick<Flag, 'name'>): readonly string[] => this.flags.get(name) ?? [];
  last = (flag: Pick<Flag, 'name'>): string | undefined => this.all(flag).at(-1);
  isOn = (flag: Pick<Flag, 'name'>): boolean => this.last(flag) === 'true';
  dataDir = (io: DataDirInputs): string => resolveDataDir(this.last(DATA_DIR_FLAG), io);

  /** The whole number of an option. @throws VivariumError `invalid_request` for any other text */
  number(flag: Pick<Flag, 'name'>, byDefault: number, [min, max]: readonly [number, number]): number {
    const text = this.last(flag) ?? String(byDefault);
    const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw usageError(`--${flag.name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}.`);
  }
}

export const HELP_FLAG: Option = { name: 'help', kind: 'switch', short: 'h', does: 'This text' };
export const DATA_DIR_FLAG = valueOption('data-dir', 'DIR', 'The data folder');
export const JSON_FLAG = switchOption('json', 'The result as JSON');
export const OUTPUT_FLAG = valueOption('output', 'FILE', 'Write the result to a file');

/** The options of every procedure besides its inputs. */
export const PROCEDURE_FLAGS: readonly Option[] = [
  JSON_FLAG,
  OUTPUT_FLAG,
  { ...DATA_DIR_FLAG, does: 'The data folder of the Vivarium to ask' },
  HELP_FLAG,
];

/**
 * Reads `--name value`, `--name=value`, `--switch`, `--no-switch`, and `--` before positionals. A value may start with
 * one dash (a negative number); one with two dashes needs the form `--name=--value`.
 * @throws VivariumError `invalid_request` for an unknown flag, a missing value, and a switch with a value.
 */
export function readArguments(args: readonly string[], known: readonly Flag[]): Arguments {
  const read = new Arguments();
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const short = known.find((flag) => flag.short !== undefined && arg === `-${flag.short}`);
    const word = short === undefined ? arg : `--${short.name}`;
    if (word === '--') {
      read.positionals.push(...rest.splice(0));
    } else if (!word.startsWith('--')) {
      if (/^-[a-z]/i.test(word)) throw usageError(`There is no option ${word}.`);
      read.positionals.push(word);
    } else {
      const { flag, value } = readFlag(word, rest, known);
      read.flags.set(flag.name, [...read.all(flag), value]);
    }
  }
  return read;
}

/** Cells of the help's table of options. */
export const optionRows = (options: readonly Option[]): string[][] =>
  options.map(({ name, short, placeholder, mayLackValue, does, variable }) => [
    `${short === undefined || name === HELP_FLAG.name ? '' : `-${short}, `}--${name}${placeholder === undefined ? '' : mayLackValue === true ? `[=${placeholder}]` : ` ${placeholder}`}`,
    does,
    variable ?? '',
  ]);

/** Where the two dashes are, after which words belong to another program; the end without them. */
export const dashesIn = (args: readonly string[]): number => (args.includes('--') ? args.indexOf('--') : args.length);

/** The data folder that words name, before they are read. */
export function dataDirIn(words: readonly string[]): string | undefined {
  const option = `--${DATA_DIR_FLAG.name}`;
  const index = words.lastIndexOf(option);
  return index < 0
    ? words.findLast((word) => word.startsWith(`${option}=`))?.slice(option.length + 1)
    : words[index + 1];
}

export const usageError = (message: string): VivariumError => invalidRequest(message);

export const flagNamed = <Known extends Flag>(name: string, known: readonly Known[]): Known | undefined =>
  known.find((candidate) => candidate.name === name || candidate.aliases?.includes(name));

function readFlag(word: string, rest: string[], known: readonly Flag[]): { flag: Flag; value: string } {
  const equals = word.indexOf('=');
  const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
  const attached = equals < 0 ? null : word.slice(equals + 1);
  const flag = flagNamed(name, known);
  if (flag !== undefined) {
    if (flag.kind === 'switch') return { flag, value: switchValue(name, attached) };
    if (flag.mayLackValue === true) return { flag, value: attached ?? '' };
    const value = attached ?? nextValue(name, rest);
    if (value === '' && flag.mayBeEmpty !== true) throw usageError(`--${name} needs a value.`);
    return { flag, value };
  }
  const denied = known.find((candidate) => candidate.kind === 'switch' && `no-${candidate.name}` === name);
  if (denied !== undefined && attached === null) return { flag: denied, value: 'false' };
  const names = known.map((candidate) => `--${candidate.name}`);
  const near = didYouMean(`--${name}`, names);
  // `--port` is far from `--http-port` in letters only.
  const longer = names.find((candidate) => candidate.endsWith(`-${name}`));
  const hint = near === '' && longer !== undefined ? ` Did you mean "${longer}"?` : near;
  throw usageError(`There is no option --${name}.${hint}`);
}

function switchValue(name: string, attached: string | null): string {
  if (attached === null) return 'true';
  if (attached !== 'true' && attached !== 'false') {
    throw usageError(`--${name} takes no value but true and false, not ${JSON.stringify(attached)}.`);
  }
  return attached;
}

function nextValue(name: string, rest: string[]): string {
  const next = rest[0];
  if (next === undefined || next.startsWith('--')) {
    const hint = next === undefined ? '' : `; if it is meant to be ${next}, write --${name}=${posixWord(next)}`;
    throw usageError(`--${name} needs a value${hint}.`);
  }
  rest.shift();
  return next;
}

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
  throw conflict(`npm took ${names} for itself. Put -- before the options: ${typed(`vivarium ${line}`)}`);
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
