import type { BreakEntry, RunningBreak } from '../../contract/breaks.ts';
import type { Drill } from '../../contract/drills.ts';
import type { ApiKey } from '../../contract/keys.ts';
import type { SnapshotInfo } from '../../contract/snapshots.ts';
import type { Project } from '../../contract/projects.ts';
import { resolveDataDir } from '../../base/system/data-dir.ts';
import { bashReplies, readBashLine } from './bash-line.ts';
import { callProcedure } from '../engine/client.ts';
import { findCommand, type Command, type LoadedCommand } from './command.ts';
import { describeField, SAME_FROM_FILE } from './field-help.ts';
import { fieldsOfWords, flagsOf, listFields, positionalsOf, type Field } from './fields.ts';
import { DATA_DIR_FLAG, HELP_FLAG, JSON_FLAG, PROCEDURE_FLAGS, type Option } from './flags.ts';
import { EXIT_OK, type Io } from '../text/io.ts';
import { alternativesOf, choicesOf } from './json-schema.ts';
import { findProcedure, kebab, listNamespaces, listProcedures, type CliProcedure } from './procedures.ts';
import { findRunning } from '../engine/running.ts';
import { printable } from '../text/text.ts';

export interface Candidate {
  value: string;
  does?: string;
}

/** The shell completes the names of files. */
export const FILES = ':files';

/** Names from a running Vivarium; each function rejects if none answers in time. */
export interface KnownNames {
  projects(): Promise<Candidate[]>;
  keys(): Promise<Candidate[]>;
  hostnames(): Promise<Candidate[]>;
  zones(): Promise<Candidate[]>;
  snapshots(): Promise<Candidate[]>;
  /** The entries of the catalogue, and the ids of running breaks. */
  entries(): Promise<Candidate[]>;
  breaks(): Promise<Candidate[]>;
  drills(): Promise<Candidate[]>;
}

/** How long completion waits for a running Vivarium, in milliseconds. */
const ANSWER_MS_MAX = 2_000;

const POWERSHELL = '--powershell=';

/** Projects whose keys are offered. */
const KEY_PROJECTS_MAX = 20;

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

const unique = (candidates: readonly Candidate[]): Candidate[] => [
  ...new Map(candidates.map((candidate) => [candidate.value, candidate])).values(),
];

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
  const [name, next, ...rest] = before;
  if (name === undefined) return current.startsWith('-') ? optionCandidates([DATA_DIR_FLAG, JSON_FLAG]) : top(commands);
  if (name === 'help') return next === undefined ? top(commands) : procedureCandidates(next);
  const command = findCommand(commands, name, next ?? (current.startsWith('-') ? undefined : 'procedure'));
  if (command !== undefined)
    return ofCommand(await command.load(), before.slice(1), current, { name: command.name, names });
  if (next === undefined) return current.startsWith('-') ? optionCandidates([HELP_FLAG]) : procedureCandidates(name);
  return ofProcedure(findProcedure(name, next), rest, current, names);
}

function top(commands: readonly Command[]): Candidate[] {
  const own = commands
    .filter(({ isHidden }) => isHidden !== true)
    .map(({ name, summary }) => ({ value: name, does: summary }));
  return [...own, ...listNamespaces().map((value) => ({ value, does: listProcedureNames(value).join(', ') }))];
}

const listProcedureNames = (namespace: string): string[] => listProcedures(namespace).map(({ name }) => kebab(name));

const procedureCandidates = (namespace: string): Candidate[] =>
  listProcedures(namespace).map(({ name, summary }) => ({ value: kebab(name), does: summary }));

const optionCandidates = (options: readonly Option[]): Candidate[] =>
  options.map(({ name, does }) => ({ value: `--${name}`, does }));

/** An entry or what else its first word may be; then the entry to print, the break to repair, or the hostname. */
async function ofBreak(
  before: readonly string[],
  wordCount: number,
  words: readonly string[],
  names: KnownNames,
): Promise<Candidate[]> {
  if (before.includes('off')) return names.breaks();
  const isList = before.includes('list');
  if (wordCount > 0 && !isList) return names.hostnames();
  const own = isList ? [] : words.map((value) => ({ value }));
  return [...own, ...(await names.entries().catch(() => []))];
}

async function ofCommand(
  { options, words = [], word, fileWord }: LoadedCommand,
  before: readonly string[],
  current: string,
  { name, names }: { name: string; names: KnownNames },
): Promise<Candidate[] | typeof FILES> {
  // Another program's words.
  if (before.includes('--')) return FILES;
  const open = options.find((option) => takesNext(before.at(-1) ?? '', [option]));
  if (open?.placeholder === 'PROJECT') return names.projects();
  if (open?.placeholder === 'HOSTNAME') return names.hostnames();
  if (open?.placeholder === 'KEY') return names.keys();
  if (open !== undefined) return isFile(open) ? FILES : [];
  if (current.startsWith('-')) return optionCandidates(options);
  const wordCount = before.filter(
    (word, index) => !word.startsWith('-') && !takesNext(before[index - 1] ?? '', options),
  ).length;
  if (name === 'snapshot' && wordCount === 1) return before.includes('list') ? [] : names.snapshots();
  if (name === 'break' && wordCount < 2) return ofBreak(before, wordCount, words, names);
  if (name === 'drill' && wordCount === 1) return before.includes('start') ? names.drills() : [];
  if (wordCount === fileWord) return FILES;
  if (wordCount > 0) return [];
  if (word === 'hostname') return names.hostnames();
  if (name !== 'call') return words.map((value) => ({ value }));
  return listNamespaces().flatMap((namespace) =>
    listProcedures(namespace).map((procedure) => ({
      value: `${namespace}.${procedure.name}`,
      does: procedure.summary,
    })),
  );
}

