import { AsyncLocalStorage } from 'node:async_hooks';
import { homedir } from 'node:os';
import { dirname, isAbsolute, parse, relative } from 'node:path';
import { type DataDirInputs, impliedDataDir } from './data-dir.ts';
import { findOptionalProgramFile, findProgramFile } from './program.ts';
import { shellWord } from '../text/shell.ts';

/** In a clone of the sources, where npm provides the command; absent in an installed Vivarium. */
const LAUNCHER = ['main', 'cli', 'launch.mjs'] as const;

/** The command that the user typed, such as `npx vivarium`; set by `bin.mjs` and removed by npm's scripts. */
const COMMAND_VARIABLE = 'VIVARIUM_COMMAND';

/** Where a command will be typed. */
export type Origin = DataDirInputs;

/** A command with its variable words quoted for this machine's shells: commandLine`vivarium domain get ${hostname}`. */
export const commandLine = (texts: TemplateStringsArray, ...words: readonly string[]): string =>
  String.raw({ raw: texts }, ...words.map((word) => shellWord(word, process.platform)));

/** What commands begin with where they will be typed, and the data folder of those that name none. */
interface Form {
  program: string;
  impliedDir: string | null;
  /** The data folder that the running command was given: those that it prints go to the same one. */
  givenDir?: string;
}

/**
 * Set while an engine answers a command, which may have been typed in another folder, and as another program, and while
 * a command runs that was given a data folder.
 */
const asking = new AsyncLocalStorage<Form>();

const formOf = (origin: Origin): Form => ({ program: program(origin), impliedDir: impliedDataDir(origin) });

const form = (origin?: Origin): Form =>
  origin === undefined
    ? (asking.getStore() ??
      formOf({ env: process.env, platform: process.platform, workingDir: process.cwd(), homeDir: homedir() }))
    : formOf(origin);

/** Tells an engine how its caller types commands. */
export const FORM_HEADER = 'vivarium-commands';

export function formHeader(): string {
  const { program, impliedDir } = form();
  return new URLSearchParams({ program, ...(impliedDir !== null && { dir: impliedDir }) }).toString();
}

/** Prints the commands of an answer in the form of its header; without one, as for a page. */
export function inFormOf<Answer>(header: string | undefined, answer: () => Answer): Answer {
  if (header === undefined) return asking.run(formOf(anywhere()), answer);
  const words = new URLSearchParams(header);
  return asking.run({ program: words.get('program') ?? 'vivarium', impliedDir: words.get('dir') }, answer);
}

/** Runs a command that was given a data folder; the commands that it prints name it, too. */
export const givenFolder = <Result>(givenDir: string, run: () => Result): Result =>
  asking.run({ ...form(), givenDir }, run);

/** `vivarium clock reset` in the form that works for who asked: `npm run -s vivarium -- clock reset`. */
export function typed(command: string, origin?: Origin): string {
  const own = form(origin);
  return spelled(command, own.givenDir ?? own.impliedDir, own, origin);
}

/** The same for the commands that a message quotes or ends with; `vivarium` is a field of vivarium.yaml too. */
export const typedIn = (message: string): string =>
  message.replaceAll(/(?<=([`"]))vivarium (?!is )[a-z].*?(?=\1)|(?<=: )vivarium (?!is )[a-z].*?(?=\.?$)/gm, (command) =>
    typed(command),
  );

/** The same in all command lines of a help text, which are indented. */
export function typedHelp(text: string, origin?: Origin): string {
  const own = form(origin).program;
  return text.replaceAll(/^( {2,}(?:\w+=\S+ )?)vivarium(?= |$)/gm, (_line, before: string) => `${before}${own}`);
}

/** Like `typed`, with the data folder, unless it is the default one or the command names one. */
export const ownCommand =
  (dataDir: string, origin?: Origin) =>
  (command: string): string =>
    spelled(command, dataDir, form(origin), origin);

function spelled(command: string, dataDir: string | null, own: Form, origin?: Origin): string {
  // What follows two dashes belongs to another program.
  const [words = '', ...others] = command.split(' -- ');
  const isNamed =
    dataDir === null || dataDir === own.impliedDir || /^vivarium help\b| --(?:data-dir|help)\b/.test(words);
  const folder = isNamed ? '' : ` --data-dir ${shellWord(dataDir, origin?.platform ?? process.platform)}`;
  return [words + folder, ...others].join(' -- ').replace(/^vivarium\b/, own.program);
}

/** A page, from which commands are pasted into any folder; npx finds its command in some only. */
function anywhere(): Origin {
  const { env, platform } = process;
  const chosen = env[COMMAND_VARIABLE];
  const found = chosen?.startsWith('npx ') === true ? byPath() : chosen;
  const workingDir = parse(homedir()).root;
  return { env: { ...env, [COMMAND_VARIABLE]: found }, platform, workingDir, homeDir: homedir() };
}

const byPath = (): string => `node ${shellWord(findProgramFile('main', 'cli', 'bin.mjs'), process.platform)}`;

export const commandAnywhere = (dataDir: string): string => ownCommand(dataDir, anywhere())('vivarium');

/** The command that starts this Vivarium again on its data folder; options may be appended. */
export function startCommand(dataDir: string): string {
  // `defaultApp` is Electron's: it runs a folder, not a packaged app.
  const { versions, defaultApp, env, execPath, platform } = process as NodeJS.Process & { defaultApp?: boolean };
  if (versions['electron'] === undefined) return ownCommand(dataDir, anywhere())('vivarium start');
  // The program of an AppImage is in a mount, which ends with it.
  const app = defaultApp === true ? 'npm start' : shellWord(env['APPIMAGE'] ?? execPath, platform);
  return `${app} -- --data-dir ${shellWord(dataDir, platform)}`;
}

function program({ env, platform, workingDir }: Origin): string {
  const chosen = env[COMMAND_VARIABLE];
  if (chosen) return chosen;
  const launcher = findOptionalProgramFile(...LAUNCHER);
  if (launcher === null) return 'vivarium';
  const clone = dirname(dirname(dirname(launcher)));
  const place = relative(clone, workingDir);
  const isInside = place.split(/[\\/]/)[0] !== '..' && !isAbsolute(place);
  return isInside ? 'npm run -s vivarium --' : `npm --prefix ${shellWord(clone, platform)} run -s vivarium --`;
}
