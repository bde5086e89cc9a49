import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, reasonOf } from '../base/error-code.ts';
import { normalizeHostname } from '../base/text/hostname.ts';
import { conflict, invalidRequest } from '../contract/errors.ts';
import { slugify } from '../contract/hostnames.ts';
import { localCommand } from './words/command.ts';
import { usageError, switchOption } from './words/flags.ts';
import { readInitFolder, type InitFolder } from './init/folder.ts';
import { planInit, type InitAnswers, type InitFile, type InitPlan } from './init/plan.ts';
import { EXIT_FAILED, EXIT_OK, FAILURE_PREFIX, canAsk, isYes, withQuestions } from './text/io.ts';
import type { Io, Question } from './text/io.ts';
import { printable } from './text/text.ts';

const YES_FLAG = { ...switchOption('yes', 'Ask nothing'), short: 'y' };
const DRY_RUN_FLAG = switchOption('dry-run', 'Write nothing; show what would be written');
const AGENTS_FLAG = switchOption('agents', 'Also explain the app to coding assistants in AGENTS.md');

export const INIT = localCommand({
  name: 'init',
  title: 'make your app’s own dev command serve it at its hostname',
  usage: ['[NAME | HOSTNAME] [options] [-- COMMAND …]'],
  options: [YES_FLAG, DRY_RUN_FLAG, AGENTS_FLAG],
  takesCommand: true,
  notes: [
    'Inspects the folder, asks for the name and the command, shows every line, and asks before it writes. It writes',
    'vivarium.yaml, and puts "vivarium run" in front of the script that starts the dev server. The rest of',
    'package.json does not change, and existing files are kept. Running it again changes nothing.',
    '',
    'NAME and HOSTNAME are those of "vivarium run": a name without a dot is served below vivarium.localhost.',
    '',
    'Exit code 0; 1 when it could not write.',
  ],
  examples: [
    'vivarium init',
    'vivarium init app.acme.test --agents',
    'vivarium init shop --yes',
    'vivarium init app.acme.test --dry-run -- python3 manage.py runserver',
  ],
  names: 'domains.list',
  async run(read, _dataDir, io, { command }) {
    const [word, surplus] = read.positionals;
    if (surplus !== undefined) {
      throw usageError(
        `Unexpected argument ${JSON.stringify(surplus)}: one name or hostname, then -- and the command.`,
      );
    }
    const given = { word, command: command.join(' ') || undefined, agents: read.isOn(AGENTS_FLAG) };
    const folder = await readInitFolder(io.workingDir);
    const isDry = read.isOn(DRY_RUN_FLAG);
    const isSure = read.isOn(YES_FLAG);
    return isSure || isDry || !canAsk(io)
      ? initByOptions(folder, given, { isDry, isSure }, io)
      : withQuestions(io, (question) => initByQuestions(folder, given, question, io));
  },
});

interface Given {
  word: string | undefined;
  command: string | undefined;
  agents: boolean;
}

/** Three questions, the last one with all that would be written. */
export async function initByQuestions(folder: InitFolder, given: Given, question: Question, io: Io): Promise<number> {
  io.stderr.write(`${describe(folder)}\n\n`);
  const word = given.word ?? (await question('Name or hostname of the app?', usualWord(folder) || 'app.acme.test'));
  if (word === null) return nothing(io);
  const command = given.command ?? (await question('Command that starts it?', folder.command ?? 'none'));
  if (command === null) return nothing(io);
  const answers = { word: checkedWord(word), command: command === 'none' ? null : command, agents: given.agents };
  const plan = planInit(folder, answers);
  show(plan, io);
  if (plan.files.length === 0) return EXIT_OK;
  const sure = await question('Write this?', 'yes');
  if (!isYes(sure)) return nothing(io);
  return write(plan, io);
}

