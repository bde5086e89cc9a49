import { z } from 'zod';
import { VivariumError, type InputIssue } from '../contract/errors.ts';
import { isInt64Text } from '../contract/values.ts';
import { readJsonObject } from './json-object.ts';
import { readQueryText } from './query-text.ts';

/** What Fastify's validators return. */
export type Validation = { value: unknown } | { error: VivariumError };

/** Validates one part of a request as Fastify hands it over. */
export type Validator = (data: unknown) => Validation;

/** The body arrives as JSON text; null stands for none. */
export function bodyValidator(schema: z.ZodObject): Validator {
  const names = Object.keys(schema.shape);
  return guarded((data) => {
    const { values, repeated } = readJsonObject(typeof data === 'string' ? data : '', names);
    const issues = repeated.map((path) => ({ path, message: 'was given more than once; send it once' }));
    return validate('body', schema, values, issues);
  });
}

/** How many valid queries are remembered with what they mean; clients ask with few different ones. */
const QUERIES_REMEMBERED_MAX = 256;

/** Longer queries are read every time, so that the memory stays small. */
const QUERY_LENGTH_REMEMBERED_MAX = 256;

/** The query arrives as `{ text }`. */
export function queryValidator(schema: z.ZodObject): Validator {
  const names = Object.keys(schema.shape);
  const remembered = new Map<string, Validation>();
  const read = guarded((data) => {
    const { values, issues } = readQueryText((data as QueryCarrier).text, names);
    return validate('query', schema, typedFromText(schema, values), issues);
  });
  return (data) => {
    const { text } = data as QueryCarrier;
    const known = remembered.get(text);
    if (known !== undefined) return known;
    const validation = read(data);
    if ('value' in validation && text.length <= QUERY_LENGTH_REMEMBERED_MAX) {
      if (remembered.size >= QUERIES_REMEMBERED_MAX) remembered.clear();
      remembered.set(text, validation);
    }
    return validation;
  };
}

/** A query that nothing has been read of yet. */
export interface QueryCarrier {
  text: string;
}

/** Path parameters arrive as a record of texts. */
export function paramsValidator(schema: z.ZodObject): Validator {
  return guarded((data) => validate('path', schema, typedFromText(schema, data as Record<string, string>), []));
}

function guarded(read: (data: unknown) => unknown): Validator {
  return (data) => {
    try {
      return { value: read(data) };
    } catch (error) {
      if (error instanceof VivariumError) return { error };
      throw error;
    }
  };
}

/**
 * Texts of an address as the types of the schema: plain decimal digits become numbers or bigints. Whatever is not in
 * that form stays a text, for the schema to refuse.
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

function validate(
  part: 'body' | 'query' | 'path',
  schema: z.ZodObject,
  values: Record<string, unknown>,
  found: readonly InputIssue[],
): unknown {
  const result = schema.safeParse(values);
  if (result.success && found.length === 0) return result.data;
  const issues = new Map(found.map((issue) => [issue.path, issue]));
  for (const issue of result.error?.issues ?? []) {
    const path = String(issue.path[0] ?? '');
    // The first issue of a field says it all; further checks of the same field would only repeat it.
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
