import { resolve } from 'node:path';
import { z } from 'zod';
import { summarizeIssues, toInputIssues, type SchemaIssue } from '../../contract/issues.ts';
import { type InputIssue, invalidRequest, type VivariumError } from '../../contract/errors.ts';
import { mention } from '../../contract/calls.ts';
import type { TargetSetting } from '../../contract/projects.ts';
import { fieldNameAt, fieldsOfWords, isSwitch, positionalsOf, usageWord, type Field } from './fields.ts';
import { usageError, type Arguments } from './flags.ts';
import { accepts, alternativesOf, choicesOf, itemOf, type JsonSchema } from './json-schema.ts';
import { posixWord } from '../../base/text/shell.ts';
import { type CliProcedure, siblingsOf } from './procedures.ts';
import { sampleInput } from './samples.ts';

/** What a command line does not say itself. */
export interface Sources {
  /** Reads the file named by a `…-file` flag; `-` is standard input. */
  readFile(path: string): Promise<string>;
  /** Chooses the project of a command line that names none. */
  chooseProject(): Promise<string>;
  /**
   * Whether the first of too few words names a project; false where no Vivarium runs.
   * @throws VivariumError `invalid_request` where it names none and no project can be chosen either.
   */
  isProject(word: string): Promise<boolean>;
  /** The present target of a project, given as in input. */
  presentTarget(project: unknown): Promise<TargetSetting>;
  /** Paths are relative to it. */
  workingDir: string;
  /** A sentence for a surplus word, with a leading space. */
  hint?: string;
}

/**
 * Builds the procedure's JSON input from the command line.
 * @throws VivariumError `invalid_request` that names the missing or wrong flags and their allowed values.
 */
export async function buildInput(
  procedure: CliProcedure,
  fields: readonly Field[],
  read: Arguments,
  sources: Sources,
): Promise<{ input: Record<string, unknown>; own: Record<string, unknown> }> {
  const input: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  const { chooseProject, presentTarget, workingDir } = sources;
  const { collected, project } = await collect(fields, read, sources);
  for (const { field, texts } of collected) {
    if (texts.length > 0) place(field.isOwn ? own : input, field.path, readValue(field, texts, workingDir), procedure);
  }
  const parts = input['target'];
  // Only an upstream has parts besides its kind.
  if (procedure.namespace === 'projects' && isObject(parts) && !('kind' in parts)) {
    let present: object = { kind: 'upstream' };
    if (procedure.name === 'update') {
      input['projectId'] ??= await chooseProject();
      const target = await presentTarget(input['projectId']);
      if (target.kind === 'upstream') present = target;
    }
    input['target'] = { ...present, ...parts };
  }
  const defaulted = fields.find((field) => field.defaulted && !(field.path[0] in input))?.path[0];
  const missing = positionalsOf(fields).filter(
    (field) => field.required && !field.defaulted && !(field.path[0] in input),
  );
  if (missing.length > 0)
    throw usageError(`${project === null ? '' : `${project} is a project; `}${missingText(missing, procedure, input)}`);
  // Other faults are reported first: they need no running Vivarium.
  if (defaulted !== undefined) {
    const other = procedure.inputType.safeParse({ ...input, [defaulted]: 'any' });
    if (other.success) input[defaulted] = await chooseProject();
    else throw inputError(other.error.issues as unknown as readonly SchemaIssue[], input, fields);
  }
  const checked = procedure.inputType.safeParse(input);
  if (!checked.success) throw inputError(checked.error.issues as unknown as readonly SchemaIssue[], input, fields);
  return { input, own };
}

/** `HOSTNAME is missing: ` and the command with an example in its place. */
function missingText(missing: readonly Field[], procedure: CliProcedure, given: Record<string, unknown>): string {
  const { namespace, name, input: schema } = procedure;
  const instead = siblingsOf(procedure).map(({ deed }) => ` or --${deed.by}`);
  const words = missing.map(usageWord).join(' and ') + instead.join('');
  const example = { ...sampleInput(namespace, schema, 'required'), ...given };
  return `${words} ${missing.length === 1 ? 'is' : 'are'} missing: ${mention(`${namespace}.${name}`, example)}`;
}

