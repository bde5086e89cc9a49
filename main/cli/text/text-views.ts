import type { ResultOf } from '../../contract/index.ts';
import type { AcmeExplanation, AcmeLimits } from '../../contract/acme.ts';
import { describeAcmeRate } from '../../contract/acme-rates.ts';
import type { AttachStep, Domain } from '../../contract/domains.ts';
import { parseDuration } from '../../contract/duration.ts';
import type { CallerUsage } from '../../contract/callers.ts';
import type { MachineChange, MachineChanges, MachinePlan, MachineStatus, MachineStep } from '../../contract/machine.ts';
import type { ReachSnippets, LanStatus } from '../../contract/reach.ts';
import type { Run } from '../../contract/runs.ts';
import type { TrafficEntry } from '../../contract/traffic.ts';
import type { ZoneDnssec, ZoneRehearsal } from '../../contract/zones.ts';
import { commandLine, typed } from '../../base/system/own-command.ts';
import { posixWord } from '../../base/text/shell.ts';
import { leftOut, renderObject, renderResult } from './render.ts';
import { columns, counted, printable, printableLines, type Renderer, type Shown, type Style } from './text.ts';
import { TrafficRows } from './traffic-rows.ts';

/** The ids without a pet; there may be a thousand. */
export function manyPets(done: string, count: number, missing: readonly string[]): string {
  const named = missing.slice(0, MISSING_NAMED).join(', ') + (missing.length > MISSING_NAMED ? ', …' : '');
  const rest = missing.length === 0 ? '' : `; there is no pet ${named}`;
  return `${done} ${counted(count, 'pet', 'pets')}${rest}.`;
}

const MISSING_NAMED = 10;

/** The result for a certificate, without its PEM text. */
export const withoutPem =
  <Result extends object>(exportCommand: (result: Result) => string) =>
  (result: Result, renderer: Renderer): string => {
    const rest = Object.fromEntries(Object.entries(result).filter(([name]) => name !== 'pem'));
    return `${renderObject(rest, renderer)}\nThe certificate as PEM: ${typed(exportCommand(result))}\n`;
  };

const BREAKS = {
  expired: 'Its signatures have expired, as you asked',
  missing: 'Its answers lack signatures, as you asked',
  'wrong-key': 'It is signed with a key other than the trust anchor’s, as you asked',
};

export function signingText({ name, algorithm, keys = [], signatures, break: broken, anchors }: ZoneDnssec): string {
  if (signatures === undefined || anchors === undefined) {
    return `${name} is not signed. Sign its answers: ${typed(commandLine`vivarium zone dnssec ${name} --signed`)}\n`;
  }
  const retiring = keys.filter(({ retiresAt }) => retiresAt !== undefined);
  return [
    `${name} is signed with ${algorithm}, key ${keys.map(({ tag }) => tag).join(' and ')}.`,
    ...retiring.map(({ tag, retiresAt }) => `Key ${tag} retires at ${retiresAt} on Vivarium’s clock.`),
    `Its signatures are valid from ${signatures.from} to ${signatures.until}, on Vivarium’s clock.`,
    ...(broken === undefined
      ? []
      : [`${BREAKS[broken]}. To fix it: ${typed(commandLine`vivarium zone dnssec ${name} --break none`)}`]),
    '',
    'The trust anchor, as a trust-anchor-file of unbound:',
    '',
    anchors.unbound,
    `For delv -a, with +root=${name}:`,
    '',
    anchors.delv,
  ].join('\n');
}

/** The providers, then the connections that are open, with the ids that `disconnect` takes. */
export function providersText(providers: ResultOf<'providers.list'>, renderer: Renderer): string {
  const rows = providers.map(({ connections: _connections, ...row }) => row);
  const open = providers.flatMap(({ connections }) =>
    connections.map(({ id, provider, projectIds, since }) => ({ id, provider, projects: projectIds.join(' '), since })),
  );
  return renderResult(rows, renderer) + (open.length === 0 ? '' : `\n${renderResult(open, renderer)}`);
}

