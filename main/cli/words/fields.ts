import type { Deed, InputWords } from './deed.ts';
import { type Flag, flagNamed, PROCEDURE_FLAGS } from './flags.ts';
import { accepts, propertiesOf, type JsonSchema } from './json-schema.ts';
import { kebab, listProcedures, type CliProcedure } from './procedures.ts';

/** Longer texts also get a flag that reads them from a file. */
const LONG_TEXT_LENGTH = 10_000;

/** A part of an input that has its own flag. */
export interface Field {
  /** `['limits', 'perMinute']` */
  path: readonly [string, ...string[]];
  /** `limits.per-minute` */
  flag: string;
  schema: JsonSchema;
  required: boolean;
  /** Whether it may be given without its flag. */
  positional: boolean;
  /** How else the flag may be written. */
  aliases: readonly string[];
  /** Whether only the command line knows it. */
  isOwn: boolean;
  /** Whether no help has it, because its parts are options. */
  isSilent: boolean;
  words: InputWords;
  /** Whether the command line chooses a project when this one is missing. */
  defaulted: boolean;
  /** `text-file`, which names a file with the value; for long texts and for objects that are the main input. */
  fileFlag: string | null;
}

/** The fields of an input in the order of the contract; nested fields follow their object, and the own ones the others. */
export function listFields({ input, deed }: Pick<CliProcedure, 'input' | 'deed'>): Field[] {
  const given = Object.entries(propertiesOf(input)).flatMap(([name, schema]) => {
    const field = fieldOf([name], schema, input.required?.includes(name) ?? false, deed);
    const inner = Object.entries(propertiesOf(schema)).map(([innerName, innerSchema]) =>
      fieldOf([name, innerName], innerSchema, false, deed),
    );
    const defaulted = deed.isNamed !== true && field.required && schema.title === 'project';
    return [{ ...field, defaulted }, ...inner];
  });
  const own = Object.entries(deed.own ?? {}).map(([name, schema]): Field => ({
    ...fieldOf([name], schema, false, { inputs: { [name]: schema } }),
    isOwn: true,
  }));
  return [...given, ...own];
}

/** The fields that may be given without their flags, in this order: mostly the required ones that are plain values. */
export const positionalsOf = (fields: readonly Field[]): Field[] => fields.filter(({ positional }) => positional);

/** Flags whose name is not a noun. */
const USAGE_WORDS: Record<string, string | undefined> = { by: 'DURATION', to: 'MOMENT' };

/** A field in the usage line: `HOSTNAME`. */
export const usageWord = ({ flag }: Field): string => USAGE_WORDS[flag] ?? flag.toUpperCase();

/**
 * The fields for which `count` words without flags stand, among the positionals without a flag on the line. With one
 * word fewer than fields, the project is omitted.
 */
export const fieldsOfWords = (open: readonly Field[], count: number): readonly Field[] =>
  count < open.length ? open.filter(({ defaulted }) => !defaulted) : open;

/** Builds the flags for the fields of an input. */
export function flagsOf(fields: readonly Field[]): Flag[] {
  return fields.flatMap(({ flag, aliases, schema, fileFlag }): Flag[] => [
    {
      name: flag,
      kind: isSwitch(schema) ? 'switch' : 'value',
      aliases,
      // The schema says which texts may be empty.
      ...(!isReference(schema) && { mayBeEmpty: true }),
    },
    ...(fileFlag === null ? [] : [{ name: fileFlag, kind: 'value' } as const]),
  ]);
}

/** Where the first word is that is neither an option nor its value; -1 without one, and behind an unknown option. */
export function firstWord(word: string, args: readonly string[]): number {
  if (args[0]?.startsWith('-') !== true) return args.length === 0 ? -1 : 0;
  const flags = [...PROCEDURE_FLAGS, ...listProcedures(word).flatMap((each) => flagsOf(listFields(each)))];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) return at;
    const flag = flagNamed(arg.replace(/^--(?:no-)?|=.*$/g, ''), flags);
    if (flag === undefined) return -1;
    if (flag.kind === 'value' && !arg.includes('=')) at++;
  }
  return -1;
}

/**
 * Names the field of an issue's path as the usage line does: `hostname` is `HOSTNAME`, `limits.perMinute`
 * `--limits.per-minute`, `cors[0]` `--cors`, and `redirects[0].to` `--redirects[0].to`.
 */
export function fieldNameAt(path: string, fields: readonly Field[]): string {
  const names = path.replace(/\[.*$/, '').split('.');
  for (let length = Math.min(names.length, 2); length > 0; length--) {
    const wanted = names.slice(0, length).join('.');
    const field = fields.find((candidate) => candidate.path.join('.') === wanted);
    if (field === undefined) continue;
    const place = path.slice(wanted.length);
    if (field.words.read !== undefined && place.startsWith('.')) return `--${field.flag} ${place.slice(1)}`;
    // An option that is given several times: its values have no number.
    return (field.positional ? usageWord(field) : `--${field.flag}`) + (/^\[\d+\]$/.test(place) ? '' : place);
  }
  return path;
}

/** Whether an option takes no value. */
export const isSwitch = (schema: JsonSchema): boolean => accepts(schema, 'boolean') && !accepts(schema, 'string');

/**
 * A project or a key: its option is `--project` and `--key`, because it takes names too; `--project-id` works as well.
 */
const isReference = ({ title }: JsonSchema): boolean => title === 'project' || title === 'key';

function fieldOf(
  path: readonly [string, ...string[]],
  schema: JsonSchema,
  required: boolean,
  { inputs = {}, lifted }: Pick<Deed, 'inputs' | 'lifted'>,
): Field {
  const words = inputs[path.join('.')] ?? {};
  const usual = path[0] === 'confirm' ? 'yes' : path.map(kebab).join('.');
  const isLifted = path.length > 1 && path[0] === lifted;
  const named = words.flag ?? (isLifted ? usual.slice(lifted.length + 1) : usual);
  const flag = isReference(schema) ? named.replace(/-id$/, '') : named;
  const isLong = accepts(schema, 'string') && (schema.maxLength ?? 0) > LONG_TEXT_LENGTH;
  const inFile = isLong || (required && accepts(schema, 'object'));
  return {
    path,
    flag,
    aliases: [...(isReference(schema) ? [`${flag}-id`, usual.replace(/-id$/, '')] : []), usual].filter(
      (name) => name !== flag,
    ),
    schema,
    required,
    positional: words.isWord ?? (required && !accepts(schema, 'object') && !accepts(schema, 'array')),
    defaulted: false,
    fileFlag: inFile && words.isContent !== true ? `${flag}-file` : null,
    isOwn: false,
    isSilent: (path.length === 1 && path[0] === lifted) || words.isSilent === true,
    words,
  };
}
