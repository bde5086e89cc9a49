import { findCommand, type Command, type LoadedCommand } from './command.ts';
import { describeField, placeholder, SAME_FROM_FILE } from './field-help.ts';
import { examplesOf } from './samples.ts';
import { isSwitch, listFields, type Field, usageWord } from './fields.ts';
import { DATA_DIR_FLAG, HELP_FLAG, JSON_FLAG, optionRows, PROCEDURE_FLAGS, readArguments } from './flags.ts';
import { EXIT_OK, printFailure, writeHelp, type Io } from '../text/io.ts';
import { EXIT_CODES_TOPIC, exitCodesHelp } from './exit-codes.ts';
import { DEFAULT_PROJECT_RULE } from './default-project.ts';
import { ALONE, findProcedure, kebab, listNamespaces, listProcedures, requireNamespace } from './procedures.ts';
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
  const names = commands.map((own) => own.name);
  requireNamespace(name, names);
  return procedure === undefined ? namespaceHelp(name) : procedureHelp(name, procedure);
}

/** Text of `vivarium help`. */
export function generalHelp(commands: readonly Command[]): string {
  const usages = [
    ...commands
      .filter(({ isHidden }) => isHidden !== true)
      .map(({ name, usage, summary }) => [`vivarium ${name} ${usage}`.trimEnd(), summary]),
    ['vivarium <namespace> <procedure> [options]', 'Call the running Vivarium; readable output'],
  ];
  const namespaces = listNamespaces().map((namespace) => [
    namespace,
    listProcedures(namespace)
      .map(({ name }) => kebab(name))
      .join(', '),
  ]);
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
  vivarium status get
  vivarium doctor
  vivarium projects create Aquarium --plan pro
  vivarium call projects.list
`;
}

/** Text of `vivarium pets`. */
export function namespaceHelp(namespace: string): string {
  const procedures = listProcedures(namespace);
  const first = procedures[0];
  const alone = ALONE[namespace];
  return `vivarium ${namespace}

Usage
  vivarium ${namespace} <procedure> [options]${alone === undefined ? '' : `\n  vivarium ${namespace} [options], short for "${namespace} ${alone}"`}

Procedures
${indent(columns(procedures.map(({ name, summary }) => [kebab(name), summary])))}

Examples
${indent(procedures.flatMap((procedure) => examplesOf(procedure).slice(0, 1)))}
  vivarium ${namespace} ${kebab(first?.name ?? '')} --help
`;
}

/** Text of `vivarium pets create --help`. */
export function procedureHelp(namespace: string, name: string): string {
  const procedure = findProcedure(namespace, name);
  const fields = listFields(procedure);
  const input =
    fields.length === 0 ? '' : `Input\n${indent(columns(fields.flatMap((field) => fieldRows(field, namespace))))}\n\n`;
  return `vivarium ${namespace} ${kebab(procedure.name)}: ${procedure.summary}

Usage
  vivarium ${namespace} ${kebab(procedure.name)}${usageOf(fields)}

${input}Options
${indent(CLIENT_OPTIONS)}

Examples
${indent(examplesOf(procedure))}
`;
}

function usageOf(fields: readonly Field[]): string {
  const shown = fields.filter((field) => field.required || field.positional);
  const words = shown.map((field) => {
    if (!field.positional) return ` --${field.flag} ${placeholder(field.schema)}`;
    return field.defaulted || !field.required ? ` [${usageWord(field)}]` : ` ${usageWord(field)}`;
  });
  return words.join('') + (fields.length > shown.length ? ' [options]' : '');
}

function fieldRows(field: Field, namespace: string): string[][] {
  const value = isSwitch(field.schema) ? '' : ` ${placeholder(field.schema)}`;
  const name = `${'  '.repeat(field.path.length - 1)}--${field.flag}${value}`;
  const allowed = describeField(field, namespace) + (field.defaulted ? `; default: ${DEFAULT_PROJECT_RULE}` : '');
  const rows = [[name, field.required && !field.defaulted ? 'required' : '', allowed]];
  if (field.fileFlag !== null) rows.push([`--${field.fileFlag} FILE`, '', SAME_FROM_FILE]);
  return rows;
}