/** A row for each provider, then the problems that each has, and what would be right. */
export function rehearsedText(rehearsal: ZoneRehearsal, { style }: Renderer): string {
  const { hostname, zone, rejected, rejectedTotal, providers, records } = rehearsal;
  const [head = '', ...rows] = columns([
    ['provider', 'state', 'it says', 'certificate', 'CAA'],
    ...providers.map(({ name, state, says = '', certificate }) => {
      const permitted = certificate.checks.find(({ outcome }) => outcome === 'ok')?.expected;
      return [name, state, says, certificate.state, permitted ?? `${certificate.issuers.join(', ')} may not issue`];
    }),
  ]);
  const problems = providers.flatMap(({ name, checks, certificate }) => {
    const all = [...checks, ...certificate.checks];
    const wrong = all.filter(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
    if (wrong.length === 0) return [];
    const told = wrong.flatMap(({ message, words, fix }) => [
      `  ${printable(words === undefined ? message : `“${words}” ${message}`)}`,
      ...(fix === undefined ? [] : [`    ${printable(fix)}`]),
    ]);
    return ['', style.heading(name), ...told];
  });
  const lost = rejected.map(({ line, message }) => `Line ${line} was not read: ${printable(message)}`);
  if (rejectedTotal > rejected.length) {
    lost.push(`${counted(rejectedTotal - rejected.length, 'more line was', 'more lines were')} not read.`);
  }
  const title = `${hostname} in the zone ${zone}, with ${counted(records, 'record', 'records')}`;
  return lines([printable(title), ...lost, '', style.heading(head), ...rows, ...problems]);
}

/** Texts to copy begin at the left margin, because Python minds its indentation. One language is shown alone. */
export function snippetsText({ snippets, pac, ...rest }: ReachSnippets, shown: Shown): string {
  const { style, asked } = shown;
  const block = (title: string, texts: readonly (string | undefined)[]) => [
    '',
    style.heading(printable(title)),
    ...texts.flatMap((text) => (text === undefined || text === '' ? [] : ['', printableLines(text).trimEnd()])),
  ];
  const texts = snippets.flatMap(({ title, text, note }) => block(title, [text, note]));
  if (asked['language'] !== undefined) return `${texts.slice(1).join('\n')}\n`;
  return `${[
    renderObject(rest, shown).trimEnd(),
    ...texts,
    ...block(pac.title, [pac.note, pac.commands, 'To undo it:', pac.undo]),
    '',
    `Names and ports for the whole system: ${typed(commandLine`vivarium machine plan ${rest.hostname}`)}`,
  ].join('\n')}\n`;
}

export function entriesText({ items, ...rest }: { items: TrafficEntry[] }, renderer: Renderer): string {
  const rows = new TrafficRows();
  rows.fitTo(items);
  const { line, left } = rows.header(renderer);
  const lines = [line, ...items.map((entry) => rows.row(entry, renderer)), ...leftOut(left, renderer)];
  return `${lines.join('\n')}\n\n${renderObject(rest, renderer)}`;
}

/** The same columns for every caller, whichever windows it has opened. */
export const usageRows = (callers: readonly CallerUsage[]) =>
  callers.map(({ caller, key, minute, day, strikes, bannedUntil }) => ({
    caller: key === undefined ? caller.replace(/^address:/, '') : `${key.name} ${key.prefix}…`.trimStart(),
    minute: `${minute.used} of ${minute.limit}`,
    day: `${day.used} of ${day.limit}`,
    'minute ends': minute.resetsAt,
    'day ends': day.resetsAt,
    strikes,
    'banned until': bannedUntil,
    // What `limits reset --caller` takes.
    id: caller,
  }));

/** What a check that passed is about: its code names the problem that it did not find. */
const PASSED: Record<string, string | undefined> = {
  wrong_target: 'target',
  a_conflict: 'addresses',
  alias_mismatch: 'addresses',
  txt_missing: 'TXT',
  caa_forbids: 'CAA',
};

export const shownDomain = (domain: Domain) => ({
  ...domain,
  checks: domain.checks.map((check) => ({
    ...check,
    code: (check.outcome === 'ok' ? PASSED[check.code] : undefined) ?? check.code,
  })),
});

export const runRows = (runs: readonly Run[]) =>
  runs.map(({ urls, target, pid, command, folder, since, endedAt }) => ({
    address: urls[0],
    target: target ?? 'no port yet',
    pid,
    command,
    folder,
    since,
    ...(endedAt !== undefined && { ended: endedAt }),
  }));

/** A result that reports the progress of a call: `domain attach --local`. */
interface Stepped {
  hostname: string;
  example?: string;
  steps: readonly AttachStep[];
  url?: string;
}

export const isStepped = (result: unknown): result is Stepped =>
  typeof result === 'object' && result !== null && 'steps' in result && Array.isArray(result.steps);

export const hasFailed = ({ steps }: Stepped): boolean => steps.some(({ ok }) => !ok);

/** One line for each step, the fix of the one that failed, and the address. */
export function stepsText({ hostname, example = hostname, steps, url }: Stepped, { style }: Renderer): string {
  const rows = columns(steps.map(({ step, ok, message }) => [step, style.word(ok ? 'ok' : 'failed'), message]));
  const fixes = steps.flatMap(({ fix }) => (fix === undefined ? [] : ['', fix]));
  const undo = [
    typed(commandLine`vivarium domain remove ${hostname}`),
    ...steps.flatMap(({ undo: call }) => call ?? []),
  ];
  const left = hasFailed({ hostname, steps })
    ? ['', 'What was done so far stays, and repeating the command continues there. To remove it:', ...undo]
    : [];
  const open =
    url?.startsWith('https:') === true ? ['', `${url}  Open it: ${typed(commandLine`vivarium open ${example}`)}`] : [];
  return `${[...rows, ...fixes, ...left, ...open].join('\n')}\n`;
}

/** Every line that would change, and the command that does it. */
export function machinePlanText({ hostname, resolvesTo, changes }: MachinePlan, { style }: Renderer): string {
  const leads =
    resolvesTo.length === 0 ? 'This system does not know' : `This system leads to ${resolvesTo.join(', ')}:`;
  return `${leads} ${hostname}.\n\n${changesText(changes, style)}\n`;
}

const stepLines = ({ path, existed, removes, adds, state }: MachineStep): string[] => [
  `  ${printable(path)}${existed ? '' : ' (new)'}${state === 'changed' ? ': changed since, but not by Vivarium' : ''}`,
  ...removes.map((line) => `    - ${printable(line)}`),
  ...adds.map((line) => `    + ${printable(line)}`),
];

const STATES: Record<MachineChange['state'], string> = {
  planned: '',
  obstacle: '',
  applied: ': done',
  pending: ': in the ledger, but not made yet',
  partial: ': done in part',
  changed: ': made, then changed by something else',
  unknown: ': made; its current state cannot be read',
  undone: ': undone',
};

/** Each change with its lines, and the command for it. */
export const changesText = (changes: readonly MachineChange[], style: Style): string =>
  changes.map((change) => changeText(change, style)).join('\n\n');

function changeText(change: MachineChange, style: Style): string {
  const { what, state, note = '', instead, steps, runs, message } = change;
  return [
    `${style.heading(printable(what))}${STATES[state]}`,
    ...(note === '' ? [] : [`  ${printable(note)}`]),
    ...(instead === undefined ? [] : [`    ${printable(instead)}`]),
    ...steps.flatMap(stepLines),
    ...(state === 'planned' ? runs.map((command) => `  then: ${printable(command)}`) : []),
    ...(message === undefined ? [] : [printableLines(message).trimEnd().replaceAll(/^/gm, '  ')]),
    ...commandLines(change),
  ].join('\n');
}

function commandLines({ id, state, command }: MachineChange): string[] {
  if (state === 'pending') {
    const paste = command === undefined ? [] : ['  Paste this; it asks for your password:', `    ${command}`];
    return [...paste, `  To undo it: ${typed(`vivarium machine undo --ids ${id}`)}`];
  }
  return command === undefined ? [] : [`  To ${state === 'planned' ? 'do' : 'undo'} it: ${command}`];
}

export const machineStatusText = ({ ledger, undoScript, changes }: MachineStatus, { style }: Renderer): string =>
  `${[
    changes.length === 0 ? 'Vivarium has changed nothing on this machine.' : changesText(changes, style),
    `The ledger: ${ledger}${changes.length === 0 ? '' : `\nTo undo all without Vivarium: ${undoScript}`}`,
  ].join('\n\n')}\n`;

export function machineUndoneText({ changes }: MachineChanges, { style }: Renderer): string {
  if (changes.length === 0) return 'There is nothing to undo.\n';
  const left = changes.filter(({ state }) => state !== 'undone');
  const undone = changes.filter(({ state }) => state === 'undone');
  return `${[
    ...undone.map(({ what }) => `Undone: ${printable(what)}`),
    ...left.map((change) => `\nLeft: ${changeText(change, style)}`),
  ].join('\n')}\n`;
}

/** An order as a walk: one line for each step, and below it what was asked and found, and each name of CAA. */
export function orderText(order: AcmeExplanation, { style }: Renderer): string {
  const rows = columns(order.walk.map(({ step, state, message }) => [printable(step), state, printable(message)]));
  const lines = order.walk.flatMap(({ attempts, caa }, index) => [
    rows[index] ?? '',
    ...attempts.map(({ what, found }) => style.faint(`    ${printable(what)}: ${printable(found)}`)),
    ...(caa?.trace ?? []).map(({ reason }) => style.faint(`    ${printable(reason)}`)),
  ]);
  const head = `${printable(order.names.join(', '))}, profile ${printable(order.profile)}: ${style.word(order.status)}`;
  return `${[style.heading(head), printable(order.message), '', ...lines].join('\n')}\n`;
}

export function limitsText({ enforced, limits }: AcmeLimits, { style }: Renderer): string {
  const rows = limits.flatMap(({ limit, count, period, used }) => [
    [limit, describeAcmeRate({ count, periodMs: parseDuration(period) }), ''],
    ...used.map(({ of, left, fullAt }) => [`  ${printable(of)}`, `${left} left`, `all again at ${fullAt}`]),
  ]);
  const change = typed(`vivarium settings update --${enforced ? 'no-' : ''}acme-limits`);
  const state = enforced ? 'ACME clients are limited. To lift that:' : 'ACME clients are not limited. To limit them:';
  return `${[style.heading(`${state} ${change}`), '', ...columns(rows)].join('\n')}\n`;
}

/** Whether other devices are served, what to open there, and how to change it. */
export function lanText(status: LanStatus): string {
  const {
    state,
    wanted = '',
    problem = '',
    keep,
    url,
    localUrl,
    pacUrl,
    dns,
    hostnames,
    hostnamesTotal,
    choices,
  } = status;
  if (state === 'off') {
    const start = choices.map(({ interface: name, address }) => [
      typed(`vivarium lan start --interface ${posixWord(name)}`),
      `on ${address}`,
    ]);
    const next = start.length === 0 ? ['This machine is not on a local network.'] : columns(start);
    return lines(['Vivarium serves this machine only. To let other devices reach the hostnames:', '', ...next]);
  }
  const end = `To serve this machine only: ${typed('vivarium lan stop')}`;
  const then = keep ? 'The next start serves them again.' : 'The next start does not serve them.';
  if (state === 'waiting') {
    return lines([
      `Vivarium can’t serve other devices at present: ${printable(problem)}`,
      `Waiting for ${wanted}. ${then}`,
      end,
    ]);
  }
  const rows = [
    ['Open on the device', [url, localUrl].filter((each) => each !== undefined).join(' or ')],
    ['Proxy (PAC file)', pacUrl ?? ''],
    ['DNS', dns ?? ''],
    [
      'Hostnames',
      hostnames.length === 0
        ? 'none; names under localhost mean the device itself'
        : `${hostnames.join(', ')}${hostnamesTotal > hostnames.length ? ', …' : ''}`,
    ],
  ];
  return lines([`Devices on ${status.interface ?? ''} reach the hostnames. ${then}`, '', ...columns(rows), '', end]);
}

const lines = (texts: readonly string[]): string => `${texts.join('\n')}\n`;
