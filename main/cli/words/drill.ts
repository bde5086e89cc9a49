import type { Drill } from '../../contract/breaks.ts';
import { columns, printable, type OwnCommand, type Shown } from '../text/text.ts';
import type { Deeds } from './deed.ts';

const text = (lines: readonly string[]): string => `${lines.map(printable).join('\n')}\n`;

/** `drill`: the running one, or else the list. */
export const DRILLS: Deeds['drills'] = {
  list: {
    offers: ({ id, title }) => [id, title],
    pick: (all, { isAlone }) => (isAlone ? all.find(({ running }) => running !== undefined) : undefined) ?? all,
    view: (found: Drill | readonly Drill[], { own }) =>
      text('id' in found ? describe(found, own) : listDrills(found, own)),
  },
  start: {
    inputs: { drill: { names: 'drills.list' } },
    view: (drill, { own }) => text(describe(drill, own)),
    notes: [
      'A drill creates a project "drill", and if needed a zone drill.test, in which something is wrong. Observe the',
      'problem, find its cause, and fix it. Everything that the drill created is removed when the problem is fixed, by',
      '"drill stop", or after a day on the app’s clock. "vivarium drill" prints the running one.',
    ],
  },
  hint: { view: ({ running }) => text([running?.hints.at(-1) ?? '', leftText(running?.hintsLeft ?? 0)]) },
  answer: {
    inputs: { cause: { isWord: true } },
    view: (drill, shown) => text(verdictOn(drill, shown)),
    failed: ['the cause is wrong, or the problem is not fixed yet', ({ running }) => running !== undefined],
  },
  stop: { says: ({ title }) => `Stopped: ${title}. Everything that it created is removed.` },
};

function listDrills(all: readonly Drill[], own: OwnCommand): string[] {
  const rows = all.map(({ id, title, subject, running, result }) => [
    id,
    subject,
    title,
    running !== undefined ? 'runs' : result !== undefined ? `fixed in ${timeOf(result.seconds)}` : '',
  ]);
  const first = own(`vivarium drill start ${all[0]?.id ?? ''}`);
  return [...columns([['drill', 'subject', 'title', ''], ...rows]), '', `Begin with the first: ${first}`];
}

function describe({ title, running }: Drill, own: OwnCommand): string[] {
  if (running === undefined) return [title];
  const { story, command, causes, hints, found, missing } = running;
  const choices = causes.map(({ id, text: cause }, index) => [`${index + 1}`, id, cause]);
  return [
    ...[title, '', story, '', 'See it:', `  ${command}`, ''],
    ...(found === undefined
      ? ['What is the cause?', ...columns(choices).map((line) => `  ${line}`)]
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

const leftText = (left: number): string => (left === 0 ? 'That was the last hint.' : `${left} more.`);

function verdictOn({ title, running, result }: Drill, { own }: Shown): string[] {
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
  const then = `Then: ${own('vivarium drill answer')}`;
  return ['That is the cause. It is not fixed yet:', missing, ...taskOf(running), then];
}

const counted = (count: number, what: string): string =>
  `${count === 0 ? 'no' : count} ${what}${count === 1 ? '' : 's'}`;

const timeOf = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
