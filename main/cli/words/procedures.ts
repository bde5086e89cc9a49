import { z } from 'zod';
import { nearest, suggest } from '../../contract/nearest.ts';
import { typed } from '../../base/system/own-command.ts';
import type { VivariumError } from '../../contract/errors.ts';
import { contract } from '../../contract/index.ts';
import { usageError } from './flags.ts';
import { toJsonSchema, type JsonSchema } from './json-schema.ts';

/** One procedure of the contract, as the command line shows it. */
export interface CliProcedure {
  namespace: string;
  /** The contract's spelling: `setPrimary`. */
  name: string;
  summary: string;
  inputType: z.ZodType;
  /** JSON Schema of the input. */
  readonly input: JsonSchema;
}

type Definition = { '~orpc': { route: { summary?: string }; inputSchema?: unknown } };

const definitions = contract as unknown as Record<string, Record<string, Definition>>;

export const listNamespaces = (): string[] => Object.keys(definitions);

export function listProcedures(namespace: string): CliProcedure[] {
  return Object.entries(definitionsOf(namespace)).map(([name, definition]) => read(namespace, name, definition));
}

/** Finds a procedure by its contract name or its hyphenated name (`set-primary`). */
export function findProcedure(namespace: string, name: string): CliProcedure {
  const procedures = definitionsOf(namespace);
  const found = Object.keys(procedures).find((candidate) => candidate === name || kebab(candidate) === name);
  const definition = found === undefined ? undefined : procedures[found];
  if (found === undefined || definition === undefined)
    throw unknownProcedure(namespace, name, Object.keys(procedures).map(kebab));
  return read(namespace, found, definition);
}

/** `perMinute` becomes `per-minute`. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function definitionsOf(namespace: string): Record<string, Definition> {
  const procedures = Object.hasOwn(definitions, namespace) ? definitions[namespace] : undefined;
  if (procedures !== undefined) return procedures;
  throw unknownCommand(namespace, []);
}

/** The procedure that a namespace alone calls; its help lists them all. */
export const ALONE: Readonly<Record<string, string>> = { traffic: 'list' };

/**
 * @param next the following word: `projects` of `list projects`, as other command lines have it
 * @throws VivariumError `invalid_request` that suggests similar namespaces and `commands`.
 */
export function requireNamespace(name: string, commands: readonly string[], next?: string): void {
  if (!Object.hasOwn(definitions, name)) throw unknownCommand(name, commands, next);
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
  const names = Object.keys(definitionsOf(namespace)).map(kebab);
  return meantBy(verb, names).map((name) => `${namespace} ${name}`);
}

/** The names that are a word, or what other command lines call it. */
const meantBy = (word: string, names: readonly string[]): string[] =>
  names.filter((name) => name === word || SYNONYMS.get(word)?.includes(name) === true);

/** Maximum number of suggestions. */
const MEANT_MAX = 3;

/** Procedures with the name of an unknown command: `ca trust` for `trust`. */
function proceduresOf(name: string): string[] {
  const found = listNamespaces().flatMap((namespace) =>
    Object.keys(definitionsOf(namespace))
      .map(kebab)
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
  const all = `${names.length === 1 ? 'There is only' : 'There are'} ${names.join(', ')}.`;
  return usageError(
    `${namespace} has no procedure ${JSON.stringify(name)}.${suggest(meant.length > 0 ? meant : nearest(name, names))} ${all}`,
  );
}

function read(namespace: string, name: string, definition: Definition): CliProcedure {
  const { route, inputSchema } = definition['~orpc'];
  const inputType = inputSchema instanceof z.ZodType ? inputSchema : z.undefined();
  let schema: JsonSchema | undefined;
  return {
    namespace,
    name,
    summary: route.summary ?? '',
    inputType,
    // Lists of procedures do without it, and a shell's completion waits for them.
    get input() {
      return (schema ??= toJsonSchema(inputType));
    },
  };
}