/** `project`: the first word if it names one, though there are too few words for all fields. */
async function collect(
  fields: readonly Field[],
  read: Arguments,
  { readFile, isProject, hint = '' }: Sources,
): Promise<{ collected: { field: Field; texts: string[] }[]; project: string | null }> {
  const isGiven = ({ flag, fileFlag }: Field): boolean => read.flags.has(flag) || read.flags.has(fileFlag ?? '');
  const words = read.positionals;
  const open = positionalsOf(fields).filter((field) => !isGiven(field));
  const unexpected = words[open.length];
  if (unexpected !== undefined) {
    const on = fields.find((field) => isSwitch(field.schema) && isGiven(field));
    if (on !== undefined && (unexpected === 'true' || unexpected === 'false'))
      throw usageError(`--${on.flag} takes no value; to turn it off: --no-${on.flag}`);
    const isTwice = positionalsOf(fields).some(isGiven);
    const other = fields.find((field) => !isTwice && !field.isSilent && !open.includes(field) && !isGiven(field));
    const between = unexpected.startsWith('--') ? '=' : ' ';
    const taken = open.length === 0 ? '' : ` The command takes ${open.map(usageWord).join(' ')} only.`;
    const fix = other === undefined ? taken : ` Did you mean --${other.flag}${between}${posixWord(unexpected)}?`;
    throw usageError(`Unexpected argument ${JSON.stringify(unexpected)}.${fix}${hint}`);
  }
  const [first] = words;
  const isShort = first !== undefined && words.length < open.length && open[0]?.defaulted === true;
  const project = isShort && (await isProject(first)) ? first : null;
  const worded = project === null ? fieldsOfWords(open, words.length) : open;
  const collected: { field: Field; texts: string[] }[] = [];
  for (const field of fields) {
    const files = field.fileFlag === null ? [] : read.all({ name: field.fileFlag });
    const given = [...words.slice(...placeOf(field, worded)), ...read.all({ name: field.flag })];
    const [texts, paths] = field.words.isContent === true ? [[], [...given, ...files]] : [given, files];
    collected.push({ field, texts: [...texts, ...(await Promise.all(paths.map(readFile)))] });
  }
  return { collected, project };
}

/** The range of the words that stand for a field; empty for one that has a flag. */
function placeOf(field: Field, worded: readonly Field[]): [start: number, end: number] {
  const index = worded.indexOf(field);
  return index < 0 ? [0, 0] : [index, index + 1];
}

function readValue(field: Field, texts: readonly string[], workingDir: string): unknown {
  if (field.words.read !== undefined) return field.words.read(texts);
  const values = texts.map((text) => readText(text, field));
  const [only] = values;
  if (accepts(field.schema, 'array')) {
    const isWhole = values.length === 1 && (Array.isArray(only) || isChoice(field.schema, only));
    return isWhole ? only : values.flat();
  }
  if (values.length > 1) throw usageError(`--${field.flag} is given ${values.length} times but takes one value.`);
  return field.words.isFile === true ? resolve(workingDir, String(only)) : only;
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

const isChoice = (schema: JsonSchema, value: unknown): boolean =>
  alternativesOf(schema).some((alternative) => choicesOf(alternative)?.includes(value) ?? false);

/** Sets a value in the input; the flag of a part adds to the value of the flag for the whole, which may be a text. */
function place(
  input: Record<string, unknown>,
  [first, second]: Field['path'],
  value: unknown,
  { inputType }: CliProcedure,
): void {
  if (second === undefined) {
    input[first] = value;
    return;
  }
  const given = input[first];
  const whole = typeof given === 'string' ? readWhole(given, first, inputType) : given;
  // Any other text is passed on, and refused later.
  if (typeof whole !== 'string') input[first] = { ...(isObject(whole) ? whole : {}), [second]: value };
}

/** The object into which the schema turns a text, such as a target of `5173`. */
function readWhole(text: string, name: string, inputType: z.ZodType): unknown {
  const type: unknown = inputType instanceof z.ZodObject ? inputType.shape[name] : undefined;
  const read = type instanceof z.ZodType ? type.safeParse(text) : undefined;
  return read?.success === true ? read.data : text;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function inputError(found: readonly SchemaIssue[], input: unknown, fields: readonly Field[]): VivariumError {
  const wrong = toInputIssues(found, input);
  const issues = wrong.issues.map(({ path, message }): InputIssue => ({ path: fieldNameAt(path, fields), message }));
  return invalidRequest(summarizeIssues({ issues, total: wrong.total }), { issues });
}
