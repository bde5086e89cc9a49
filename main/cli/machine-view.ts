import type {
  MachineEntry,
  MachinePlan,
  MachineStatus,
  MachineStep,
  MachineUndone,
  PlannedChange,
} from '../contract/machine.ts';
import { typed } from '../base/own-command.ts';
import { printable, printableLines, type Style } from './text.ts';

/** Every line that would change, and the command that does it. */
export function renderMachinePlan({ hostname, resolvesTo, changes }: MachinePlan, style: Style): string {
  const leads =
    resolvesTo.length === 0 ? 'This system does not know' : `This system leads to ${resolvesTo.join(', ')}:`;
  return [`${leads} ${hostname}.`, ...changes.map((change) => changeText(change, hostname, style))].join('\n\n') + '\n';
}

function changeText(change: PlannedChange, hostname: string, style: Style): string {
  const { title, note, plan, steps, runs, obstacle, instead, entry } = change;
  if (entry !== undefined) return `${entryText(entry, style)}${note === '' ? '' : `\n  ${printable(note)}`}`;
  return [
    style.heading(printable(title)),
    ...(obstacle === undefined ? [] : [`  ${printable(obstacle)}`]),
    ...(instead === undefined ? [] : [`    ${printable(instead)}`]),
    ...(note === '' ? [] : [`  ${printable(note)}`]),
    ...steps.flatMap(stepLines),
    ...runs.map((command) => `  then: ${printable(command)}`),
    ...(plan === undefined ? [] : [`  To do it: ${typed(`vivarium machine apply ${hostname} ${plan}`)}`]),
  ].join('\n');
}

const stepLines = ({ path, existed, removes, adds, state }: MachineStep): string[] => [
  `  ${printable(path)}${existed ? '' : ' (new)'}${state === 'changed' ? ': somebody else has changed it since' : ''}`,
  ...removes.map((line) => `    - ${printable(line)}`),
  ...adds.map((line) => `    + ${printable(line)}`),
];

const STATES: Record<MachineEntry['state'], string> = {
  applied: 'done',
  pending: 'in the ledger, and not done yet',
  partial: 'done in part',
  changed: 'done, and changed by somebody else since',
  unknown: 'done; whether it is still there cannot be read',
};

/** One change of the ledger, and how to take it back. */
export function entryText({ id, title, state, steps, message, command }: MachineEntry, style: Style): string {
  return [
    `${style.heading(printable(title))}: ${STATES[state]}`,
    ...steps.flatMap(stepLines),
    ...(message === undefined ? [] : [printableLines(message).trimEnd().replaceAll(/^/gm, '  ')]),
    ...(command === undefined ? [] : ['  Paste this; it asks for your password:', `    ${command}`]),
    `  To undo it: ${typed(`vivarium machine undo --ids ${id}${state === 'changed' ? ' --take' : ''}`)}`,
  ].join('\n');
}

export const renderMachineStatus = ({ ledger, undoScript, entries }: MachineStatus, style: Style): string =>
  `${[
    ...(entries.length === 0 ? ['Vivarium has changed nothing on this machine.'] : []),
    ...entries.map((entry) => entryText(entry, style)),
    `The ledger: ${ledger}${entries.length === 0 ? '' : `\nTo undo all without Vivarium: ${undoScript}`}`,
  ].join('\n\n')}\n`;

export function renderMachineUndone({ undone, left }: MachineUndone, style: Style): string {
  if (undone.length + left.length === 0) return 'There is nothing to undo.\n';
  return `${[
    ...undone.map(({ title }) => `Undone: ${printable(title)}`),
    ...left.map((entry) => `\nLeft: ${entryText(entry, style)}`),
  ].join('\n')}\n`;
}
