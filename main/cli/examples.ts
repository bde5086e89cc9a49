import { posixWord } from '../base/shell.ts';
import { positionalOf, type Field } from './fields.ts';
import { sampleInput } from './samples.ts';
import { kebab, type CliProcedure } from './procedures.ts';

/** Command lines that run once the ids are replaced: the shortest, the fullest, and the `call` form for scripts. */
export function examplesOf(procedure: CliProcedure, fields: readonly Field[]): string[] {
  const { namespace, name, input } = procedure;
  const all = sampleInput(namespace, input, 'all');
  // An update without changes is valid but makes a poor example.
  const required = name === 'update' ? all : sampleInput(namespace, input, 'required');
  const command = `vivarium ${namespace} ${kebab(name)}`;
  const json = Object.keys(required).length === 0 ? '' : ` ${posixWord(JSON.stringify(required))}`;
  const lines = [
    [command, ...wordsOf(required, fields)].join(' '),
    [command, ...wordsOf(all, fields)].join(' '),
    `vivarium call ${namespace}.${name}${json}`,
  ];
  return [...new Set(lines)];
}

function wordsOf(input: Record<string, unknown>, fields: readonly Field[]): string[] {
  const positional = positionalOf(fields);
  return fields
    .filter((field) => field.path.length === 1 && field.path[0] in input)
    .flatMap((field) => {
      const value = input[field.path[0]];
      if (field === positional) return [posixWord(textOf(value))];
      if (isPlainObject(value)) return partsOf(value, field, fields);
      return [flagWords(field.flag, value)];
    });
}

const flagWords = (flag: string, value: unknown): string =>
  typeof value === 'boolean' ? `--${value ? '' : 'no-'}${flag}` : `--${flag} ${posixWord(textOf(value))}`;

/** Spells an object as the flags of its parts, which read better than JSON. */
function partsOf(value: Record<string, unknown>, whole: Field, fields: readonly Field[]): string[] {
  return fields
    .filter(({ path }) => path.length === 2 && path[0] === whole.path[0])
    .flatMap(({ path, flag }) => {
      const part = value[path[1] ?? ''];
      return part === undefined ? [] : [flagWords(flag, part)];
    });
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
