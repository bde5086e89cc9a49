import { resolveDataDir } from '../../base/system/data-dir.ts';
import { bashReplies, readBashLine } from './completion.ts';
import { callProcedure } from '../engine/client.ts';
import { findCommand, type Command, type LoadedCommand } from './command.ts';
import { FIRST_WORDS } from './first-help.ts';
import { describeField, SAME_FROM_FILE } from './help.ts';
import { deedOf } from './deeds.ts';
import { fieldsOfWords, firstWord, flagsOf, listFields, positionalsOf, type Field } from './fields.ts';
import {
  DATA_DIR_FLAG,
  dataDirIn,
  flagNamed,
  HELP_FLAG,
  JSON_FLAG,
  PROCEDURE_FLAGS,
  type Flag,
  type Option,
} from './flags.ts';
import { EXIT_OK, type Io } from '../text/io.ts';
import { alternativesOf, choicesOf } from './json-schema.ts';
import {
  type CliProcedure,
  listNamespaces,
  listProcedures,
  namesOf,
  procedureCalled,
  procedureNamed,
  procedureOtherwise,
  siblingsOf,
} from './procedures.ts';
import { findRunning } from '../engine/running.ts';
import { printable } from '../text/text.ts';

export interface Candidate {
  value: string;
  does?: string | undefined;
}

/** The shell completes the names of files. */
export const FILES = ':files';

/** The names in the list of a procedure, such as `projects.list`; rejects or is empty if none answers in time. */
export type KnownNames = (list: string) => Promise<Candidate[]>;

/** How long completion waits for a running Vivarium, in milliseconds. */
const ANSWER_MS_MAX = 2_000;

const POWERSHELL = '--powershell=';

/** Projects whose own lists are offered. */
const PROJECTS_MAX = 20;

/**
 * The hidden command `complete`, which the shells' scripts run: `complete -- WORD…` with the words after `vivarium`,
 * the last one being typed, `complete --powershell=WORDS` with tabs between them, or `complete --bash LINE`. Prints a
 * candidate a line, with what it does after a tab except for bash. Silent on every failure.
 */
export function createComplete(commands: readonly Command[]): LoadedCommand {
  return {
    options: [],
    help: () =>
      'vivarium complete: the candidates of a shell’s completion\n\nExamples\n  vivarium complete -- projects ""\n',
    async run([form = '', ...args], io) {
      try {
        const line = form === '--bash' ? readBashLine(args[0] ?? '') : null;
        const words = line?.words ?? (form.startsWith(POWERSHELL) ? form.slice(POWERSHELL.length).split('\t') : args);
        const found = await candidatesFor(words, commands, createNames(words, io));
        const shown = found === FILES ? [FILES] : line === null ? found.map(lineOf) : bashReplies(line, found);
        io.stdout.write(shown.map((text) => `${text}\n`).join(''));
      } catch {
        // A message would land in the line that is being typed.
      }
      return EXIT_OK;
    },
  };
}

const lineOf = ({ value, does }: Candidate): string =>
  printable(value) + (does === undefined || does === '' ? '' : `\t${printable(does)}`);

/** The candidates for the last of `words`, those that begin with it. */
export async function candidatesFor(
  words: readonly string[],
  commands: readonly Command[],
  names: KnownNames,
): Promise<Candidate[] | typeof FILES> {
  const current = words.at(-1) ?? '';
  const found = await anyFor(withoutLeading(words.slice(0, -1)), current, commands, names);
  return found === FILES ? found : unique(found).filter(({ value }) => value.startsWith(current));
}

/** The first of each: a command before the namespace of its name. */
function unique(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ value }) => !seen.has(value) && seen.add(value));
}

/** Options may also precede the command. */
function withoutLeading(words: readonly string[]): readonly string[] {
  const [first] = words;
  if (first === '--data-dir') return withoutLeading(words.slice(2));
  return first?.startsWith('--') === true ? withoutLeading(words.slice(1)) : words;
}

