import type { Flag } from './flags.ts';
import { accepts, propertiesOf, type JsonSchema } from './json-schema.ts';
import { kebab, type CliProcedure } from './procedures.ts';

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
  /** Whether the command line chooses a project when this one is missing. */
  defaulted: boolean;
  /** `text-file`, which names a file with the value; for long texts and for objects that are the main input. */
  fileFlag: string | null;
}

/** A field that need not be given, and may be a word all the same, as for `dig`. */
const OPTIONAL_WORD = 'dns.query type';

/** Whether the call removes the project itself: then it must be named. */
const NEVER_DEFAULTED = 'projects.remove';

/** The fields of an input in the order of the contract; nested fields follow their object. */
export function listFields({ namespace, name: procedure, input }: CliProcedure): Field[] {
  const mayDefault = `${namespace}.${procedure}` !== NEVER_DEFAULTED;
  return Object.entries(propertiesOf(input)).flatMap(([name, schema]) => {
    const field = fieldOf([name], schema, input.required?.includes(name) ?? false);
    const inner = Object.entries(propertiesOf(schema)).map(([innerName, innerSchema]) =>
      fieldOf([name, innerName], innerSchema, false),
    );
    const defaulted = mayDefault && field.required && schema.title === 'project';
    const positional = field.positional || `${namespace}.${procedure} ${name}` === OPTIONAL_WORD;
    return [{ ...field, positional, defaulted }, ...inner];
  });
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
export function fieldsOfWords(open: readonly Field[], count: number): readonly Field[] {
  return count < open.length ? open.filter(({ defaulted }) => !defaulted) : open;
}

/** Builds the flags for the fields of an input. */
export function flagsOf(fields: readonly Field[]): Flag[] {
  return fields.flatMap(({ flag, schema, fileFlag }): Flag[] => [
    {
      name: flag,
      kind: isSwitch(schema) ? 'switch' : 'value',
      // The schema says which texts may be empty.
      ...(isReference(schema) ? { alias: `${flag}-id` } : { mayBeEmpty: true }),
    },
    ...(fileFlag === null ? [] : [{ name: fileFlag, kind: 'value' } as const]),
  ]);
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

function fieldOf(path: readonly [string, ...string[]], schema: JsonSchema, required: boolean): Field {
  const name = path[0] === 'confirm' ? 'yes' : path.map(kebab).join('.');
  const flag = isReference(schema) ? name.replace(/-id$/, '') : name;
  const isLong = accepts(schema, 'string') && (schema.maxLength ?? 0) > LONG_TEXT_LENGTH;
  const inFile = isLong || (required && accepts(schema, 'object'));
  const positional = required && !accepts(schema, 'object') && !accepts(schema, 'array');
  return { path, flag, schema, required, positional, defaulted: false, fileFlag: inFile ? `${flag}-file` : null };
}
