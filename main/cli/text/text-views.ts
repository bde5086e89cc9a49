import { posixWord } from '../../base/text/shell.ts';
import type { AcmeExplanation, AcmeLimits } from '../../contract/acme.ts';
import { describeAcmeRate } from '../../contract/acme-rates.ts';
import { parseDuration } from '../../contract/duration.ts';
import type { LanStatus } from '../../contract/lan.ts';
import type { MachineChange, MachineChanges, MachinePlan, MachineStatus, MachineStep } from '../../contract/machine.ts';
import { typed } from '../../base/system/own-command.ts';
import { printable, printableLines, type Style, type Renderer, columns } from './text.ts';

/** Every line that would change, and the command that does it. */
export function renderMachinePlan({ hostname, resolvesTo, changes }: MachinePlan, style: Style): string {
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

export const renderMachineStatus = ({ ledger, undoScript, changes }: MachineStatus, style: Style): string =>
  `${[
    changes.length === 0 ? 'Vivarium has changed nothing on this machine.' : changesText(changes, style),
    `The ledger: ${ledger}${changes.length === 0 ? '' : `\nTo undo all without Vivarium: ${undoScript}`}`,
  ].join('\n\n')}\n`;

export function renderMachineUndone({ changes }: MachineChanges, style: Style): string {
  if (changes.length === 0) return 'There is nothing to undo.\n';
  const left = changes.filter(({ state }) => state !== 'undone');
  const undone = changes.filter(({ state }) => state === 'undone');
  return `${[
    ...undone.map(({ what }) => `Undone: ${printable(what)}`),
    ...left.map((change) => `\nLeft: ${changeText(change, style)}`),
  ].join('\n')}\n`;
}

/** An order as a walk: one line for each step, and below it what was asked and found, and each name of CAA. */
export function renderOrder(order: AcmeExplanation, { style }: Renderer): string {
  const rows = columns(order.walk.map(({ step, state, message }) => [printable(step), state, printable(message)]));
  const lines = order.walk.flatMap(({ attempts, caa }, index) => [
    rows[index] ?? '',
    ...attempts.map(({ what, found }) => style.faint(`    ${printable(what)}: ${printable(found)}`)),
    ...(caa?.trace ?? []).map(({ reason }) => style.faint(`    ${printable(reason)}`)),
  ]);
  const head = `${printable(order.names.join(', '))}, profile ${printable(order.profile)}: ${style.word(order.status)}`;
  return `${[style.heading(head), printable(order.message), '', ...lines].join('\n')}\n`;
}

export function renderLimits({ enforced, limits }: AcmeLimits, { style }: Renderer): string {
  const rows = limits.flatMap(({ limit, count, period, used }) => [
    [limit, describeAcmeRate({ count, periodMs: parseDuration(period) }), ''],
    ...used.map(({ of, left, fullAt }) => [`  ${printable(of)}`, `${left} left`, `all again at ${fullAt}`]),
  ]);
  const change = typed(`vivarium settings update --${enforced ? 'no-' : ''}acme-limits`);
  const state = enforced ? 'ACME clients are limited. To lift that:' : 'ACME clients are not limited. To limit them:';
  return `${[style.heading(`${state} ${change}`), '', ...columns(rows)].join('\n')}\n`;
}

/** Whether other devices are served, what to open there, and how to change it. */
export function renderLan(status: LanStatus): string {
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