async function anyFor(
  before: readonly string[],
  current: string,
  commands: readonly Command[],
  names: KnownNames,
): Promise<Candidate[] | typeof FILES> {
  const [name, next] = before;
  if (name === undefined)
    return current.startsWith('-') ? optionCandidates([DATA_DIR_FLAG, JSON_FLAG]) : top(commands, current);
  const rest = before.slice(1);
  if (name === 'help') return next === undefined ? top(commands, current) : procedureCandidates(next);
  const command = findCommand(commands, name, next ?? (current.startsWith('-') ? undefined : 'procedure'));
  if (command !== undefined) return ofCommand(await command.load(), rest, current, { name: command.name, names });
  const at = firstWord(name, rest);
  const called = at < 0 ? null : procedureCalled(name, rest[at] ?? '', rest);
  if (called !== null) {
    return ofProcedure(called.procedure, called.isArgument ? rest : rest.toSpliced(at, 1), current, names);
  }
  if (current.startsWith('-')) return optionCandidates([HELP_FLAG]);
  const other = procedureOtherwise(name);
  const words = other === null ? [] : await ofProcedure(other, rest, current, names).catch(() => []);
  return [...procedureCandidates(name), ...(words === FILES ? [] : words)];
}

/** The first words that begin with `current`; the others only where none of those does. */
function top(commands: readonly Command[], current: string): Candidate[] {
  const all = [
    ...commands
      .filter(({ isHidden }) => isHidden !== true)
      .map(({ name, summary }) => ({ value: name, does: summary })),
    ...listNamespaces().map((value) => ({ value, does: namesOf(listProcedures(value)).join(', ') })),
  ].filter(({ value }) => value.startsWith(current));
  const first = FIRST_WORDS.flatMap((word) => all.find(({ value }) => value === word) ?? []);
  return first.length > 0 ? first : all;
}

const procedureCandidates = (word: string): Candidate[] =>
  listProcedures(word).flatMap(({ words, summary }) =>
    words.includes(' ') ? [{ value: words.split(' ')[1] ?? '', does: summary }] : [],
  );

const optionCandidates = (options: readonly Option[]): Candidate[] =>
  options.map(({ name, does }) => ({ value: `--${name}`, does }));

async function ofCommand(
  { options, words = [], names: list, fileWord }: LoadedCommand,
  before: readonly string[],
  current: string,
  { name, names }: { name: string; names: KnownNames },
): Promise<Candidate[] | typeof FILES> {
  // Another program's words.
  if (before.includes('--')) return FILES;
  const { open, wordCount } = stateAfter(before, options);
  if (open?.placeholder === 'PROJECT') return names('projects.list');
  if (open !== undefined) return isFile(open) ? FILES : [];
  if (current.startsWith('-')) return optionCandidates(options);
  if (wordCount === fileWord) return FILES;
  if (wordCount > 0) return [];
  if (list !== undefined) return names(list);
  if (name !== 'call') return words.map((value) => ({ value }));
  return listNamespaces().flatMap((namespace) =>
    listProcedures(namespace).map((procedure) => ({
      value: `${namespace}.${procedure.name}`,
      does: procedure.summary,
    })),
  );
}

/** What the words before the one being typed leave open: an option without its value, and how many words there are. */
function stateAfter<Known extends Flag>(before: readonly string[], flags: readonly Known[]) {
  const given = new Set<string>();
  let wordCount = 0;
  let open: Known | undefined;
  for (const word of before) {
    if (open !== undefined) open = undefined;
    else if (!/^--|^-[a-z]/i.test(word)) wordCount++;
    else {
      const [name = ''] = word.replace(/^--/, '').split('=');
      const flag = flagNamed(name, flags);
      given.add(flag?.name ?? name);
      open = flag?.kind === 'value' && !word.includes('=') ? flag : undefined;
    }
  }
  return { given, wordCount, open };
}

