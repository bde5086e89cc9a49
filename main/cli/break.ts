import type { BreakEntry, BreakSelection, RunningBreak } from '../contract/breaks.ts';
import { ownCommand, typed, typedIn } from '../base/system/own-command.ts';
import { VivariumError } from '../contract/errors.ts';
import { didYouMean, suggest } from '../contract/nearest.ts';
import { askFor } from './engine/client.ts';
import type { OwnCommand } from './words/command-line.ts';
import { RemoteFailure, type Io } from './text/io.ts';
import { isOn, JSON_FLAG, lastOf, usageError, type Arguments, type Option } from './words/flags.ts';
import { localCommand } from './words/local-command.ts';
import { canAsk, withQuestions } from './words/question.ts';
import { findRunning } from './engine/running.ts';
import { columns, printable } from './text/text.ts';

const value = (name: string, placeholder: string, does: string): Option => ({ name, kind: 'value', placeholder, does });

const SELECTORS: readonly Option[] = [
  value('hostname', 'HOSTNAME', 'The hostname to break, or *.NAME for all names below it; also as the second word'),
  value('path', 'PATH', 'Only requests for one path; a final * matches any rest'),
  value('method', 'METHOD', 'Only requests with one method, such as POST'),
  value('key', 'KEY', 'Only requests with one API key, by its id or name'),
  value('type', 'TYPE', 'Only DNS queries for one record type, such as AAAA'),
];
const RATE_FLAG = value('rate', 'SHARE', 'Break this share, such as 10%');
const NTH_FLAG = value('nth', 'N', 'Break every n-th only');
const FOR_FLAG = value('for', 'DURATION', 'Until when, on the app’s clock; 10m by default');
const SEED_FLAG = value('seed', 'SEED', 'Repeat the choices of an earlier break');
const SET_FLAG: Option = {
  ...value('set', 'NAME=VALUE', 'A parameter of the entry; may be repeated'),
  repeatable: true,
};
const EVERYTHING = 'everything';
const EVERYTHING_FLAG: Option = {
  name: EVERYTHING,
  kind: 'switch',
  does: 'Break all hostnames; needed where an entry selects by hostname and none is given',
};
const ALL_FLAG: Option = { name: 'all', kind: 'switch', does: 'With "off": repair everything' };

const LIST = 'list';
const OFF = 'off';

/** The command `break`. */
export const BREAK = localCommand({
  name: 'break',
  title: 'break something on purpose, for a time',
  usage: ['', 'list [ENTRY]', 'ENTRY HOSTNAME [options]', 'ENTRY --everything [options]', 'off ID | --all'],
  options: [...SELECTORS, EVERYTHING_FLAG, RATE_FLAG, NTH_FLAG, FOR_FLAG, SEED_FLAG, SET_FLAG, ALL_FLAG, JSON_FLAG],
  words: [LIST, OFF],
  fileWord: 1,
  notes: [
    'Without arguments, prints the running breaks. "list" prints the catalogue; "list ENTRY" prints one entry in full: how it comes',
    'about, what clients say, the remedy, its settings. "off" repairs. Without a hostname, a terminal is asked for it.',
    '',
    'Requests with the header "Vivarium-Break: off" are never broken.',
    'Exit code 0; 1 when it failed, with nothing broken; 2 when no Vivarium is running.',
  ],
  examples: [
    'vivarium break',
    'vivarium break list http.malformed-chunk',
    'vivarium break api.unavailable --everything --rate 10% --set seconds=5',
    'vivarium break http.empty-response demo.vivarium.localhost --nth 3 --for 5m',
    'vivarium break dns.servfail shop.acme.test --type AAAA',
    'vivarium break off --all',
  ],
  async run(read, dataDir, io) {
    const [word, what] = read.positionals;
    const isJson = isOn(read, JSON_FLAG.name);
    const call = <Answer>(procedure: string, input: object = {}): Promise<Answer> =>
      askFor<Answer>(findRunning(dataDir), `breaks.${procedure}`, input);
    const print = (answer: unknown, lines: readonly string[]): void => {
      io.stdout.write(`${(isJson ? [JSON.stringify(answer)] : lines.map(printable)).join('\n')}\n`);
    };
    const own = ownCommand(dataDir);
    refuseStray(read);

    if (word === undefined) {
      const running = await call<RunningBreak[]>('list');
      print(running, listRunning(running, own));
    } else if (word === LIST) {
      const catalogue = await call<BreakEntry[]>('catalogue');
      if (what === undefined) return print(catalogue, listCatalogue(catalogue));
      const entry = catalogue.find(({ id }) => id === what);
      if (entry === undefined) throw unknownEntry(what, catalogue);
      print(entry, describeEntry(entry));
    } else if (word === OFF) {
      const stopped = await stop(what, isOn(read, ALL_FLAG.name), call);
      print(
        stopped,
        stopped.length === 0 ? ['Nothing was broken.'] : stopped.map(({ id, entry }) => `Repaired: ${entry} (${id}).`),
      );
    } else {
      const input = inputOf(word, what, read);
      const entry = (await call<BreakEntry[]>('catalogue')).find(({ id }) => id === word);
      const hostname = entry === undefined ? input.on.hostname : await hostnameOf(entry, input, read, { io, own });
      const on = { ...input.on, hostname };
      const started = await call<RunningBreak>('start', { ...input, on }).catch((error: unknown) => {
        throw isJson ? error : inOptions(error);
      });
      const only = entry?.http === undefined ? [] : [`It only affects requests over ${entry.http}.`];
      print(started, [
        `Broken: ${summaryOf(started)}.`,
        ...only,
        `To repair it: ${own(`vivarium break off ${started.id}`)}`,
      ]);
    }
  },
});

