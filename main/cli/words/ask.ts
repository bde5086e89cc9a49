import { ownCommand, typed } from '../../base/system/own-command.ts';
import type { Running } from '../../base/system/runtime-file.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { Project } from '../../contract/projects.ts';
import type { Run } from '../../contract/runs.ts';
import { askFor, callProcedure } from '../engine/client.ts';
import { commandLineOf, withCommandLines, failureText } from './command-line.ts';
import type { LoadedCommand } from './command.ts';
import { defaultProject } from './default-project.ts';
import { resolveDataDir } from '../../base/system/data-dir.ts';
import {
  exitCodeOf,
  failureOf,
  interruptible,
  RemoteFailure,
  EXIT_OK,
  FAILURE_PREFIX,
  readFileNamed,
  writeFileNamed,
  writeHelp,
  type Io,
  type Output,
} from '../text/io.ts';
import { exitCodeFor } from './exit-codes.ts';
import { formatHelp } from './local-command.ts';
import { fileContent, createStreamView, jsonTexts, renderFor } from '../text/views.ts';
import { deedOf } from './deeds.ts';
import { refuseEaten, surplusHint, tracelessHint } from './eaten-options.ts';
import { flagsOf, listFields, type Field } from './fields.ts';
import {
  isOn,
  lastOf,
  OUTPUT_FLAG,
  PROCEDURE_FLAGS,
  readArguments,
  usageError,
  type Arguments,
  DATA_DIR_FLAG,
  HELP_FLAG,
  JSON_FLAG,
} from './flags.ts';
import { namespaceHelp, procedureHelp } from './help.ts';
import { buildInput } from './input.ts';
import { ALONE, type CliProcedure, findProcedure, kebab, requireNamespace } from './procedures.ts';
import { canAsk, isYes, withQuestions } from './question.ts';
import { findRunning, NotRunningError } from '../engine/running.ts';
import { jsonLine, printable, printableLines, type Renderer, rendererFor } from '../text/text.ts';

/**
 * `<namespace> <procedure> [options]`: calls one procedure of a running Vivarium and prints the result as text.
 * `commands`: what else may have been meant.
 */
