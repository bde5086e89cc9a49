import { REFERENCES } from '../words/field-help.ts';
import type { JsonSchema } from '../words/json-schema.ts';
import { procedureNamed } from '../words/procedures.ts';
import { isWriting, TOOLS, type Tool } from './tools.ts';

/** A tool as a client lists it. */
export interface Definition {
  name: string;
  description: string;
  inputSchema: { type: 'object'; [key: string]: unknown };
  annotations?: { readOnlyHint: true };
}

/** The tools that a server offers; tools that make changes only on request. */
export const offered = (allowsWrites: boolean): Tool[] => TOOLS.filter((tool) => allowsWrites || !isWriting(tool));

/** A tool's definition: its parameters are those of its procedure in the contract. */
export function define(tool: Tool): Definition {
  const { properties = {}, required = [] } = procedureNamed(tool.procedure).input;
  const names = tool.offers ?? Object.keys(properties);
  const kept = names.flatMap((name) => {
    const schema = properties[name];
    return schema === undefined ? [] : [[name, concise(schema)] as const];
  });
  const needed = required.filter((name) => names.includes(name));
  return {
    name: tool.name,
    description: tool.does,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(kept),
      ...(needed.length > 0 && { required: needed }),
    },
    ...(!isWriting(tool) && { annotations: { readOnlyHint: true } }),
  };
}

/** Schema parts that only help after a mistake, which Vivarium explains anyway; omitted to save context. */
const OMITTED = new Set([
  'allOf',
  '$schema',
  'pattern',
  'minLength',
  'maxLength',
  'maxItems',
  'minItems',
  'additionalProperties',
]);

function concise(schema: JsonSchema): JsonSchema {
  const { title, ...rest } = schema;
  const reference = title === undefined ? undefined : REFERENCES.get(title);
  const short = Object.fromEntries(
    Object.entries(rest)
      .filter(([name]) => !OMITTED.has(name))
      .map(([name, value]) => [name, isSchema(value) ? concise(value) : conciseParts(name, value)]),
  );
  return reference === undefined ? short : { ...short, description: reference };
}

function conciseParts(name: string, value: unknown): unknown {
  if (name === 'properties') {
    return Object.fromEntries(
      Object.entries(value as Record<string, JsonSchema>).map(([key, part]) => [key, concise(part)]),
    );
  }
  if (name === 'anyOf' || name === 'oneOf') return (value as JsonSchema[]).map(concise);
  return value;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && 'type' in value;