const isFile = ({ placeholder }: Option): boolean => placeholder === 'FILE' || placeholder === 'DIR';

async function ofProcedure(
  procedure: CliProcedure,
  before: readonly string[],
  current: string,
  names: KnownNames,
): Promise<Candidate[] | typeof FILES> {
  const fields = listFields(procedure);
  const flags = [...flagsOf(fields), ...PROCEDURE_FLAGS];
  const { given, wordCount, open } = stateAfter(before, flags);
  if (open !== undefined) {
    const field = fields.find(({ flag }) => flag === open.name);
    return field === undefined ? FILES : valuesOf(field, names);
  }
  if (current.startsWith('-')) {
    const others = siblingsOf(procedure).flatMap((other) =>
      listFields(other).filter(({ flag }) => flag === other.deed.by),
    );
    const own = [...fields, ...others]
      .filter(({ isSilent }) => !isSilent)
      .map((field) => ({ value: `--${field.flag}`, does: describeField(field, procedure.namespace) }));
    const files = fields.flatMap(({ fileFlag }) =>
      fileFlag === null ? [] : [{ value: `--${fileFlag}`, does: SAME_FROM_FILE }],
    );
    return [...own, ...files, ...optionCandidates(PROCEDURE_FLAGS)].filter(({ value }) => !given.has(value.slice(2)));
  }
  const positionals = positionalsOf(fields).filter(
    ({ flag, fileFlag }) => !given.has(flag) && !given.has(fileFlag ?? ''),
  );
  // The word may be the project, or what follows where the project is left out.
  const meant = [positionals[wordCount], fieldsOfWords(positionals, 0)[wordCount]].filter(
    (field) => field !== undefined,
  );
  const values = await Promise.all([...new Set(meant)].map((field) => valuesOf(field, names)));
  return values.includes(FILES) ? FILES : values.flat().filter((value) => value !== FILES);
}

async function valuesOf(field: Field, names: KnownNames): Promise<Candidate[] | typeof FILES> {
  const { schema, words } = field;
  const choices = alternativesOf(schema).flatMap((part) => choicesOf(part.items ?? part) ?? []);
  if (choices.length > 0) return choices.map((choice) => ({ value: String(choice) }));
  if (words.isFile === true) return FILES;
  const list = words.names === undefined ? listOf(field) : words.names;
  return list === null ? [] : names(list);
}

/** The list whose names an input has by its kind. */
function listOf({ schema: { title }, path }: Field): string | null {
  if (title === 'project' || title === 'key') return `${title}s.list`;
  const place = path.join('.');
  return place === 'hostname' || place === 'on.hostname' ? 'domains.list' : place === 'zone' ? 'zones.list' : null;
}

const offered = (list: string, rows: readonly unknown[], project?: string): Candidate[] =>
  rows.flatMap((row) => {
    const [value, does = project] = deedOf(list).offers?.(row) ?? [];
    return value === undefined ? [] : [{ value, does }];
  });

/** Asks the Vivarium of the data folder that `words` or the environment name; none answering leaves a list empty. */
function createNames(words: readonly string[], io: Io): KnownNames {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const dataDir = resolveDataDir(dataDirIn(words), io);
  const ask = async (procedure: string, input: object = {}): Promise<readonly unknown[]> => {
    const reply = await callProcedure(findRunning(dataDir), procedure, JSON.stringify(input), signal);
    return reply.kind === 'result' ? (JSON.parse(reply.json) as unknown[]) : [];
  };
  return async function namesIn(list: string): Promise<Candidate[]> {
    try {
      const isOfProject = procedureNamed(list).input.required?.includes('projectId') === true;
      if (!isOfProject) return offered(list, await ask(list));
      const projects = (await namesIn('projects.list')).slice(0, PROJECTS_MAX);
      const all = projects.map(async ({ value }) => offered(list, await ask(list, { projectId: value }), value));
      return (await Promise.all(all)).flat();
    } catch {
      return [];
    }
  };
}
