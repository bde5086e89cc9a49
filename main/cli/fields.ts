import type { Flag } from './flags.ts';
import { accepts, propertiesOf, type JsonSchema } from './json-schema.ts';
import { kebab } from './procedures.ts';

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
  /** `text-file`, which names a file with the value; for long texts and for objects that are the main input. */
  fileFlag: string | null;
}

/** The fields of an input in the order of the contract; nested fields follow their object. */
export function listFields(input: JsonSchema): Field[] {
  return Object.entries(propertiesOf(input)).flatMap(([name, schema]) => {
    const field = fieldOf([name], schema, input.required?.includes(name) ?? false);
    const inner = Object.entries(propertiesOf(schema)).map(([innerName, innerSchema]) =>
      fieldOf([name, innerName], innerSchema, false),
    );
    return [field, ...inner];
  });
}

/** The field that may be given without its flag: the only required one, if it is a plain value. */
export function positionalOf(fields: readonly Field[]): Field | null {
  const required = fields.filter((field) => field.required);
  const [only] = required;
  if (only === undefined || required.length > 1) return null;
  return accepts(only.schema, 'object') || accepts(only.schema, 'array') ? null : only;
}

/** Builds the flags for the fields of an input. */
export function flagsOf(fields: readonly Field[]): Flag[] {
  return fields.flatMap(({ flag, schema, fileFlag }): Flag[] => [
    { name: flag, kind: isSwitch(schema) ? 'switch' : 'value' },
    ...(fileFlag === null ? [] : [{ name: fileFlag, kind: 'value' } as const]),
  ]);
}

const isSwitch = (schema: JsonSchema): boolean => accepts(schema, 'boolean') && !accepts(schema, 'string');

function fieldOf(path: readonly [string, ...string[]], schema: JsonSchema, required: boolean): Field {
  const flag = path.map(kebab).join('.');
  const isLong = accepts(schema, 'string') && (schema.maxLength ?? 0) > LONG_TEXT_LENGTH;
  const inFile = isLong || (required && accepts(schema, 'object'));
  return { path, flag, schema, required, fileFlag: inFile ? `${flag}-file` : null };
}
