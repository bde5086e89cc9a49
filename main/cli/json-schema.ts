import { z } from 'zod';

/** What of JSON Schema (draft 2020-12) the contract's inputs consist of. */
export interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

/** An input as it is written, before defaults and conversions. */
export function toJsonSchema(type: z.ZodType): JsonSchema {
  return z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

/** The alternatives that a schema consists of; itself, when there is one only. */
export function alternativesOf(schema: JsonSchema): JsonSchema[] {
  return [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
    .flatMap(alternativesOf)
    .concat(isUnion(schema) ? [] : [schema]);
}

const isUnion = (schema: JsonSchema): boolean => schema.anyOf !== undefined || schema.oneOf !== undefined;

/** Whether a value of that type may stand there. A fixed value has the type that it is of. */
export function accepts(schema: JsonSchema, type: string): boolean {
  return alternativesOf(schema).some((alternative) => {
    const types = alternative.type === undefined ? typesOf(alternative) : [alternative.type].flat();
    return types.includes(type) || (type === 'number' && types.includes('integer'));
  });
}

function typesOf(schema: JsonSchema): string[] {
  const values = schema.enum ?? ('const' in schema ? [schema.const] : []);
  return values.map((value) => (value === null ? 'null' : typeof value));
}

/** The properties of an object, those of all its alternatives together. */
export function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  const merged: Record<string, JsonSchema> = {};
  for (const alternative of alternativesOf(schema)) {
    for (const [name, property] of Object.entries(alternative.properties ?? {})) {
      const before = merged[name];
      merged[name] = before === undefined ? property : { anyOf: [before, property] };
    }
  }
  return merged;
}

/** The values that are allowed, when they are few and fixed; null when they are not. */
export function choicesOf(schema: JsonSchema): unknown[] | null {
  const values = alternativesOf(schema).map((part) => part.enum ?? ('const' in part ? [part.const] : null));
  return values.every((value) => value !== null) ? [...new Set(values.flat())] : null;
}
