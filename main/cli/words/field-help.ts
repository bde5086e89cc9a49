import { posixWord } from '../../base/text/shell.ts';
import { isSwitch, type Field } from './fields.ts';
import { accepts, alternativesOf, choicesOf, itemOf, type JsonSchema } from './json-schema.ts';
import { sample } from './samples.ts';

/** What an option does that reads a value from a file. */
export const SAME_FROM_FILE = 'the same from a file; - is standard input';

/** The word that stands for a value in a usage line and in a list of options. */
export function placeholder(schema: JsonSchema): string {
  if (choicesOf(schema) !== null) return 'WORD';
  if (accepts(schema, 'object')) return accepts(schema, 'string') ? 'TEXT' : 'JSON';
  if (accepts(schema, 'array')) return placeholder(itemOf(schema));
  if (schema.format === 'int64') return 'INTEGER';
  if (accepts(schema, 'string')) return 'TEXT';
  return 'NUMBER';
}

/** Describes a field of an input of `namespace`: choices, what it does, bounds or an example, and the default. */
export function describeField({ schema, path, words }: Field, namespace: string): string {
  if (words.does !== undefined) return words.does;
  const item = accepts(schema, 'array') ? itemOf(schema) : schema;
  const both = [...new Set([schema, item])];
  const said = [
    both.flatMap(alternativesOf).flatMap(choicesOrNone).map(String).join(', '),
    ...both.flatMap(alternativesOf).map(({ description = '' }) => description),
    choicesOf(item) === null ? boundsOf(item) : '',
  ].filter((part) => part !== '');
  const hasParts = schema.properties !== undefined || schema.oneOf !== undefined;
  const example =
    item.examples?.[0] ?? (said.length === 0 ? firstOf(sample(schema, path.at(-1) ?? '', namespace)) : null);
  const parts = [
    ...said,
    isSwitch(schema) || hasParts || choicesOf(item) !== null || example === null ? '' : suchAs(example),
    accepts(schema, 'array') ? 'may be given more than once' : '',
    hasParts ? 'the whole value, instead of its parts' : '',
    // Switches and lists are unset by default.
    schema.default === undefined || schema.default === false || accepts(schema, 'object')
      ? ''
      : `default ${String(schema.default)}`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}

const choicesOrNone = (schema: JsonSchema): unknown[] => choicesOf(schema) ?? [];

const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);

const suchAs = (example: unknown): string =>
  `such as ${posixWord(typeof example === 'object' ? JSON.stringify(example) : String(example))}`;

const LENGTH_SHOWN_MAX = 100;

/** How to name what a schema of this title refers to. */
export const REFERENCES: ReadonlyMap<string, string> = new Map([
  ['project', 'an id, a slug or a name'],
  ['key', 'an id or a name'],
]);

function boundsOf(schema: JsonSchema): string {
  const { minimum, maximum, minLength, maxLength, format, title } = schema;
  const count = (value: number) => value.toLocaleString('en');
  if (format === 'int64') return 'an integer of 64 bits';
  if (format === 'uri') return 'a URL';
  const reference = REFERENCES.get(title ?? '');
  if (reference !== undefined) return reference;
  if (minimum !== undefined && maximum !== undefined) return `${count(minimum)} to ${count(maximum)}`;
  // Larger bounds do not help: only a mistake exceeds them.
  if (maxLength !== undefined && maxLength > LENGTH_SHOWN_MAX) return '';
  if (minLength !== undefined && maxLength !== undefined)
    return `${count(minLength)} to ${count(maxLength)} characters`;
  if (maxLength !== undefined) return `at most ${count(maxLength)} characters`;
  return '';
}
