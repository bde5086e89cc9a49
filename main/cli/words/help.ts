import { findCommand, type Command, type LoadedCommand } from './command.ts';
import { describeField, placeholder, SAME_FROM_FILE } from './field-help.ts';
import { examplesOf } from './samples.ts';
import { isSwitch, listFields, type Field, usageWord } from './fields.ts';
import { DATA_DIR_FLAG, HELP_FLAG, JSON_FLAG, optionRows, PROCEDURE_FLAGS, readArguments } from './flags.ts';
import { EXIT_OK, printFailure, writeHelp, type Io } from '../text/io.ts';
import { EXIT_CODES_TOPIC, exitCodesHelp } from './exit-codes.ts';
import { DEFAULT_PROJECT_RULE } from './default-project.ts';
import {
  type CliProcedure,
  findProcedure,
  listNamespaces,
  listProcedures,
  namesOf,
  procedureAlone,
  requireNamespace,
} from './procedures.ts';
import { columns, wrap } from '../text/text.ts';

const indent = (lines: readonly string[]): string => lines.map((line) => `  ${line}`.trimEnd()).join('\n');

/** Line width of sentences, in cells. */
const HELP_WIDTH = 100;

const CLIENT_OPTIONS = columns(optionRows(PROCEDURE_FLAGS));

/** The command `help`, for the commands of the table. */
export function createHelp(commands: readonly Command[]): LoadedCommand {
  return {
    options: [],
    help: () => generalHelp(commands),
    async run(args, io) {
      try {
        const topics = readArguments(args, [DATA_DIR_FLAG, JSON_FLAG, HELP_FLAG]).positionals;
        writeHelp(await helpOn(topics, commands, io), io);
        return EXIT_OK;
      } catch (error) {
        return printFailure(error, args, io);
      }
    },
  };
}

async function helpOn([name, procedure]: readonly string[], commands: readonly Command[], io: Io): Promise<string> {
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

/** The help of a namespace, or of one of its procedures. */
export const helpFor = (namespace: string, name?: string): string =>
  name === undefined ? namespaceHelp(namespace) : procedureHelp(findProcedure(namespace, name));

/** Text of `vivarium help`. */
export function generalHelp(commands: readonly Command[]): string {
  const usages = [
    ...commands
      .filter(({ isHidden }) => isHidden !== true)
      .map(({ name, usage, summary }) => [`vivarium ${name} ${usage}`.trimEnd(), summary]),
    ['vivarium <namespace> <procedure> [options]', 'Call the running Vivarium; readable output'],
  ];
  const namespaces = listNamespaces().map((word) => [word, namesOf(listProcedures(word)).join(', ')]);
  return `vivarium: the Animal Store API, or your own server, on this machine

Usage
${indent(columns(usages))}

Namespaces
${indent(columns(namespaces))}

Arguments of a procedure
  Required inputs may be given without their options, in the order of the usage line.
${indent(wrap(`[PROJECT] may be omitted and is then ${DEFAULT_PROJECT_RULE}.`, HELP_WIDTH))}

Options of every procedure
${indent(CLIENT_OPTIONS)}

More
${indent(columns([[`vivarium help ${EXIT_CODES_TOPIC}`, 'What the exit codes mean: 0 done, 1 failed, 2 not running']]))}

Examples
  vivarium serve --data-dir ./vivarium-data
  vivarium status
  vivarium doctor
  vivarium projects create Aquarium --plan pro
  vivarium call projects.list
`;
}

/** Text of `vivarium pets`. */
export function namespaceHelp(word: string): string {
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

/** Text of `vivarium pets create --help`. */
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
const valueWord = ({ schema, words: { placeholder: own, isFile } }: Field): string =>
  isSwitch(schema) ? '' : ` ${own ?? (isFile === true ? 'FILE' : placeholder(schema))}`;

function fieldRows(field: Field, namespace: string): string[][] {
  const isPart = field.path.length > 1 && field.flag.includes('.');
  const name = `${isPart ? '  ' : ''}--${field.flag}${valueWord(field)}`;
  const allowed = describeField(field, namespace) + (field.defaulted ? `; default: ${DEFAULT_PROJECT_RULE}` : '');
  const rows = [[name, field.required && !field.defaulted ? 'required' : '', allowed]];
  if (field.fileFlag !== null) rows.push([`--${field.fileFlag} FILE`, '', SAME_FROM_FILE]);
  return rows;
}
