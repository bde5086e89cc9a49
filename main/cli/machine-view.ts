import type { MachineChange, MachineChanges, MachinePlan, MachineStatus, MachineStep } from '../contract/machine.ts';
import { typed } from '../base/own-command.ts';
import { printable, printableLines, type Style } from './text.ts';

/** Every line that would change, and the command that does it. */
export function renderMachinePlan({ hostname, resolvesTo, changes }: MachinePlan, style: Style): string {
  const leads =
    resolvesTo.length === 0 ? 'This system does not know' : `This system leads to ${resolvesTo.join(', ')}:`;
  return `${leads} ${hostname}.\n\n${changesText(changes, style)}\n`;
}

const stepLines = ({ path, existed, removes, adds, state }: MachineStep): string[] => [
  `  ${printable(path)}${existed ? '' : ' (new)'}${state === 'changed' ? ': somebody else has changed it since' : ''}`,
  ...removes.map((line) => `    - ${printable(line)}`),
  ...adds.map((line) => `    + ${printable(line)}`),
];

const STATES: Record<MachineChange['state'], string> = {
  planned: '',
  obstacle: '',
  applied: ': done',
  pending: ': in the ledger, and not done yet',
  partial: ': done in part',
  changed: ': done, and changed by somebody else since',
  unknown: ': done; whether it is still there cannot be read',
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