async function initByOptions(
  folder: InitFolder,
  given: Given,
  { isDry, isSure }: { isDry: boolean; isSure: boolean },
  io: Io,
): Promise<number> {
  const answers: InitAnswers = {
    word: checkedWord(given.word ?? usualWord(folder)),
    command: given.command ?? folder.command,
    agents: given.agents,
  };
  const plan = planInit(folder, answers);
  show(plan, io);
  if (isDry || plan.files.length === 0) return EXIT_OK;
  if (isSure) return write(plan, io);
  throw usageError('There is no terminal to ask in. Add --yes to write this.');
}

const usualWord = ({ served, name }: InitFolder): string => served?.word ?? slugify(name);

const describe = ({ framework, package: file, name }: InitFolder): string =>
  printable(
    `${name}: ${[framework ?? 'no framework that is known here', ...(file === null ? [] : [file.manager])].join(', ')}`,
  );

function nothing(io: Io): number {
  io.stderr.write(`${FAILURE_PREFIX}Nothing was written.\n`);
  return EXIT_FAILED;
}

/** @throws VivariumError `invalid_request` for an invalid hostname, or a name that no project can have. */
function checkedWord(word: string): string {
  const text = word.trim();
  if (text.includes('.')) {
    const read = normalizeHostname(text);
    if (read.ok) return read.hostname;
    throw usageError(
      `${JSON.stringify(text)} is not a hostname. Use one such as app.acme.test, or a name without a dot.`,
    );
  }
  if (slugify(text) !== '') return text;
  throw usageError(
    `The name ${JSON.stringify(text)} has no letter from a to z and no digit. Write one: vivarium init shop`,
  );
}

/** Every line that will be written. */
function show({ files, kept }: InitPlan, io: Io): void {
  const parts = files.map(({ path, before, after }) =>
    before === null
      ? `${path}, new:\n${marked(after.split('\n').slice(0, -1), '+')}`
      : `${path}, changed:\n${changedLines(before, after)}`,
  );
  for (const part of parts) io.stdout.write(`${part}\n`);
  for (const sentence of kept) io.stdout.write(`${printable(sentence)}\n`);
  if (files.length === 0) io.stdout.write('Nothing needs to be written.\n');
}

const marked = (lines: readonly string[], mark: string): string =>
  lines.map((line) => `  ${mark} ${printable(line)}`.trimEnd() + '\n').join('');

/** The lines between the common beginning and end of two texts. */
function changedLines(before: string, after: string): string {
  const [old, now] = [before.split(/\r?\n/), after.split(/\r?\n/)];
  let same = 0;
  while (same < Math.min(old.length, now.length) && old[same] === now[same]) same++;
  let end = 0;
  while (end < Math.min(old.length, now.length) - same && old.at(-1 - end) === now.at(-1 - end)) end++;
  return marked(old.slice(same, old.length - end), '-') + marked(now.slice(same, now.length - end), '+');
}

async function write({ files, start }: InitPlan, io: Io): Promise<number> {
  for (const file of files) await checkUnchanged(file, io);
  for (const { path, before, after } of files) {
    try {
      // A file created meanwhile is kept.
      await writeFile(join(io.workingDir, path), after, { flag: before === null ? 'wx' : 'w' });
    } catch (cause) {
      throw invalidRequest(`${path} cannot be written (${reasonOf(cause)}).`, { cause });
    }
  }
  io.stderr.write(`${FAILURE_PREFIX}Written: ${files.map(({ path }) => path).join(', ')}.`);
  io.stderr.write(start === null ? '\n' : ` Start your app: ${printable(start)}\n`);
  if (files.some(({ path, after }) => path === 'package.json' && !/"vivarium"\s*:/.test(after))) {
    io.stderr.write(
      `${FAILURE_PREFIX}The script needs the command "vivarium" on every machine, also those of your colleagues: run npm link in Vivarium's folder, or install its tarball here as a development dependency.\n`,
    );
  }
  return EXIT_OK;
}

/** @throws VivariumError `conflict` if a file has changed since it was read. */
async function checkUnchanged({ path, before }: InitFile, io: Io): Promise<void> {
  const now = await readFile(join(io.workingDir, path), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (now === before) return;
  throw conflict(`${path} has changed meanwhile, so nothing was written. Run the command again.`);
}
