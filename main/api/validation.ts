import { messageOf } from '../base/error-code.ts';
import { z } from 'zod';
import { type InputIssue, invalidRequest, orElse } from '../contract/errors.ts';
import { isInt64Text } from '../contract/values.ts';
import { parseExactJson, type ExactJson, closes, COLON, COMMA, JsonStructure, opens } from '../base/text/exact-json.ts';

/** This API's bodies are flat; deeper nesting has no use and consumes stack in the parser. */
export const NESTING_MAX = 64;

/** The requested members of a JSON object, with exact numbers, and the names that occurred more than once. */
interface JsonMembers {
  values: Record<string, ExactJson>;
  repeated: readonly string[];
}

interface Span {
  start: number;
  end: number;
}

/**
 * Reads the members called `names` of the JSON object in `text`, with integers as bigints of any size. Other members,
 * including `__proto__`, are only checked for valid JSON.
 *
 * Only the requested members go through the exact parser: it runs a callback for every value, and a mebibyte of small
 * numbers in another member would block the process for seconds.
 * @throws VivariumError `invalid_request` if the text is not exactly one JSON object.
 */
export function readJsonObject(text: string, names: readonly string[]): JsonMembers {
  const spans = scanMembers(text, new Set(names));
  const plain = parsePlain(text);
  const values: Record<string, ExactJson> = {};
  const repeated: string[] = [];
  for (const [name, { count, span }] of spans) {
    if (count > 1) repeated.push(name);
    const literal = text.slice(span.start, span.end).trim();
    // No field accepts an array or object, so their content is irrelevant.
    values[name] = /^[[{]/.test(literal) ? (Array.isArray(plain[name]) ? [] : {}) : parseExactJson(literal);
  }
  return { values, repeated };
}

function parsePlain(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw invalidRequest(`The body is not valid JSON: ${messageOf(error)}.`);
  }
}

/**
 * Finds the values of the members called `names`. Correct for JSON; for other text it finds arbitrary positions, but
 * always terminates.
 */
function scanMembers(text: string, names: ReadonlySet<string>): Map<string, { count: number; span: Span }> {
  const found = new Map<string, { count: number; span: Span }>();
  if (!/^[ \t\r\n]*\{/.test(text)) {
    throw invalidRequest(
      text.trim() === ''
        ? 'The body is empty; send a JSON object.'
        : 'The body is not a JSON object; send one, such as {"name":"Biscuit","categoryId":1}.',
    );
  }
  const structure = new JsonStructure();
  let memberStart = 0;
  let name: string | null = null;
  let valueStart = -1;

  const close = (end: number): void => {
    if (name !== null) found.set(name, { count: (found.get(name)?.count ?? 0) + 1, span: { start: valueStart, end } });
    name = null;
    memberStart = end + 1;
  };

  for (let at = structure.next(text, 0); at >= 0; at = structure.next(text, at + 1)) {
    const unit = text.charCodeAt(at);
    const { depth } = structure;
    if (depth > NESTING_MAX) {
      throw invalidRequest(`The body nests deeper than ${NESTING_MAX} levels; send a flat object.`);
    }
    if (depth === 1 && opens(unit)) memberStart = at + 1;
    else if (depth === 1 && unit === COLON) {
      name = memberName(text.slice(memberStart, at).trim(), names);
      valueStart = at + 1;
    } else if (closes(unit) ? depth === 0 : depth === 1 && unit === COMMA) close(at);
  }
  return found;
}

/** The name in a JSON string literal, with escapes decoded, if it is one of `names`. */
function memberName(literal: string, names: ReadonlySet<string>): string | null {
  const plain = literal.slice(1, -1);
  const name = plain.includes('\\') ? orElse(() => String(JSON.parse(literal)), null) : plain;
  return name !== null && names.has(name) ? name : null;
}

export function bodyReader<Schema extends z.ZodObject>(schema: Schema): (text: string) => z.output<Schema> {
  const names = Object.keys(schema.shape);
  return (text) => {
    const { values, repeated } = readJsonObject(text, names);
    const issues = repeated.map((path) => ({ path, message: 'was given more than once; send it once' }));
    return validate('body', schema, values, issues);
  };
}

/** How many valid queries are cached with their parsed form; clients use only a few different ones. */
const QUERIES_REMEMBERED_MAX = 256;

/** Longer queries are parsed every time, which bounds the cache's memory. */
const QUERY_LENGTH_REMEMBERED_MAX = 256;

/** Parses a query without its question mark. */
export function queryReader<Schema extends z.ZodObject>(schema: Schema): (text: string) => z.output<Schema> {
  const names = Object.keys(schema.shape);
  const remembered = new Map<string, z.output<Schema>>();
  return (text) => {
    const known = remembered.get(text);
    if (known !== undefined) return known;
    const { values, issues } = readQueryText(text, names);
    const query = validate('query', schema, typedFromText(schema, values), issues);
    if (text.length <= QUERY_LENGTH_REMEMBERED_MAX) {
      if (remembered.size >= QUERIES_REMEMBERED_MAX) remembered.clear();
      remembered.set(text, query);
    }
    return query;
  };
}

/** Parses the decoded parameters of a path; those of a target that is remembered once only. */
export function paramsReader<Schema extends z.ZodObject>(
  schema: Schema,
): (values: Readonly<Record<string, string>>) => z.output<Schema> {
  const parsed = new WeakMap<Readonly<Record<string, string>>, z.output<Schema>>();
  return (values) => {
    const known = parsed.get(values);
    if (known !== undefined) return known;
    const params = validate('path', schema, typedFromText(schema, values), []);
    parsed.set(values, params);
    return params;
  };
}

/**
 * Converts plain decimal digits to the schema's numbers or bigints. Other values remain strings, which the schema
 * rejects.
 */
function typedFromText(schema: z.ZodObject, values: Readonly<Record<string, string>>): Record<string, unknown> {
  const typed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const inner = unwrapped(schema.shape[name]);
    if (inner instanceof z.ZodBigInt && isInt64Text(value)) typed[name] = BigInt(value);
    else if (inner instanceof z.ZodNumber && /^[0-9]+$/.test(value)) typed[name] = Number(value);
    else typed[name] = value;
  }
  return typed;
}

const unwrapped = (schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? unwrapped(schema.unwrap()) : schema;

/** @throws VivariumError `invalid_request` with one issue per invalid field. */
function validate<Schema extends z.ZodObject>(
  part: 'body' | 'query' | 'path',
  schema: Schema,
  values: Record<string, unknown>,
  found: readonly InputIssue[],
): z.output<Schema> {
  const result = schema.safeParse(values);
  if (result.success && found.length === 0) return result.data;
  const issues = new Map(found.map((issue) => [issue.path, issue]));
  for (const issue of result.error?.issues ?? []) {
    const path = String(issue.path[0] ?? '');
    // Reports only the first issue per field; further ones would repeat it.
    if (!issues.has(path)) issues.set(path, { path, message: sentence(issue, Object.hasOwn(values, path)) });
  }
  const list = [...issues.values()];
  throw invalidRequest(
    `The ${part} is not acceptable: ${list.map(({ path, message }) => `"${path}" ${message}`).join('; ')}.`,
    { issues: list },
  );
}

function sentence(issue: z.core.$ZodIssue, present: boolean): string {
  const allowed =
    issue.code === 'invalid_value'
      ? `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
      : issue.message;
  return present ? allowed : `is missing; it ${allowed}`;
}

/** The requested parameters, decoded, and issues with their form. */
export interface QueryText {
  values: Record<string, string>;
  issues: readonly InputIssue[];
}

/**
 * Reads the parameters called `names` from a query (without its question mark), in the format of HTML forms and
 * URLSearchParams: `+` is a space, and a parameter without `=` is empty. Others are ignored. A repeated parameter is
 * ambiguous, so it is an issue.
 * @throws VivariumError `invalid_request` if a percent-encoding is malformed or is not UTF-8.
 */
export function readQueryText(text: string, names: readonly string[]): QueryText {
  const values: Record<string, string> = {};
  const issues: InputIssue[] = [];
  for (const part of text.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = decode(equals < 0 ? '' : part.slice(equals + 1));
    if (!names.includes(name)) continue;
    if (Object.hasOwn(values, name)) issues.push({ path: name, message: 'was given more than once; send it once' });
    values[name] = value;
  }
  return { values, issues };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidRequest(
      'The query has a malformed percent-encoding; write % itself as %25, and other characters as UTF-8.',
    );
  }
}
