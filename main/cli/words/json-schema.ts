import { z } from 'zod';

/** The subset of JSON Schema (draft 2020-12) that the contract uses. */
export interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  format?: string;
  /** The kind of a reference: `project` or `key`. */
  title?: string;
  /** The allowed texts, where no other key says them. */
  description?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

/** Schema of an input as the client writes it, before defaults and transforms. */
export const toJsonSchema = (type: z.ZodType): JsonSchema =>
  z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

/** The alternatives of a union; any other schema is its own single alternative. */
export function alternativesOf(schema: JsonSchema): JsonSchema[] {
  return [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
    .flatMap(alternativesOf)
    .concat(isUnion(schema) ? [] : [schema]);
}

const isUnion = (schema: JsonSchema): boolean => schema.anyOf !== undefined || schema.oneOf !== undefined;

/** Whether the schema accepts a value of that type. A constant has the type of its value. */
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

/** The properties of an object schema, merged over its alternatives. */
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

/** The schema of a list's items. */
export const itemOf = (schema: JsonSchema): JsonSchema =>
  alternativesOf(schema).find((alternative) => alternative.items !== undefined)?.items ?? {};

/** The allowed values of an enumeration; null for any other schema. */
export function choicesOf(schema: JsonSchema): unknown[] | null {
  const values = alternativesOf(schema).map((part) => part.enum ?? ('const' in part ? [part.const] : null));
  return values.every((value) => value !== null) ? [...new Set(values.flat())] : null;
}
