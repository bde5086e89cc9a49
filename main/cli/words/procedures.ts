import { z } from 'zod';
import { nearest, suggest } from '../../contract/nearest.ts';
import { typed } from '../../base/system/own-command.ts';
import type { VivariumError } from '../../contract/errors.ts';
import { contract } from '../../contract/index.ts';
import type { Deed } from './deed.ts';
import { deedOf } from './deeds.ts';
import { usageError } from './flags.ts';
import { toJsonSchema, type JsonSchema } from './json-schema.ts';

/** One procedure of the contract, as the command line shows it. */
export interface CliProcedure {
  namespace: string;
  /** The contract's spelling: `setPrimary`. */
  name: string;
  /** The words that call it: `domains set-primary`, `break off`. */
  words: string;
  summary: string;
  deed: Deed;
  inputType: z.ZodType;
  readonly input: JsonSchema;
}

type Definition = { '~orpc': { route: { summary?: string }; inputSchema?: unknown } };

const definitions = contract as unknown as Record<string, Record<string, Definition>>;

/** Namespaces that the command line calls otherwise, or that do something alone. */
const NOUNS: Readonly<Record<string, Noun | undefined>> = {
  breaks: { word: 'break', alone: 'list', otherwise: 'start' },
  drills: { word: 'drill', alone: 'list' },
  snapshots: { word: 'snapshot' },
  traffic: { alone: 'list' },
};

interface Noun {
  /** Its word in the singular; the contract's own name works too. */
  word?: string;
  /** The procedure that it calls without another word; its help lists them all. */
  alone?: string;
  /** The one whose input begins with a word that names no procedure. */
  otherwise?: string;
}

const wordFor = (namespace: string): string => NOUNS[namespace]?.word ?? namespace;

/** The contract's name for a namespace's word; null for any other word. */
function namespaceOf(word: string): string | null {
  if (Object.hasOwn(definitions, word)) return word;
  return Object.keys(NOUNS).find((namespace) => wordFor(namespace) === word) ?? null;
}

/** The words of the namespaces that have procedures of their own, without those that only a command calls. */
export const listNamespaces = (): string[] =>
  Object.keys(definitions)
    .map(wordFor)
    .filter((word) => listProcedures(word).length > 0);

export const listProcedures = (word: string): CliProcedure[] =>
  allOf(word).filter(({ deed }) => deed.command === undefined);

function allOf(word: string): CliProcedure[] {
  const namespace = namespaceOf(word);
  if (namespace === null) throw unknownCommand(word, []);
  return Object.entries(definitions[namespace] ?? {}).map(([name, definition]) => read(namespace, name, definition));
}

/** A procedure by its name in the contract, such as `traffic.get`. @throws VivariumError `invalid_request` */
export function procedureNamed(called: string): CliProcedure {
  const [namespace = '', name = ''] = called.split('.');
  return findProcedure(namespace, name);
}

/** The procedure that a namespace alone calls; null where it has none. */
export const procedureAlone = (word: string): CliProcedure | null => ofNoun(word, 'alone');

/** The one whose input may follow the namespace; null where there is none. */
export const procedureOtherwise = (word: string): CliProcedure | null => ofNoun(word, 'otherwise');

function ofNoun(word: string, which: 'alone' | 'otherwise'): CliProcedure | null {
  const name = NOUNS[namespaceOf(word) ?? '']?.[which];
  return allOf(word).find((each) => each.name === name) ?? null;
}

/**
 * The procedure that two words call: by the word of its deed, its name in the contract or its hyphenated name
 * (`set-primary`). Of several with one word, `args` has the option of the one meant. Without such a procedure, the one
 * whose input begins with `name`, which then is an argument.
 */
export function procedureCalled(
  word: string,
  name: string,
  args: readonly string[],
): { procedure: CliProcedure; isArgument: boolean } {
  const all = allOf(word);
  const byName = all.filter((each) => each.name === name || kebab(each.name) === name);
  const byWord = all.filter(({ deed }) => deed.words === name && name !== '');
  const found = word === all[0]?.namespace && byName.length > 0 ? byName : [...byWord, ...byName];
  const given = (option = '') => args.some((arg) => arg === `--${option}` || arg.startsWith(`--${option}=`));
  const procedure =
    found.find(({ deed }) => given(deed.by)) ?? found.find(({ deed }) => deed.by === undefined) ?? found[0];
  if (procedure !== undefined) return { procedure, isArgument: false };
  const other = procedureOtherwise(word);
  if (other !== null) return { procedure: other, isArgument: true };
  throw unknownProcedure(word, name, namesOf(all));
}

