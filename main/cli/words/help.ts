import { findCommand, type Command } from './command.ts';
import { examplesOf, sample } from './samples.ts';
import { isSwitch, listFields, type Field, usageWord } from './fields.ts';
import { optionRows, PROCEDURE_FLAGS } from './flags.ts';
import { EXIT_OK, type Io, EXIT_FAILED, EXIT_NOT_RUNNING } from '../text/io.ts';
import { DEFAULT_PROJECT_RULE } from './default-project.ts';
import {
  type CliProcedure,
  findProcedure,
  listNamespaces,
  listProcedures,
  namesOf,
  procedureAlone,
  requireNamespace,
  shownWord,
  procedureNamed,
} from './procedures.ts';
import { columns, indent, wrap } from '../text/text.ts';
import { posixWord } from '../../base/text/shell.ts';
import { accepts, alternativesOf, choicesOf, itemOf, type JsonSchema } from './json-schema.ts';
import { ALL_DEEDS, deedOf } from './deeds.ts';

/** Line width of sentences, in cells. */
const HELP_WIDTH = 100;

const CLIENT_OPTIONS = columns(optionRows(PROCEDURE_FLAGS));

/** Text of `vivarium help` with a topic, or with `--all`. */
export async function helpOn(
  [name, procedure]: readonly string[],
  commands: readonly Command[],
  io: Io,
): Promise<string> {
  if (name === undefined) return generalHelp(commands);
  if (name === EXIT_CODES_TOPIC) return exitCodesHelp();
  const command = findCommand(commands, name, procedure);
  if (command !== undefined) return (await command.load()).help(io);
  requireNamespace(
    name,
    commands.map((own) => own.name),
  );
  return helpFor(name, procedure);
}

export const helpFor = (namespace: string, name?: string): string =>
  name === undefined ? namespaceHelp(namespace) : procedureHelp(findProcedure(namespace, name));

/** Text of `vivarium help --all`. */
export function generalHelp(commands: readonly Command[]): string {
  const shown = commands.filter(({ isHidden }) => isHidden !== true);
  const rows = shown.map(({ name, usage, summary }) => [`${name} ${usage}`.trimEnd(), summary]);
  const isNew = (word: string) => !shown.some(({ name }) => name === word);
  const namespaces = listNamespaces().flatMap((word) =>
    isNew(word) ? [[word, namesOf(listProcedures(word)).join(', ')]] : [],
  );
  return `vivarium: the Animal Store API, or your own server, on this machine

Usage
  vivarium COMMAND …
  vivarium NAMESPACE PROCEDURE [options]

Commands
${indent(columns(rows))}

Namespaces
${indent(columns(namespaces))}

Arguments of a procedure
  Required inputs may be given without their options, in the order of the usage line.
${indent(wrap(`[PROJECT] may be omitted and is then ${DEFAULT_PROJECT_RULE}.`, HELP_WIDTH))}

Options of every procedure
${indent(CLIENT_OPTIONS)}

More
${indent(columns([[`help ${EXIT_CODES_TOPIC}`, 'What the exit codes mean: 0 done, 1 failed, 2 not running']]))}

Examples
  vivarium start --data-dir ./vivarium-data
  vivarium status
  vivarium doctor
  vivarium project create Aquarium --plan pro
  vivarium call projects.list
`;
}

/** Text of `vivarium pet`. */
export function namespaceHelp(name: string): string {
  const word = shownWord(name);
  const procedures = listProcedures(word);
  const alone = procedureAlone(word);
  const isShort = alone !== null && alone.words !== word;
  const rows = procedures.map((procedure) => [
    titleOf(procedure).slice(word.length + 1) || '(alone)',
    procedure.summary,
  ]);
  return `vivarium ${word}

Usage
  vivarium ${word} <procedure> [options]${isShort ? `\n  vivarium ${word} [options], short for "${alone.words}"` : ''}

Procedures
${indent(columns(rows))}

Options of every procedure
${indent(CLIENT_OPTIONS)}

Examples
${indent(procedures.flatMap((procedure) => (procedure.deed.examples ?? examplesOf(procedure)).slice(0, 1)))}
  vivarium ${procedures[0]?.words ?? word} --help
`;
}

