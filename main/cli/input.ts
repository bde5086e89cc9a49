import { summarizeIssues, toInputIssues, type SchemaIssue } from '../contract/issues.ts';
import { VivariumError, type InputIssue } from '../contract/errors.ts';
import { positionalOf, type Field } from './fields.ts';
import { usageError, type Arguments } from './flags.ts';
import { accepts, alternativesOf, choicesOf, type JsonSchema } from './json-schema.ts';
import type { CliProcedure } from './procedures.ts';

/** Reads the file named by a `…-file` flag; `-` is standard input. */
export type ReadFile = (path: string) => Promise<string>;

/**
 * Builds the procedure's JSON input from the command line.
 * @throws VivariumError `invalid_request` that names the missing or wrong flags and their allowed values.
 */
export async function buildInput(
  procedure: CliProcedure,
  fields: readonly Field[],
  read: Arguments,
  readFile: ReadFile,
): Promise<string> {
  const input: Record<string, unknown> = {};
  for (const { field, texts } of await collect(fields, read, readFile)) {
    if (texts.length > 0) place(input, field.path, readValue(field, texts));
  }
  const checked = procedure.inputType.safeParse(input);
  if (!checked.success) throw inputError(checked.error.issues as unknown as readonly SchemaIssue[], input, fields);
  return JSON.stringify(input);
}

async function collect(
  fields: readonly Field[],
  read: Arguments,
  readFile: ReadFile,
): Promise<{ field: Field; texts: string[] }[]> {
  const positional = positionalOf(fields);
  const [word, surplus] = read.positionals;
  const unexpected = positional === null ? word : surplus;
  if (unexpected !== undefined) {
    const open = fields.find((field) => field !== positional && !read.flags.has(field.flag));
    const fix = open === undefined ? 'leave it out' : `give it with its option, such as --${open.flag}=${unexpected}`;
    throw usageError(`${JSON.stringify(unexpected)} is unexpected: ${fix}.`);
  }
  const collected: { field: Field; texts: string[] }[] = [];
  for (const field of fields) {
    const files = field.fileFlag === null ? [] : (read.flags.get(field.fileFlag) ?? []);
    const words = field === positional && word !== undefined ? [word] : [];
    const texts = [...words, ...(read.flags.get(field.flag) ?? []), ...(await Promise.all(files.map(readFile)))];
    collected.push({ field, texts });
  }
  return collected;
}

function readValue(field: Field, texts: readonly string[]): unknown {
  const values = texts.map((text) => readText(text, field));
  const [only] = values;
  if (accepts(field.schema, 'array')) {
    const isWhole = values.length === 1 && (Array.isArray(only) || isChoice(field.schema, only));
    return isWhole ? only : values.flat();
  }
  if (values.length > 1) throw usageError(`--${field.flag} is given ${values.length} times but takes one value.`);
  return only;
}

/** Converts a word to the type in the schema; leaves the word as it is when no type fits, for the schema to refuse. */
function readText(text: string, { schema, flag }: Field): unknown {
  if (/^\s*[[{]/.test(text) && (accepts(schema, 'object') || accepts(schema, 'array'))) return readJson(text, flag);
  if (isChoice(schema, text)) return text;
  const item = accepts(schema, 'array') ? itemOf(schema) : schema;
  if (text === 'null' && accepts(item, 'null')) return null;
  if ((text === 'true' || text === 'false') && accepts(item, 'boolean')) return text === 'true';
  // Strings carry every int64 exactly, so they win where the schema allows both.
  if (!accepts(item, 'string') && accepts(item, 'number') && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    return Number(text);
  return text;
}

function readJson(text: string, flag: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usageError(`The value of --${flag} is not JSON: ${(cause as Error).message}.`);
  }
}

const itemOf = (schema: JsonSchema): JsonSchema =>
  alternativesOf(schema).find((alternative) => alternative.items !== undefined)?.items ?? {};

const isChoice = (schema: JsonSchema, value: unknown): boolean =>
  alternativesOf(schema).some((alternative) => choicesOf(alternative)?.includes(value) ?? false);

/** Sets a value in the input; the flag of a part adds to the value of the flag for the whole. */
function place(input: Record<string, unknown>, [first, second]: Field['path'], value: unknown): void {
  if (second === undefined) {
    input[first] = value;
    return;
  }
  const whole = input[first];
  input[first] = { ...(typeof whole === 'object' && whole !== null ? whole : {}), [second]: value };
}

function inputError(found: readonly SchemaIssue[], input: unknown, fields: readonly Field[]): VivariumError {
  const wrong = toInputIssues(found, input);
  const issues = wrong.issues.map(({ path, message }): InputIssue => ({
    path: flagAt(path, fields),
    message,
  }));
  return new VivariumError('invalid_request', summarizeIssues({ issues, total: wrong.total }), { issues });
}

/** Maps an issue's path to its flag: `limits.perMinute` to `--limits.per-minute`, `cors[0]` to `--cors`. */
function flagAt(path: string, fields: readonly Field[]): string {
  const names = path.replace(/\[.*$/, '').split('.');
  for (let length = Math.min(names.length, 2); length > 0; length--) {
    const wanted = names.slice(0, length).join('.');
    const field = fields.find((candidate) => candidate.path.join('.') === wanted);
    if (field !== undefined) return `--${field.flag}`;
  }
  return path;
}
