import { posixWord } from '../base/shell.ts';
import { commandLineOf } from './command-line.ts';
import { listFields } from './fields.ts';
import { sampleInput } from './samples.ts';
import type { CliProcedure } from './procedures.ts';

/** Longer lines are hard to read and to paste. */
const LINE_LENGTH_MAX = 100;

/**
 * Command lines that run once the names are replaced: the shortest, one with as many options as fit into a line, and the
 * `call` form for scripts.
 */
export function examplesOf(procedure: CliProcedure): string[] {
  const { namespace, name, input, inputType } = procedure;
  const all = Object.entries(sampleInput(namespace, input, 'all'));
  const required = sampleInput(namespace, input, 'required');
  const defaulted = listFields(procedure).find((field) => field.defaulted)?.path[0];
  const shortest = Object.fromEntries(Object.entries(required).filter(([property]) => property !== defaulted));
  const full = all.reduce<Record<string, unknown>>((chosen, [property, value]) => {
    const more = { ...chosen, [property]: value };
    const fits = commandLineOf(procedure, more).length <= LINE_LENGTH_MAX && inputType.safeParse(more).success;
    return fits ? more : chosen;
  }, required);
  // An update without changes is valid but makes a poor example.
  const lines = [...(name === 'update' ? [] : [commandLineOf(procedure, shortest)]), commandLineOf(procedure, full)];
  const json = Object.keys(required).length === 0 ? '' : ` ${posixWord(JSON.stringify(required))}`;
  const call = `vivarium call ${namespace}.${name}${json}`;
  return [...new Set([...lines, ...(call.length <= LINE_LENGTH_MAX && name !== 'update' ? [call] : [])])];
}