async function stop(
  id: string | undefined,
  isAll: boolean,
  call: <Answer>(procedure: string, input?: object) => Promise<Answer>,
): Promise<RunningBreak[]> {
  if (isAll === (id !== undefined))
    throw usageError(`Name one break by its id, or add --all. To list running ones: ${typed('vivarium break')}`);
  return id === undefined ? call<RunningBreak[]>('stopAll') : [await call<RunningBreak>('stop', { id })];
}

function unknownEntry(word: string, catalogue: readonly BreakEntry[]): VivariumError {
  const ids = catalogue.map(({ id }) => id);
  // Also suggests "dns.servfail" for "servfail".
  const byName = ids.filter((id) => id.endsWith(`.${word}`));
  const near = byName.length > 0 ? suggest(byName) : didYouMean(word, ids);
  return new VivariumError('not_found', `The catalogue has no entry "${word}".${near}`);
}

/** Options that would be ignored. */
function refuseStray(read: Arguments): void {
  const [word] = read.positionals;
  const isStart = word !== undefined && word !== LIST && word !== OFF;
  const stray = [...read.flags.keys()].find((name) => {
    if (name === JSON_FLAG.name || name === 'data-dir') return false;
    return name === ALL_FLAG.name ? word !== OFF : !isStart;
  });
  if (stray !== undefined)
    throw usageError(`--${stray} is not for "break${word === undefined ? '' : ` ${isStart ? 'ENTRY' : word}`}".`);
}

/**
 * The hostname on the line or from the terminal; undefined for all, which must be asked for.
 * @throws VivariumError `invalid_request` where it is missing.
 */
async function hostnameOf(
  { id, title, selectors, at, impossible }: BreakEntry,
  { on: { hostname } }: { on: BreakSelection },
  read: Arguments,
  { io, own }: { io: Io; own: OwnCommand },
): Promise<string | undefined> {
  const isEverything = isOn(read, EVERYTHING);
  if (isEverything && hostname !== undefined) throw usageError(`Give ${hostname} or --everything, not both.`);
  const isNeeded = selectors.includes('hostname') && impossible === undefined;
  if (isEverything || hostname !== undefined || !isNeeded) return hostname;
  // An edit is made at one hostname.
  const mayBreakAll = at !== 'state';
  if (!canAsk(io)) {
    const or = mayBreakAll ? `, or add --${EVERYTHING}` : '';
    throw usageError(`Name the hostname to break${or}: ${own(`vivarium break ${id} HOSTNAME`)}`);
  }
  io.stderr.write(`${printable(`${id}: ${title}`)}\n`);
  const or = mayBreakAll ? `, or "${EVERYTHING}"` : '';
  const answer = await withQuestions(io, (question) => question(`Which hostname${or}?`, 'none'));
  if (answer === null || answer === 'none') throw usageError('Nothing was broken.');
  return mayBreakAll && answer === EVERYTHING ? undefined : answer;
}

/** An engine's error with the places of the input as options. */
function inOptions(error: unknown): unknown {
  if (!(error instanceof RemoteFailure)) return error;
  const message = error.failure.message.replace(
    /^(?:on\.(\w+)|parameters\.([\w-]+)|(rate|nth|seed|for)):? /,
    (_whole, selector?: string, parameter?: string, other?: string) =>
      `${parameter === undefined ? `--${selector === 'keyId' ? 'key' : (selector ?? other)}` : `--set ${parameter}`} `,
  );
  return new RemoteFailure({ ...error.failure, message });
}

