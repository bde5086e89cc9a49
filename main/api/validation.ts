import { z } from 'zod';
import { VivariumError, type InputIssue } from '../contract/errors.ts';
import { isInt64Text } from '../contract/values.ts';
import { readJsonObject } from './json-object.ts';
import { readQueryText } from './query-text.ts';

/** Reads the JSON text of a body. */
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

/** Parses the decoded parameters of a path. */
export function paramsReader<Schema extends z.ZodObject>(
  schema: Schema,
): (values: Readonly<Record<string, string>>) => z.output<Schema> {
  return (values) => validate('path', schema, typedFromText(schema, values), []);
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

function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? unwrapped(schema.unwrap()) : schema;
}

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
  throw new VivariumError(
    'invalid_request',
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