/** Text of `vivarium pet create --help`. */
export function procedureHelp(procedure: CliProcedure): string {
  const { namespace, words, summary, deed } = procedure;
  const fields = listFields(procedure).filter(({ isSilent }) => !isSilent);
  const input =
    fields.length === 0 ? '' : `Input\n${indent(columns(fields.flatMap((field) => fieldRows(field, namespace))))}\n\n`;
  return `vivarium ${titleOf(procedure)}: ${summary}

Usage
  vivarium ${words}${usageOf(procedure)}

${input}Options
${indent(CLIENT_OPTIONS)}

${deed.notes === undefined ? '' : `${indent(deed.notes)}\n\n`}Examples
${indent(deed.examples ?? examplesOf(procedure))}
`;
}

/** What names a procedure: its words with the option that tells it from others, or with its first input. */
export function titleOf(procedure: CliProcedure): string {
  const { words, deed } = procedure;
  const isLong = words.includes(' ');
  return `${words}${deed.by === undefined ? '' : ` --${deed.by}`}${isLong ? '' : usageOf(procedure).split(' [')[0]}`;
}

function usageOf(procedure: CliProcedure): string {
  const fields = listFields(procedure);
  const { by } = procedure.deed;
  const shown = fields.filter((field) => field.required || field.positional || field.flag === by);
  const words = shown.map((field) => {
    if (!field.positional) return ` --${field.flag}${valueWord(field)}`;
    return field.defaulted || !field.required ? ` [${usageWord(field)}]` : ` ${usageWord(field)}`;
  });
  return words.join('') + (fields.length > shown.length ? ' [options]' : '');
}

/** The word for a value, after a space; none for a switch. */
const valueWord = ({ schema, words: { placeholder: own, isFile, isContent } }: Field): string =>
  isSwitch(schema) ? '' : ` ${own ?? (isFile === true || isContent === true ? 'FILE' : placeholder(schema))}`;

function fieldRows(field: Field, namespace: string): string[][] {
  const isPart = field.path.length > 1 && field.flag.includes('.');
  const name = `${isPart ? '  ' : ''}--${field.flag}${valueWord(field)}`;
  const allowed = describeField(field, namespace) + (field.defaulted ? `; default: ${DEFAULT_PROJECT_RULE}` : '');
  const rows = [[name, field.required && !field.defaulted ? 'required' : '', allowed]];
  if (field.fileFlag !== null) rows.push([`--${field.fileFlag} FILE`, '', SAME_FROM_FILE]);
  return rows;
}

/** What an option does that reads a value from a file. */
export const SAME_FROM_FILE = 'the same from a file; - is standard input';

/** The word that stands for a value in a usage line and in a list of options. */
export function placeholder(schema: JsonSchema): string {
  if (choicesOf(schema) !== null) return 'WORD';
  if (accepts(schema, 'object')) return accepts(schema, 'string') ? 'TEXT' : 'JSON';
  if (accepts(schema, 'array')) return placeholder(itemOf(schema));
  if (schema.format === 'int64') return 'INTEGER';
  if (accepts(schema, 'string')) return 'TEXT';
  return 'NUMBER';
}

/** Describes a field of an input of `namespace`: choices, what it does, bounds or an example, and the default. */
export function describeField({ schema, path, words }: Field, namespace: string): string {
  if (words.does !== undefined) return words.does;
  const item = accepts(schema, 'array') ? itemOf(schema) : schema;
  const both = [...new Set([schema, item])];
  const said = [
    both.flatMap(alternativesOf).flatMap(choicesOrNone).map(String).join(', '),
    ...both.flatMap(alternativesOf).map(({ description = '' }) => description),
    choicesOf(item) === null ? boundsOf(item) : '',
  ].filter((part) => part !== '');
  const hasParts = schema.properties !== undefined || schema.oneOf !== undefined;
  const example =
    item.examples?.[0] ?? (said.length === 0 ? firstOf(sample(schema, path.at(-1) ?? '', namespace)) : null);
  const parts = [
    ...said,
    isSwitch(schema) || hasParts || choicesOf(item) !== null || example === null ? '' : suchAs(example),
    accepts(schema, 'array') ? 'may be given more than once' : '',
    hasParts ? 'the whole value, instead of its parts' : '',
    // Switches and lists are unset by default.
    schema.default === undefined || schema.default === false || accepts(schema, 'object')
      ? ''
      : `default ${String(schema.default)}`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}

const choicesOrNone = (schema: JsonSchema): unknown[] => choicesOf(schema) ?? [];

const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);