export async function ask(
  namespace: string,
  args: readonly string[],
  io: Io,
  commands: readonly string[],
): Promise<number> {
  const [name, ...rest] = args;
  try {
    requireNamespace(namespace, commands, name);
    const isHelp = name === '--help' || name === '-h';
    const alone = ALONE[namespace];
    if (alone !== undefined && !isHelp && (name === undefined || name.startsWith('-')))
      return await askProcedure(namespace, alone, args, io);
    if (name === undefined || isHelp) {
      writeHelp(namespaceHelp(namespace), io);
      return EXIT_OK;
    }
    return await askProcedure(namespace, name, rest, io);
  } catch (error) {
    const failure = failureOf(error);
    // With --json, usage errors are JSON too.
    if (args.includes('--json')) io.stderr.write(`${JSON.stringify(failure)}\n`);
    else {
      const text = failureText(failure, fieldsOf(namespace, name));
      // A message that ends in a command already says what to do.
      const hint = /`\.?$/.test(failure.message) ? '' : hintOf(error, namespace, name);
      io.stderr.write(`vivarium: ${printable(text)}${hint}\n`);
    }
    return exitCodeOf(error);
  }
}

async function askProcedure(namespace: string, name: string, args: readonly string[], io: Io): Promise<number> {
  const procedure = findProcedure(namespace, name);
  const fields = listFields(procedure);
  const flags = [...PROCEDURE_FLAGS, ...flagsOf(fields)];
  refuseEaten([namespace, name], args, flags, io);
  const read = readArguments(args, flags);
  if (isOn(read, 'help')) {
    writeHelp(procedureHelp(namespace, name), io);
    return EXIT_OK;
  }
  const hint = tracelessHint([namespace, name], args, flags, io);
  if (hint !== null) io.stderr.write(`${FAILURE_PREFIX}${hint}\n`);
  const find = () => findRunning(resolveDataDir(lastOf(read, 'data-dir'), io));
  let listed: Promise<Project[]> | null = null;
  const projects = () => (listed ??= askFor<Project[]>(find(), 'projects.list'));
  let chosen: Promise<string> | null = null;
  const chooseProject = () =>
    (chosen ??= projects().then((all) => defaultProject(all, () => askFor<Run[]>(find(), 'runs.list'), io)));
  const json = await buildInput(procedure, fields, read, {
    readFile: (path) => readFileNamed(path, io),
    chooseProject,
    async isProject(word) {
      try {
        if ((await projects()).some(({ id, slug, name: named }) => [id, slug, named].includes(word))) return true;
        await chooseProject();
        return false;
      } catch (error) {
        if (error instanceof NotRunningError) return false;
        throw error;
      }
    },
    presentTarget: async (projectId) => (await askFor<Project>(find(), 'projects.get', { projectId })).target,
    hint: surplusHint(`${namespace} ${name}`, io),
  });
  const running = find();
  const called = `${procedure.namespace}.${procedure.name}`;
  let exitCode: number = EXIT_OK;
  await interruptible(io, async (signal, onStream) => {
    const reply = await callProcedure(running, called, json, signal).catch(async (error: unknown) =>
      callProcedure(running, called, await withConsent(error, json, io), signal),
    );
    if (reply.kind === 'result') {
      exitCode = exitCodeFor(called, reply.json);
      return writeResult(procedure, { json: reply.json, input: json, running }, read, io);
    }
    if (lastOf(read, OUTPUT_FLAG.name) !== undefined) {
      throw usageError(`--output does not work with a stream; write "> FILE" instead.`);
    }
    onStream();
    await writeStream(called, reply.values, read, io);
  });
  return exitCode;
}

/** The input with a person's consent, where the engine asks for it. @throws `error` where it does not, or none answers */
async function withConsent(error: unknown, json: string, io: Io): Promise<string> {
  const issues = error instanceof RemoteFailure ? (error.failure.issues ?? []) : [];
  const meaning = issues.find(({ path }) => path === 'confirm')?.message;
  if (meaning === undefined || !canAsk(io)) throw error;
  io.stderr.write(`${printable(meaning)}\n`);
  if (isYes(await withQuestions(io, (question) => question('Do it all the same?', 'no'))))
    return JSON.stringify({ ...(JSON.parse(json) as object), confirm: true });
  throw usageError('Nothing was changed.');
}

async function writeStream(called: string, values: AsyncIterable<string>, read: Arguments, io: Io): Promise<void> {
  const { stdout, stderr } = io;
  if (isOn(read, 'json')) {
    for await (const value of values) {
      for (const json of jsonTexts(called, value)) stdout.write(jsonLine(json, stdout));
    }
    return;
  }
  const view = createStreamView(called);
  stdout.write(view.header(rendererFor(io)));
  for await (const value of values) {
    // Created for each value, because the terminal's width changes.
    const { lines, notices } = view.value(JSON.parse(value), rendererFor(io));
    stdout.write(lines);
    for (const notice of notices) stderr.write(`vivarium: ${notice}\n`);
  }
}

/** Writes a file result verbatim and renders any other result. */
async function writeResult(
  procedure: CliProcedure,
  { json, input, running }: { json: string; input: string; running: Running },
  read: Arguments,
  io: Io,
): Promise<void> {
  const called = `${procedure.namespace}.${procedure.name}`;
  const path = lastOf(read, OUTPUT_FLAG.name);
  const isNamed = path !== undefined && path !== '-';
  const content = isOn(read, 'json') ? null : fileContent(called, JSON.parse(json));
  const to: Pick<Io, 'stdout' | 'env'> = isNamed ? { stdout: NO_TERMINAL, env: {} } : io;
  const text =
    content ??
    (isOn(read, 'json')
      ? jsonLine(json, to.stdout)
      : renderPage(procedure, JSON.parse(json, inCommandLines), input, running, rendererFor(to)));
  if (isNamed) return writeFileNamed(path, text, io);
  // "--output -" asks for the octets as they are, also on a terminal.
  const isCleaned = content !== null && path === undefined && io.stdout.isTTY === true;
  io.stdout.write(isCleaned ? terminalText(content) : text);
}

/** A result for people: only the changed settings, and the command that shows the next page in place of `next`. */
function renderPage(
  procedure: CliProcedure,
  result: unknown,
  input: string,
  { dataDir }: Running,
  renderer: Renderer,
): string {
  const called = `${procedure.namespace}.${procedure.name}`;
  const { cursor } = deedOf(called);
  const { next, ...page } = (result ?? {}) as { next?: unknown };
  const asked = JSON.parse(input === '' ? '{}' : input) as Record<string, unknown>;
  if (called === 'settings.update') {
    const changed = Object.entries(page).filter(([name]) => name in asked);
    if (changed.length > 0) return renderFor(called, Object.fromEntries(changed), renderer);
  }
  if (cursor === undefined || next === undefined) return renderFor(called, result, renderer, asked);
  const command = ownCommand(dataDir)(commandLineOf(procedure, { ...asked, [cursor]: next }));
  return `${renderFor(called, page, renderer, asked)}\nNext page: ${command}\n`;
}

const NO_TERMINAL: Output = { write: () => true };

function terminalText(content: string | Uint8Array): string {
  if (typeof content !== 'string')
    throw usageError('The result is binary; add --output FILE, or --output - for this terminal.');
  return `${printableLines(content)}${content.endsWith('\n') ? '' : '\n'}`;
}

/** The calls in checks and warnings become command lines. */
const inCommandLines = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? withCommandLines(value) : value;

function fieldsOf(namespace: string, name: string | undefined): Field[] {
  try {
    return listFields(findProcedure(namespace, name ?? ''));
  } catch {
    return [];
  }
}

/** Points to the procedure's help after a usage error. */
function hintOf(error: unknown, namespace: string, name: string | undefined): string {
  if (!(error instanceof VivariumError) || error.code !== 'invalid_request' || name === undefined) return '';
  try {
    return ` See "${typed(`vivarium ${namespace} ${kebab(findProcedure(namespace, name).name)} --help`)}".`;
  } catch {
    return '';
  }
}

const OPTIONS = [JSON_FLAG, DATA_DIR_FLAG, HELP_FLAG];

/** `vivarium ps`: short for `runs list`. */
export const PS: LoadedCommand = {
  options: OPTIONS,
  help: () =>
    formatHelp({
      name: 'ps',
      title: 'the commands that "vivarium run" has started',
      options: OPTIONS,
      notes: ['Exit code 0; 2 when no Vivarium is running on the data folder.'],
      examples: ['vivarium ps', 'vivarium ps --json'],
    }),
  run: (args, io) => ask('runs', ['list', ...args], io, []),
};