function inputOf(
  entry: string,
  hostname: string | undefined,
  read: Arguments,
): Record<string, unknown> & { on: BreakSelection } {
  if (hostname !== undefined && read.flags.has('hostname'))
    throw usageError(`Give the hostname once: ${JSON.stringify(hostname)}, or --hostname.`);
  const on = Object.fromEntries(
    SELECTORS.flatMap(({ name }) => {
      const given = lastOf(read, name) ?? (name === 'hostname' ? hostname : undefined);
      return given === undefined ? [] : [[name === 'key' ? 'keyId' : name, given]];
    }),
  );
  const [rate, nth, seed] = [RATE_FLAG, NTH_FLAG, SEED_FLAG].map(({ name }) => lastOf(read, name));
  const time = lastOf(read, FOR_FLAG.name);
  return {
    entry,
    on,
    ...(rate !== undefined && { rate: shareOf(rate) }),
    ...(nth !== undefined && { nth: numberOf(NTH_FLAG, nth) }),
    ...(seed !== undefined && { seed: numberOf(SEED_FLAG, seed) }),
    ...(time !== undefined && { for: time }),
    parameters: Object.fromEntries((read.flags.get(SET_FLAG.name) ?? []).map(settingOf)),
  };
}

/** `10%` or `0.1`. */
function shareOf(text: string): number {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  if (digits === undefined) throw usageError(`--rate must be a share such as 10% or 0.1, not ${JSON.stringify(text)}.`);
  return Number(digits) / (percent === '%' ? 100 : 1);
}

function numberOf({ name }: Option, text: string): number {
  if (!/^\d+$/.test(text)) throw usageError(`--${name} must be a whole number, not ${JSON.stringify(text)}.`);
  return Number(text);
}

function settingOf(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw usageError(`--set must be NAME=VALUE, such as seconds=5, not ${JSON.stringify(text)}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const onOf = ({ on }: RunningBreak): string => {
  const { hostname, path, method, keyId, type } = on;
  const parts = [method, hostname, path, type, keyId].filter((part) => part !== undefined);
  return parts.length === 0 ? 'everything' : parts.join(' ');
};

function shareText({ rate, nth }: RunningBreak): string {
  const every = nth === 1 ? '' : `1 in ${nth}`;
  const share = rate === 1 ? '' : `${Number((rate * 100).toFixed(4))} %`;
  return [share, every].filter((part) => part !== '').join(' of ') || 'all';
}

const summaryOf = (running: RunningBreak): string =>
  `${running.entry} on ${onOf(running)}, ${shareText(running)}, until ${running.until}`;

function listRunning(running: readonly RunningBreak[], own: OwnCommand): string[] {
  if (running.length === 0) return [`Nothing is broken. What could be: ${own('vivarium break list')}`];
  const rows = running.map((each) => [
    each.id,
    each.entry,
    onOf(each),
    shareText(each),
    `${each.struck.toLocaleString('en')} of ${each.seen.toLocaleString('en')}`,
    each.until,
  ]);
  return columns([['id', 'entry', 'on', 'share', 'broken', 'until'], ...rows]).map((line) => line.trimEnd());
}

const listCatalogue = (catalogue: readonly BreakEntry[]): string[] =>
  columns(
    catalogue.map(({ id, title, impossible }) => [id, impossible === undefined ? title : `${title} (not here)`]),
  ).map((line) => line.trimEnd());

function describeEntry(entry: BreakEntry): string[] {
  const { id, title, cause, symptoms, remedy, selectors, http, parameters, impossible } = entry;
  const names = selectors.map((selector) => `--${selector === 'keyId' ? 'key' : selector}`);
  const rows = [
    ['Cause', cause],
    ...Object.entries(symptoms).map(([client, symptom]) => [client, symptom]),
    ['Remedy', typedIn(remedy)],
    ['Narrowed by', names.join(', ')],
    ['Affects', http === undefined ? '' : `only requests over ${http}`],
    ...parameters.map(({ name, description, default: preset }) => [
      `--set ${name}`,
      `${description}; ${preset} by default`,
    ]),
    ...(impossible === undefined ? [] : [['Not here', impossible]]),
  ].filter(([, text]) => text !== '');
  return [`${id}: ${title}`, '', ...columns(rows).map((line) => line.trimEnd())];
}