const takesNext = (word: string, options: readonly Option[]): boolean =>
  options.some(({ name, kind }) => kind === 'value' && word === `--${name}`);

const isFile = ({ placeholder }: Option): boolean => placeholder === 'FILE' || placeholder === 'DIR';

async function ofProcedure(
  procedure: CliProcedure,
  before: readonly string[],
  current: string,
  names: KnownNames,
): Promise<Candidate[] | typeof FILES> {
  const fields = listFields(procedure);
  const flags = [...flagsOf(fields), ...PROCEDURE_FLAGS];
  const given = new Set<string>();
  let wordCount = 0;
  let open: string | null = null;
  for (const word of before) {
    if (open !== null) open = null;
    else if (!word.startsWith('--')) wordCount++;
    else {
      const [name = ''] = word.slice(2).split('=');
      const flag = flags.find((candidate) => candidate.name === name || candidate.alias === name);
      given.add(flag?.name ?? name);
      open = flag?.kind === 'value' && !word.includes('=') ? flag.name : null;
    }
  }
  if (open !== null) {
    const field = fields.find(({ flag }) => flag === open);
    return field === undefined ? FILES : valuesOf(field, procedure, names);
  }
  if (current.startsWith('-')) {
    const own = fields.map((field) => ({ value: `--${field.flag}`, does: describeField(field, procedure.namespace) }));
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
  const values = await Promise.all([...new Set(meant)].map((field) => valuesOf(field, procedure, names)));
  return values.flat();
}

/** Procedures that create a named thing, so existing names are no candidates. */
const MAKES: ReadonlySet<string> = new Set(['domains.attach', 'zones.create']);

async function valuesOf({ schema, path }: Field, procedure: CliProcedure, names: KnownNames): Promise<Candidate[]> {
  const choices = alternativesOf(schema).flatMap((part) => choicesOf(part.items ?? part) ?? []);
  if (choices.length > 0) return choices.map((choice) => ({ value: String(choice) }));
  if (schema.title === 'project') return names.projects();
  if (schema.title === 'key') return names.keys();
  if (MAKES.has(`${procedure.namespace}.${procedure.name}`)) return [];
  const place = path.join('.');
  if (place === 'hostname') return names.hostnames();
  if (place === 'name' && procedure.namespace === 'snapshots') return names.snapshots();
  return place === 'zone' || (place === 'name' && procedure.namespace === 'zones') ? names.zones() : [];
}

/** Asks the Vivarium of the data folder that `words` or the environment name; none answering leaves a list empty. */
function createNames(words: readonly string[], io: Io): KnownNames {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const option = `--${DATA_DIR_FLAG.name}`;
  const index = words.lastIndexOf(option);
  const attached = words.findLast((word) => word.startsWith(`${option}=`))?.slice(option.length + 1);
  const dataDir = resolveDataDir(index < 0 ? attached : words[index + 1], io);
  const list = async <Row>(procedure: string, input: object = {}): Promise<Row[]> => {
    try {
      const reply = await callProcedure(findRunning(dataDir), procedure, JSON.stringify(input), signal);
      return reply.kind === 'result' ? (JSON.parse(reply.json) as Row[]) : [];
    } catch {
      return [];
    }
  };
  const projects = () => list<Project>('projects.list');
  return {
    projects: async () => (await projects()).map(({ slug, name, plan }) => ({ value: slug, does: `${name}, ${plan}` })),
    async keys() {
      const own = await Promise.all(
        (await projects()).slice(0, KEY_PROJECTS_MAX).map(async ({ id, slug }) => {
          const keys = await list<ApiKey>('keys.list', { projectId: id });
          return keys
            .filter(({ revokedAt }) => revokedAt === undefined)
            .map(({ name }) => ({ value: name, does: slug }));
        }),
      );
      return own.flat();
    },
    hostnames: async () =>
      (await list<{ hostname: string; state: string }>('domains.list')).map(({ hostname, state }) => ({
        value: hostname,
        does: state,
      })),
    zones: async () => (await list<{ name: string }>('zones.list')).map(({ name }) => ({ value: name })),
    entries: async () =>
      (await list<BreakEntry>('breaks.catalogue')).map(({ id, title }) => ({ value: id, does: title })),
    drills: async () => (await list<Drill>('drills.list')).map(({ id, title }) => ({ value: id, does: title })),
    breaks: async () => (await list<RunningBreak>('breaks.list')).map(({ id, entry }) => ({ value: id, does: entry })),
    snapshots: async () =>
      (await list<SnapshotInfo>('snapshots.list')).map(({ name, createdAt }) => ({ value: name, does: createdAt })),
  };
}
