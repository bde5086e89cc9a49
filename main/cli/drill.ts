import { ownCommand } from '../base/system/own-command.ts';
import type { Drill } from '../contract/drills.ts';
import { askFor } from './engine/client.ts';
import { isOn, JSON_FLAG, usageError } from './words/flags.ts';
import type { OwnCommand } from './words/command-line.ts';
import { localCommand } from './words/local-command.ts';
import { findRunning } from './engine/running.ts';
import { columns, printable } from './text/text.ts';

const ANSWER = 'answer';
const START = 'start';
const WORDS = ['list', START, 'hint', ANSWER, 'stop'];

/** The command `drill`. */
export const DRILL = localCommand({
  name: 'drill',
  title: 'find out what is wrong, and fix it',
  usage: ['', 'list', 'start NAME', 'hint', 'answer [CAUSE]', 'stop'],
  options: [JSON_FLAG],
  words: WORDS,
  fileWord: 1,
  notes: [
    'A drill creates a project "drill", and if needed a zone drill.test, in which something is wrong. Observe the',
    'problem, find its cause, and fix it. Without arguments, prints the running drill.',
    '',
    '"answer" takes the id or the number of a cause. Once the cause is found, "answer" alone checks the',
    'fix. Everything that the drill created is removed when the problem is fixed, by "stop", or after a day on the',
    'app’s clock.',
    'Exit code 0; 1 when it failed, or the answer is wrong; 2 when no Vivarium is running.',
  ],
  examples: [
    'vivarium drill list',
    'vivarium drill start hammering',
    'vivarium drill hint',
    'vivarium drill answer 2',
    'vivarium drill answer',
    'vivarium drill stop',
  ],
  async run(read, dataDir, io) {
    const [word, what] = read.positionals;
    if (word !== undefined && !WORDS.includes(word))
      throw usageError(`"drill" is followed by ${WORDS.join(', ')}, not ${JSON.stringify(word)}.`);
    if (what !== undefined && word !== START && word !== ANSWER)
      throw usageError(`Unexpected argument ${JSON.stringify(what)}.`);
    if (word === START && what === undefined) throw usageError('Name a drill. To list drills: vivarium drill list');
    const ask = <Result>(procedure: string, input: object = {}): Promise<Result> =>
      askFor<Result>(findRunning(dataDir), `drills.${procedure}`, input);
    const print = (answer: unknown, lines: readonly string[]): void => {
      const text = isOn(read, JSON_FLAG.name) ? [JSON.stringify(answer)] : lines.map(printable);
      io.stdout.write(`${text.join('\n')}\n`);
    };

    const own = ownCommand(dataDir);
    if (word === undefined || word === 'list') {
      const all = await ask<Drill[]>('list');
      const current = word === undefined ? all.find(({ running }) => running !== undefined) : undefined;
      if (current === undefined) print(all, listDrills(all, own));
      else print(current, describe(current, own));
      return 0;
    }
    const drill = await ask<Drill>(word, inputOf(word, what));
    if (word === START) print(drill, describe(drill, own));
    else if (word === 'hint') print(drill, [drill.running?.hints.at(-1) ?? '', leftOf(drill)]);
    else if (word === 'stop') print(drill, [`Stopped: ${drill.title}. Everything that it created is removed.`]);
    else {
      print(drill, verdictOn(drill, own));
      return drill.running === undefined ? 0 : 1;
    }
    return 0;
  },
});

function inputOf(word: string, what: string | undefined): object {
  if (what === undefined) return {};
  return word === START ? { drill: what } : { cause: what };
}

function listDrills(all: readonly Drill[], own: OwnCommand): string[] {
  const rows = all.map(({ id, title, subject, running, result }) => [
    id,
    subject,
    title,
    running !== undefined ? 'runs' : result !== undefined ? `fixed in ${timeOf(result.seconds)}` : '',
  ]);
  const lines = columns([['drill', 'subject', 'title', ''], ...rows]).map((line) => line.trimEnd());
  return [...lines, '', `Begin with the first: ${own(`vivarium drill start ${all[0]?.id ?? ''}`)}`];
}

function describe({ title, running }: Drill, own: OwnCommand): string[] {
  if (running === undefined) return [title];
  const { story, command, causes, hints, found, missing } = running;
  const choices = causes.map(({ id, text }, index) => [`${index + 1}`, id, text]);
  return [
    ...[title, '', story, '', 'See it:', `  ${command}`, ''],
    ...(found === undefined
      ? ['What is the cause?', ...columns(choices).map((line) => `  ${line.trimEnd()}`)]
      : [`The cause: ${causes.find(({ id }) => id === found)?.text ?? found}`]),
    ...hints.map((hint) => `Hint: ${hint}`),
    ...taskOf(running),
    ...(missing === undefined ? [] : [missing]),
    '',
    found === undefined
      ? `A hint: ${own('vivarium drill hint')}. The answer: ${own('vivarium drill answer NUMBER')}`
      : `When it is fixed: ${own('vivarium drill answer')}`,
  ];
}

const taskOf = ({ task, taskCommand }: NonNullable<Drill['running']>): string[] =>
  task === undefined ? [] : [task, `  ${taskCommand ?? ''}`];

const leftOf = ({ running }: Drill): string => {
  const left = running?.hintsLeft ?? 0;
  return left === 0 ? 'That was the last hint.' : `${left} more.`;
};

function verdictOn({ title, running, result }: Drill, own: OwnCommand): string[] {
  if (running === undefined) {
    if (result === undefined) return [title];
    const { seconds, hints, wrong, requests, explanation } = result;
    return [
      `Fixed in ${timeOf(seconds)}, with ${counted(hints, 'hint')}, ${counted(wrong, 'wrong answer')} and ${counted(requests, 'request')}.`,
      explanation,
      'Everything that the drill created is removed.',
    ];
  }
  const { found, wrong, missing = '' } = running;
  if (found === undefined) return [`No. ${wrong.at(-1)?.why ?? ''}`];
  return [
    'That is the cause. It is not fixed yet:',
    missing,
    ...taskOf(running),
    `Then: ${own('vivarium drill answer')}`,
  ];
}

const counted = (count: number, what: string): string =>
  `${count === 0 ? 'no' : count} ${what}${count === 1 ? '' : 's'}`;

const timeOf = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
