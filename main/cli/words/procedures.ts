import { z } from 'zod';
import { nearest, suggest } from '../../contract/issues.ts';
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
  /** The words that call it: `domain set-primary`, `break off`. */
  words: string;
  summary: string;
  deed: Deed;
  inputType: z.ZodType;
  readonly input: JsonSchema;
}

type Definition = { '~orpc': { route: { summary?: string }; inputSchema?: unknown } };

const definitions = contract as unknown as Record<string, Record<string, Definition>>;

/** Namespaces that have no singular, and those that are shown in the plural: `run` is a command. */
const UNCOUNTED = ['status', 'dns', 'access', 'manners'];
const PLURALS = ['limits', 'settings', 'events', 'runs'];

const singularOf = (namespace: string): string =>
  UNCOUNTED.includes(namespace) ? namespace : namespace.replace(/s$/, '');

const wordFor = (namespace: string): string => (PLURALS.includes(namespace) ? namespace : singularOf(namespace));

/** The contract's name for a namespace's word, in the singular or the plural; null for any other word. */
const namespaceOf = (word: string): string | null =>
  Object.keys(definitions).find((namespace) => namespace === word || singularOf(namespace) === word) ?? null;

/** The words of the namespaces that have procedures of their own, without those that only a command calls. */
export const listNamespaces = (): string[] =>
  Object.keys(definitions)
    .map(wordFor)
    .filter((word) => listProcedures(word).length > 0);

/** The word by which help and messages name a namespace. */
export const shownWord = (word: string): string => wordFor(namespaceOf(word) ?? word);

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
export const procedureAlone = (word: string): CliProcedure | null =>
  allOf(word).find(({ deed }) => deed.isAlone === true) ?? null;

/** The one whose input may follow the namespace; null where there is none. */
export const procedureOtherwise = (word: string): CliProcedure | null =>
  allOf(word).find(({ deed }) => deed.isOtherwise === true) ?? null;

/**
 * The procedure that two words call: by the word of its deed, its name in the contract or its hyphenated name
 * (`set-primary`), else by a synonym of other command lines. Of several with one word, `args` has the option of the one
 * meant. Without such a procedure, the one whose input begins with `name`, which then is an argument.
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
  const same = SYNONYMS.get(name)?.find((each) => all.some((candidate) => candidate.name === each));
  if (same !== undefined) return procedureCalled(word, same, args);
  const other = procedureOtherwise(word);
  if (other !== null) return { procedure: other, isArgument: true };
  throw unknownProcedure(shownWord(word), name, namesOf(all));
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

/** @throws VivariumError `invalid_request` that suggests similar namespaces and `commands`. */
export function requireNamespace(name: string, commands: readonly string[]): void {
  if (namespaceOf(name) === null) throw unknownCommand(name, commands);
}

function unknownCommand(name: string, commands: readonly string[]): VivariumError {
  const near = nearest(name, [...listNamespaces(), ...commands]);
  const meant = suggest(near.length > 0 ? near : proceduresOf(name));
  return usageError(
    `There is no command ${JSON.stringify(name)}.${meant} "${typed('vivarium help --all')}" lists them all.`,
  );
}

/** Whether a procedure is named before its namespace, as other command lines have it: `list projects`. */
export const isVerbFirst = (word: string, next: string): boolean =>
  namespaceOf(word) === null && namespaceOf(next) !== null;

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

const REMOVALS = ['remove', 'revoke', 'forget', 'stop', 'close'];
const CREATIONS = ['create', 'attach', 'put'];

/** Words of other command lines, which work here without being shown: the first procedure that the namespace has. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['list']],
  ['show', ['get', 'explain']],
  ['rm', REMOVALS],
  ['delete', REMOVALS],
]);

/** Words whose meaning is a guess, which a message suggests. */
const SIMILAR: ReadonlyMap<string, readonly string[]> = new Map([
  ['add', CREATIONS],
  ['new', CREATIONS],
  ['edit', ['update']],
  ['set', ['update']],
  ['rm', ['clear']],
  ['delete', ['clear']],
]);

function unknownProcedure(namespace: string, name: string, names: readonly string[]): VivariumError {
  const meant = names.filter((each) => SIMILAR.get(name)?.includes(each) === true);
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
