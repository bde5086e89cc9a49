import { ownCommand, typed } from '../../base/system/own-command.ts';
import { posixWord } from '../../base/text/shell.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { Project } from '../../contract/projects.ts';
import { asking, callProcedure } from '../engine/client.ts';
import { commandLineOf, withCommandLines, failureText } from './command-line.ts';
import type { LoadedCommand } from './command.ts';
import { defaultProject } from './default-project.ts';
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
  canAsk,
  isYes,
  withQuestions,
} from '../text/io.ts';
import { exitCodeFor, helpFor, namespaceHelp, procedureHelp } from './help.ts';
import { renderObject, renderResult } from '../text/render.ts';
import { createStreamView, jsonTexts } from '../text/traffic-rows.ts';
import { deedOf } from './deeds.ts';
import type { Calling } from './deed.ts';
import { firstWord, flagsOf, listFields } from './fields.ts';
import {
  OUTPUT_FLAG,
  PROCEDURE_FLAGS,
  readArguments,
  usageError,
  type Arguments,
  DATA_DIR_FLAG,
  HELP_FLAG,
  JSON_FLAG,
  refuseEaten,
  surplusHint,
  tracelessHint,
} from './flags.ts';
import { buildInput } from './input.ts';
import { type CliProcedure, isVerbFirst, procedureAlone, procedureCalled, requireNamespace } from './procedures.ts';
import { findRunning, NotRunningError } from '../engine/running.ts';
import { jsonLine, printable, printableLines, type Renderer, rendererFor, type Shown } from '../text/text.ts';

/**
 * `<namespace> <procedure> [options]`: calls one procedure of a running Vivarium and prints the result as text.
 * `commands`: what else may have been meant.
 */