/** The words after that of the namespace, each once. */
export const namesOf = (procedures: readonly CliProcedure[]): string[] => [
  ...new Set(procedures.flatMap(({ words }) => words.split(' ').slice(1, 2))),
];

export const findProcedure = (word: string, name: string): CliProcedure => procedureCalled(word, name, []).procedure;

/** Others of the same words, which an option tells from it. */
export const siblingsOf = ({ namespace, name, words }: CliProcedure): CliProcedure[] =>
  allOf(namespace).filter((each) => each.name !== name && each.words === words && each.deed.by !== undefined);

/** `perMinute` becomes `per-minute`. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * @param next the following word: `projects` of `list projects`, as other command lines have it
 * @throws VivariumError `invalid_request` that suggests similar namespaces and `commands`.
 */
export function requireNamespace(name: string, commands: readonly string[], next?: string): void {
  if (namespaceOf(name) === null) throw unknownCommand(name, commands, next);
}

function unknownCommand(name: string, commands: readonly string[], next = ''): VivariumError {
  const turned = turnedRound(name, next);
  const near = nearest(name, [...listNamespaces(), ...commands]);
  const meant = suggest(turned.length > 0 ? turned : near.length > 0 ? near : proceduresOf(name));
  return usageError(`There is no command ${JSON.stringify(name)}.${meant} "${typed('vivarium help')}" lists them all.`);
}

/** `projects list` for `list projects`, `list project` and `ls projects`. */
function turnedRound(verb: string, noun: string): string[] {
  const namespace = listNamespaces().find((each) => each === noun || each === `${noun}s`);
  if (namespace === undefined) return [];
  return meantBy(verb, namesOf(listProcedures(namespace))).map((name) => `${namespace} ${name}`);
}

/** The names that are a word, or what other command lines call it. */
const meantBy = (word: string, names: readonly string[]): string[] =>
  names.filter((name) => name === word || SYNONYMS.get(word)?.includes(name) === true);

/** Maximum number of suggestions. */
const MEANT_MAX = 3;

/** Procedures with the name of an unknown command: `ca trust` for `trust`. */
function proceduresOf(name: string): string[] {
  const found = listNamespaces().flatMap((namespace) =>
    namesOf(listProcedures(namespace))
      .filter((procedure) => procedure === name)
      .map((procedure) => `${namespace} ${procedure}`),
  );
  return found.length > MEANT_MAX ? [] : found;
}

const REMOVALS = ['remove', 'revoke', 'forget', 'clear'];
const CREATIONS = ['create', 'attach', 'put'];

/** Synonyms from other command lines. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['add', CREATIONS],
  ['new', CREATIONS],
  ['delete', REMOVALS],
  ['rm', REMOVALS],
  ['ls', ['list']],
  ['show', ['get', 'explain']],
  ['edit', ['update']],
  ['set', ['update']],
]);

function unknownProcedure(namespace: string, name: string, names: readonly string[]): VivariumError {
  const meant = meantBy(name, names);
  const all = names.length === 0 ? '' : ` ${names.length === 1 ? 'There is only' : 'There are'} ${names.join(', ')}.`;
  return usageError(
    `${namespace} has no procedure ${JSON.stringify(name)}.${suggest(meant.length > 0 ? meant : nearest(name, names))}${all}`,
  );
}

function read(namespace: string, name: string, definition: Definition): CliProcedure {
  const { route, inputSchema } = definition['~orpc'];
  const inputType = inputSchema instanceof z.ZodType ? inputSchema : z.undefined();
  let schema: JsonSchema | undefined;
  const deed = deedOf(`${namespace}.${name}`);
  return {
    namespace,
    name,
    words: deed.command ?? `${wordFor(namespace)} ${deed.words ?? kebab(name)}`.trimEnd(),
    deed,
    summary: route.summary ?? '',
    inputType,
    // Lists of procedures do without it, and a shell's completion waits for them.
    get input() {
      return (schema ??= toJsonSchema(inputType));
    },
  };
}
