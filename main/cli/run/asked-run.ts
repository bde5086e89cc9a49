import { resolveDataDir } from '../../base/system/data-dir.ts';
import { typed } from '../../base/system/own-command.ts';
import { posixWord } from '../../base/text/shell.ts';
import type { VivariumError } from '../../contract/errors.ts';
import { PROVIDER_IDS } from '../../contract/provider-table.ts';
import type { Io } from '../text/io.ts';
import {
  dashesIn,
  DATA_DIR_FLAG,
  HELP_FLAG,
  isOn,
  lastOf,
  readArguments,
  usageError,
  valueOption,
  switchOption,
} from '../words/flags.ts';
import { ALLOW_FLAG, allowedBy } from '../world/world-file.ts';

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
export const OPTIONS = [
  AS_FLAG,
  PORT_FLAG,
  PROJECT_FLAG,
  WILDCARD_FLAG,
  KEEP_HOST_FLAG,
  NO_ENV_FLAG,
  ALLOW_FLAG,
  DATA_DIR_FLAG,
  HELP_FLAG,
];

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

export function readAsked(args: readonly string[], io: Io) {
  const dashes = dashesIn(args);
  const read = readArguments(args.slice(0, dashes), OPTIONS);
  const command = args.slice(dashes + 1);
  const [word, ...others] = read.positionals;
  if (others.length > 0 && command.length === 0) throw noCommand(read.positionals);
  if (others.length > 0)
    throw usageError(
      `Unexpected argument ${JSON.stringify(others[0])}: one name or hostname, then -- and the command.`,
    );
  const text = lastOf(read, PORT_FLAG.name);
  const port = text === undefined ? null : portOf(text);
  if (text !== undefined && port === null) {
    throw usageError(`--port must be a number from 1 to 65535, not ${JSON.stringify(text)}.`);
  }
  const projectId = lastOf(read, PROJECT_FLAG.name);
  if (projectId !== undefined && word !== undefined && !word.includes('.')) {
    throw usageError(
      `--project names the project already; write a hostname or nothing in place of ${JSON.stringify(word)}.`,
    );
  }
  return {
    as: read.flags.get(AS_FLAG.name) ?? [],
    word,
    command,
    port,
    projectId,
    wildcard: isOn(read, WILDCARD_FLAG.name),
    keepHost: isOn(read, KEEP_HOST_FLAG.name),
    noEnv: isOn(read, NO_ENV_FLAG.name),
    allowed: allowedBy(read),
    dataDir: resolveDataDir(lastOf(read, DATA_DIR_FLAG.name), io),
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
