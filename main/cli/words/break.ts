import { typedIn } from '../../base/system/own-command.ts';
import { findEntries, headerOf, noEntryText, placesOf, shareText } from '../../contract/break-words.ts';
import type { BreakEntry, BreakSelection, RunningBreak, Drill } from '../../contract/breaks.ts';
import { notFound } from '../../contract/errors.ts';
import { columns, counted, printable, table, type Shown, type OwnCommand } from '../text/text.ts';
import type { Calling, Deeds } from './deed.ts';
import { usageError } from './flags.ts';
import { canAsk, withQuestions } from '../text/io.ts';

const EVERYTHING = 'everything';

/** `break`: what is running, `break list`, `break ENTRY` and `break off`. */
export const BREAKS: Deeds['breaks'] = {
  list: {
    words: '',
    isAlone: true,
    offers: ({ id, entry }) => [id, entry],
    view: listRunning,
    empty: ['Nothing is broken. What could be:', 'break list'],
  },
  catalogue: {
    words: 'list',
    own: {
      entry: {
        type: 'string',
        description: 'one entry in full, or a word to search for',
        isWord: true,
        names: 'breaks.catalogue',
      },
    },
    offers: ({ id, title }) => [id, title],
    pick: (catalogue, { asked }) => (asked['entry'] === undefined ? catalogue : entryOf(asked['entry'], catalogue)),
    view: (found: BreakEntry | readonly BreakEntry[]) =>
      `${('id' in found ? describeEntry(found) : listCatalogue(found)).map(printable).join('\n')}\n`,
  },
  start: {
    words: '',
    isOtherwise: true,
    lifted: 'on',
    inputs: {
      entry: { names: 'breaks.catalogue' },
      'on.hostname': { isWord: true },
      'on.header': {
        read: selectedHeader,
        placeholder: 'NAME=VALUE',
        does: 'requests with a header field of exactly this value',
      },
      rate: {
        read: shareOf,
        placeholder: 'SHARE',
        does: 'the share to break, such as 10% or 0.1; mostly all, if omitted',
      },
      parameters: {
        flag: 'set',
        read: settingsOf,
        placeholder: 'NAME=VALUE',
        does: 'a parameter of the entry, such as seconds=5; may be given more than once',
      },
    },
    own: {
      [EVERYTHING]: {
        type: 'boolean',
        description: 'all hostnames of all projects; needed where an entry selects by hostname and none is given',
      },
    },
    prepare: withHostname,
    view: startedText,
    notes: [
      'Without a hostname, a terminal is asked for it. Requests with the header "Vivarium-Break: off" are never broken.',
    ],
    examples: [
      'vivarium break api.unavailable demo.vivarium.localhost --first 2',
      'vivarium break api.unavailable --project demo --rate 10% --set seconds=5',
      'vivarium break http.empty-response demo.vivarium.localhost --nth 3 --for 5m',
      'vivarium break dns.servfail shop.acme.test --type AAAA',
    ],
  },
  stop: { words: 'off', inputs: { id: { names: 'breaks.list' } }, view: (repaired) => repairedText([repaired]) },
  stopAll: {
    words: 'off',
    by: 'all',
    own: { all: { type: 'boolean', description: 'repair everything, and end a running drill' } },
    view: repairedText,
    empty: ['Nothing was broken.'],
  },
};

/** The entry, or those that a word finds. @throws VivariumError `not_found` */
function entryOf(word: unknown, catalogue: readonly BreakEntry[]): BreakEntry | readonly BreakEntry[] {
  const entry = catalogue.find(({ id }) => id === word);
  if (entry !== undefined) return entry;
  const found = findEntries(catalogue, String(word));
  if (found.length > 0) return found;
  throw notFound(noEntryText(String(word), catalogue));
}

/** Adds the hostname from a terminal. @throws VivariumError `invalid_request` where none is given, nor everything */
async function withHostname(
  input: Record<string, unknown>,
  { read, asked, call, io, own }: Calling,
): Promise<Record<string, unknown>> {
  const { hostname, projectId, ...on } = (input['on'] ?? {}) as BreakSelection;
  const entry = (await call('breaks.catalogue')).find(({ id }) => id === input['entry']);
  // The engine reports an unknown entry.
  if (entry === undefined) return input;
  asked['http'] = entry.http;
  const isEverything = read.isOn({ name: EVERYTHING });
  const given = hostname ?? (projectId && `--project ${projectId}`);
  if (isEverything && given !== undefined) throw usageError(`Give ${given} or --everything, not both.`);
  const isNeeded = entry.selectors.includes('hostname') && entry.impossible === undefined;
  if (isEverything || given !== undefined || !isNeeded) return input;
  // An edit is made at one hostname.
  const mayBreakAll = entry.at !== 'state';
  if (!canAsk(io)) {
    const or = mayBreakAll ? `, or add --${EVERYTHING}` : '';
    throw usageError(`Name the hostname to break${or}: ${own(`vivarium break ${entry.id} HOSTNAME`)}`);
  }
  io.stderr.write(`${printable(`${entry.id}: ${entry.title}`)}\n`);
  const or = mayBreakAll ? `, or "${EVERYTHING}"` : '';
  const answer = await withQuestions(io, (question) => question(`Which hostname${or}?`, 'none'));
  if (answer === null || answer === 'none') throw usageError('Nothing was broken.');
  return mayBreakAll && answer === EVERYTHING ? input : { ...input, on: { ...on, hostname: answer } };
}