const suchAs = (example: unknown): string =>
  `such as ${posixWord(typeof example === 'object' ? JSON.stringify(example) : String(example))}`;

const LENGTH_SHOWN_MAX = 100;

/** How to name what a schema of this title refers to. */
export const REFERENCES: ReadonlyMap<string, string> = new Map([
  ['project', 'an id, a slug or a name'],
  ['key', 'an id or a name'],
]);

function boundsOf(schema: JsonSchema): string {
  const { minimum, maximum, minLength, maxLength, format, title } = schema;
  const count = (value: number) => value.toLocaleString('en');
  if (format === 'int64') return 'an integer of 64 bits';
  if (format === 'uri') return 'a URL';
  const reference = REFERENCES.get(title ?? '');
  if (reference !== undefined) return reference;
  if (minimum !== undefined && maximum !== undefined) return `${count(minimum)} to ${count(maximum)}`;
  // Larger bounds do not help: only a mistake exceeds them.
  if (maxLength !== undefined && maxLength > LENGTH_SHOWN_MAX) return '';
  if (minLength !== undefined && maxLength !== undefined)
    return `${count(minLength)} to ${count(maxLength)} characters`;
  if (maxLength !== undefined) return `at most ${count(maxLength)} characters`;
  return '';
}

export const EXIT_CODES_TOPIC = 'exit-codes';

export const EXIT_CODES: readonly (readonly [code: number, commands: string, meaning: string])[] = [
  [EXIT_OK, 'all', 'done; also when a stream is interrupted or its reader goes away'],
  [EXIT_OK, 'start -d', 'also when a Vivarium is already running on the data folder'],
  [EXIT_FAILED, 'all', 'usage error, the command was refused, or its result is a failure, see below'],
  [EXIT_FAILED, 'doctor', 'a check failed; warnings are 0'],
  [EXIT_FAILED, 'up --check', 'something is wrong with the file'],
  [EXIT_FAILED, 'wait', 'the time limit passed before a Vivarium was serving'],
  [EXIT_FAILED, 'rehearse', 'a step failed, or an expectation was not met'],
  [EXIT_FAILED, 'examine', 'a row is wrong or hung, or not what its "expect" says'],
  [EXIT_FAILED, 'run', 'the command could not be served; else its own exit code'],
  [
    EXIT_NOT_RUNNING,
    'all but start, run, rehearse, examine, init, mcp, wait, up --check, logs and doctor',
    'no Vivarium is running on the data folder',
  ],
  [EXIT_NOT_RUNNING, 'rehearse, examine', 'it could not run: the file has a fault, or the engine did not start'],
];

/**
 * The procedures whose result can report a failure. A refusal, such as `certificates.renew` against CAA, is not a
 * result and always exits with 1. `vivarium call` exits with 0 whenever there is a result.
 */
const FAILED_RESULTS = [...ALL_DEEDS].flatMap(([called, { failed }]) =>
  failed === undefined ? [] : [[called, failed[0]]],
);

/** The exit code for a result of `procedure`, such as `deploys.create`. */
export function exitCodeFor(procedure: string, json: string, asked: Readonly<Record<string, unknown>> = {}): number {
  const failed = deedOf(procedure).failed?.[1](JSON.parse(json), asked) ?? false;
  return typeof failed === 'number' ? failed : failed ? EXIT_FAILED : EXIT_OK;
}

export const exitCodesHelp = (): string => `vivarium: exit codes

${indent(columns(EXIT_CODES.map(([code, ...rest]) => [String(code), ...rest])))}

Results that are failures; "vivarium call" exits with 0 for them
${indent(columns(FAILED_RESULTS.map(([called = '', when = '']) => [procedureNamed(called).words, when])))}
`;
