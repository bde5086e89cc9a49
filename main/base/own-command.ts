import { homedir } from 'node:os';
import { dirname, isAbsolute, relative } from 'node:path';
import { impliedDataDir } from './data-dir.ts';
import { findOptionalProgramFile } from './program.ts';
import { shellWord } from './shell.ts';

/** In a clone of the sources, where npm provides the command; absent in an installed Vivarium. */
const LAUNCHER = ['main', 'cli', 'launch.mjs'] as const;

/** The command that the user typed, such as `npx vivarium`; set by `bin.mjs` and removed by npm's scripts. */
const COMMAND_VARIABLE = 'VIVARIUM_COMMAND';

/** Where a command will be typed. */
export interface Origin {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  workingDir: string;
  homeDir: string;
}

/** A command with its variable words quoted for this machine's shells: commandLine`vivarium domains get ${hostname}`. */
export const commandLine = (texts: TemplateStringsArray, ...words: readonly string[]): string =>
  String.raw({ raw: texts }, ...words.map((word) => shellWord(word, process.platform)));

const here = (): Origin => ({
  env: process.env,
  platform: process.platform,
  workingDir: process.cwd(),
  homeDir: homedir(),
});

/** `vivarium clock reset` in the form that works for this process: `npm run -s vivarium -- clock reset`. */
export const typed = (command: string, origin: Origin = here()): string =>
  command.replace(/^vivarium\b/, program(origin));

/** The same in all command lines of a help text, which are indented. */
export function typedHelp(text: string, origin: Origin = here()): string {
  const own = program(origin);
  return text.replaceAll(/^( {2,}(?:\w+=\S+ )?)vivarium(?= |$)/gm, (_line, before: string) => `${before}${own}`);
}

/** Like `typed`, with the data folder, unless it is the default one or the command names one. */
export function ownCommand(dataDir: string, origin: Origin = here()): (command: string) => string {
  const isImplied = dataDir === impliedDataDir(origin);
  return (command) => {
    const words = typed(command, origin);
    return isImplied || command.includes(' --data-dir ')
      ? words
      : `${words} --data-dir ${shellWord(dataDir, origin.platform)}`;
  };
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