export async function ask(word: string, args: readonly string[], io: Io, commands: readonly string[]): Promise<number> {
  const [next = '', ...others] = args;
  if (isVerbFirst(word, next)) return ask(next, [word, ...others], io, commands);
  let procedure: CliProcedure | null = null;
  // Without it, the help is that of the namespace.
  let argument = '';
  try {
    requireNamespace(word, commands);
    const at = firstWord(word, args);
    const name = at < 0 ? undefined : args[at];
    if (name === undefined) {
      procedure = /^--?h/.test(args[0] ?? '') ? null : procedureAlone(word);
      if (procedure !== null) return await askProcedure(procedure, args, true, io);
      writeHelp(namespaceHelp(word), io);
      return EXIT_OK;
    }
    const called = procedureCalled(word, name, args);
    procedure = called.procedure;
    if (called.isArgument) argument = ` ${posixWord(args[at] ?? '')}`;
    return await askProcedure(procedure, called.isArgument ? args : args.toSpliced(at, 1), false, io);
  } catch (error) {
    const failure = failureOf(error);
    // With --json, usage errors are JSON too.
    if (args.includes('--json')) io.stderr.write(`${JSON.stringify(failure)}\n`);
    else {
      const text = failureText(failure, procedure === null ? [] : listFields(procedure));
      const isUsage = error instanceof VivariumError && error.code === 'invalid_request';
      // A message that ends in a command already says what to do.
      const hasHint = procedure !== null && isUsage && !/`\.?$/.test(failure.message);
      const hint = hasHint ? ` See "${typed(`vivarium ${procedure?.words ?? ''}${argument} --help`)}".` : '';
      io.stderr.write(`vivarium: ${printable(text)}${hint}\n`);
    }
    return exitCodeOf(error);
  }
}

async function askProcedure(
  procedure: CliProcedure,
  args: readonly string[],
  isAlone: boolean,
  io: Io,
): Promise<number> {
  const { words, deed } = procedure;
  const command = words.split(' ');
  const fields = listFields(procedure);
  const flags = [...PROCEDURE_FLAGS, ...flagsOf(fields)];
  refuseEaten(command, args, flags, io);
  const read = readArguments(args, flags);
  if (read.isOn(HELP_FLAG)) {
    writeHelp(procedureHelp(procedure), io);
    return EXIT_OK;
  }
  const hint = tracelessHint(command, args, flags, io);
  if (hint !== null) io.stderr.write(`${FAILURE_PREFIX}${hint}\n`);
  const dataDir = read.dataDir(io);
  const call = asking(() => findRunning(dataDir));
  let listed: Promise<Project[]> | null = null;
  const projects = () => (listed ??= call('projects.list'));
  let chosen: Promise<string> | null = null;
  const chooseProject = () => (chosen ??= projects().then((all) => defaultProject(all, () => call('runs.list'), io)));
  const { input, own: asked } = await buildInput(procedure, fields, read, {
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
    presentTarget: async (projectId) => (await call('projects.get', { projectId })).target,
    workingDir: io.workingDir,
    hint: surplusHint(words, io),
  });
  const calling: Calling = { read, asked, isAlone, call, io, own: ownCommand(dataDir, io) };
  const running = findRunning(dataDir);
  const sent = (await deed.prepare?.(input, calling)) ?? input;
  Object.assign(asked, sent);
  const json = JSON.stringify(sent);
  const called = `${procedure.namespace}.${procedure.name}`;
  let exitCode: number = EXIT_OK;
  await interruptible(io, async (signal, onStream) => {
    const reply = await callProcedure(running, called, json, signal).catch(async (error: unknown) =>
      callProcedure(running, called, await withConsent(error, json, io), signal),
    );
    if (reply.kind === 'result') {
      exitCode = exitCodeFor(called, reply.json, asked);
      return writeResult(procedure, reply.json, calling);
    }
    if (read.last(OUTPUT_FLAG) !== undefined) {
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
  if (read.isOn(JSON_FLAG)) {
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
async function writeResult(procedure: CliProcedure, json: string, calling: Calling): Promise<void> {
  const { read, io } = calling;
  const { deed } = procedure;
  for (const [file, text] of deed.files?.(JSON.parse(json), calling) ?? [])
    if (typeof file === 'string') await writeFileNamed(file, text, io);
  const path = read.last(OUTPUT_FLAG);
  const isNamed = path !== undefined && path !== '-';
  const isJson = read.isOn(JSON_FLAG);
  const content = isJson ? null : fileContent(`${procedure.namespace}.${procedure.name}`, JSON.parse(json));
  const to: Pick<Io, 'stdout' | 'env'> = isNamed ? { stdout: NO_TERMINAL, env: {} } : io;
  const picked = (reviver?: typeof inCommandLines): unknown => {
    const result: unknown = JSON.parse(json, reviver);
    return deed.pick === undefined ? result : deed.pick(result, calling);
  };
  const text =
    content ??
    (isJson
      ? jsonLine(deed.pick === undefined ? json : JSON.stringify(picked()), to.stdout)
      : renderPage(procedure, picked(inCommandLines), calling, rendererFor(to)));
  if (isNamed) return writeFileNamed(path, text, io);
  // "--output -" asks for the octets as they are, also on a terminal.
  const isCleaned = content !== null && path === undefined && io.stdout.isTTY === true;
  io.stdout.write(isCleaned ? terminalText(content) : text);
}

/** A result for people: only the changed settings, and the command that shows the next page in place of `next`. */
function renderPage(procedure: CliProcedure, result: unknown, { asked, own }: Calling, renderer: Renderer): string {
  const called = `${procedure.namespace}.${procedure.name}`;
  const { cursor } = procedure.deed;
  const { next, ...page } = (result ?? {}) as { next?: unknown };
  const shown = { ...renderer, asked, own };
  if (called === 'settings.update') {
    const changed = Object.entries(page).filter(([name]) => name in asked);
    if (changed.length > 0) return renderFor(called, Object.fromEntries(changed), shown);
  }
  if (cursor === undefined || next === undefined) return renderFor(called, result, shown);
  const command = own(commandLineOf(procedure, { ...asked, [cursor]: next }));
  return `${renderFor(called, page, shown)}\nNext page: ${command}\n`;
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

/** A command that is short for a procedure, or for a namespace. */
export const shortFor = (...words: [namespace: string, name?: string]): LoadedCommand => ({
  options: [JSON_FLAG, DATA_DIR_FLAG, HELP_FLAG],
  help: () => helpFor(...words),
  run: (args, io) =>
    ask(
      words[0],
      [...words.slice(1), ...args].filter((word) => word !== undefined),
      io,
      [],
    ),
});

/** Renders the result of `procedure` as text for people. */
export function renderFor(
  procedure: string,
  result: unknown,
  { asked = {}, own = typed, ...renderer }: Renderer & Partial<Shown>,
): string {
  const shown: Shown = { ...renderer, asked, own };
  const { says, shows, view, first, empty } = deedOf(procedure);
  if (empty !== undefined && itemsOf(result)?.length === 0) {
    const [sentence, command] = empty;
    const project = () => posixWord(String(shown.asked['projectId'] ?? 'demo'));
    const next = command === undefined ? '' : ` ${shown.own(`vivarium ${command.replace('PROJECT', project)}`)}`;
    const { items: _items, ...rest } = result as Record<string, unknown>;
    return `${sentence}${next}\n${Object.keys(rest).length === 0 ? '' : `\n${renderObject(rest, shown)}`}`;
  }
  if (says !== undefined) return `${printable(says(result))}\n`;
  return view?.(result, shown) ?? renderResult(shows === undefined ? result : shows(result), shown, first);
}

function itemsOf(result: unknown): readonly unknown[] | null {
  const items = Array.isArray(result) ? result : (result as { items?: unknown } | null)?.items;
  return Array.isArray(items) ? items : null;
}

/** Fields that may accompany the content of a file. */
const FACTS: ReadonlySet<string> = new Set(['format', 'fileName', 'baseUrl']);

/**
 * The file in a result such as an exported certificate or zone: `text`, `document` or `base64` with nothing but
 * metadata beside it, or a whole JSON document. Null for any other result.
 */
export function fileContent(procedure: string, result: unknown): string | Uint8Array | null {
  if (deedOf(procedure).isDocument === true) return `${JSON.stringify(result, null, 2)}\n`;
  if (typeof result !== 'object' || result === null) return null;
  const entries = Object.entries(result).filter(([name]) => !FACTS.has(name));
  const [[name, content] = ['', null], surplus] = entries;
  if (surplus !== undefined || typeof content !== 'string') return null;
  if (name === 'text' || name === 'document') return content;
  return name === 'base64' ? Buffer.from(content, 'base64') : null;
}