/** `10%` or `0.1`. */
function shareOf([text = '']: readonly string[]): number {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  if (digits === undefined) throw usageError(`--rate must be a share such as 10% or 0.1, not ${JSON.stringify(text)}.`);
  return Number(digits) / (percent === '%' ? 100 : 1);
}

/** `X-Run=7`, or both parts as JSON. */
function selectedHeader([text = '']: readonly string[]): unknown {
  if (text.startsWith('{')) return JSON.parse(text);
  const header = headerOf(text);
  if (header === null || header.value === '')
    throw usageError(`--header must be NAME=VALUE, such as X-Run=7, not ${JSON.stringify(text)}.`);
  return header;
}

/** `seconds=5`, or all of them as JSON. */
function settingsOf(texts: readonly string[]): unknown {
  const [first = ''] = texts;
  if (first.startsWith('{')) return JSON.parse(first);
  const settings = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const name = text.slice(0, at);
    if (at < 1) throw usageError(`--set must be NAME=VALUE, such as seconds=5, not ${JSON.stringify(text)}.`);
    if (settings.has(name)) throw usageError(`--set ${name} must be given once.`);
    settings.set(name, text.slice(at + 1));
  }
  return Object.fromEntries(settings);
}

const onOf = (running: RunningBreak): string => placesOf(running).join(' ') || 'everything';

function startedText(running: RunningBreak, { asked, own }: Shown): string {
  const { id, entry, until } = running;
  const http = asked['http'] === undefined ? '' : `It only affects requests over ${String(asked['http'])}.\n`;
  const summary = printable(`Broken: ${entry} on ${onOf(running)}, ${shareText(running)}, until ${until}.`);
  return `${summary}\n${http}To repair it: ${own(`vivarium break off ${id}`)}\n`;
}

/** What was ended, one a line. */
export function repairedText(repaired: readonly RunningBreak[]): string {
  return repaired
    .map(({ id, entry, drill }) =>
      drill === undefined
        ? `Repaired: ${entry} (${id}).\n`
        : `Ended the drill ${drill}; everything that it created is removed.\n`,
    )
    .join('');
}

function listRunning(running: readonly RunningBreak[]): string {
  const rows = running.map((each) => [
    each.id,
    each.entry,
    onOf(each),
    shareText(each),
    `${each.struck.toLocaleString('en')} of ${each.seen.toLocaleString('en')}${each.done === true ? ', done' : ''}`,
    each.until,
  ]);
  return table(['id', 'entry', 'on', 'share', 'broken', 'until'], rows);
}

const listCatalogue = (catalogue: readonly BreakEntry[]): string[] =>
  columns(catalogue.map(({ id, title, impossible }) => [id, impossible === undefined ? title : `${title} (not here)`]));

function describeEntry(entry: BreakEntry): string[] {
  const { id, title, cause, symptoms, remedy, selectors, http, parameters, impossible = '' } = entry;
  const names = selectors.map((selector) => `--${selector.replace(/Id$/, '')}`);
  const rows = [
    ['Cause', cause],
    ...Object.entries(symptoms),
    ['Remedy', typedIn(remedy)],
    ['Narrowed by', names.join(', ')],
    ['Affects', http === undefined ? '' : `only requests over ${http}`],
    ...parameters.map(({ name, description, default: preset }) => [
      `--set ${name}`,
      `${description}; ${preset === '' ? 'empty' : preset} by default`,
    ]),
    ['Not here', impossible],
  ];
  return [`${id}: ${title}`, '', ...columns(rows.filter(([, text]) => text !== ''))];
}

const text = (lines: readonly string[]): string => `${lines.map(printable).join('\n')}\n`;

/** `drill`: the running one, or else the list. */
export const DRILLS: Deeds['drills'] = {
  list: {
    isAlone: true,
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
      `Fixed in ${timeOf(seconds)}, with ${some(hints, 'hint')}, ${some(wrong, 'wrong answer')} and ${some(requests, 'request')}.`,
      explanation,
      'Everything that the drill created is removed.',
    ];
  }
  const { found, wrong, missing = '' } = running;
  if (found === undefined) return [`No. ${wrong.at(-1)?.why ?? ''}`];
  const then = `Then: ${own('vivarium drill answer')}`;
  return ['That is the cause. It is not fixed yet:', missing, ...taskOf(running), then];
}

const some = (count: number, what: string): string => (count === 0 ? `no ${what}s` : counted(count, what));

const timeOf = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
