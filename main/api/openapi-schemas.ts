import { z } from 'zod';
import { INT64_MAX, INT64_MIN } from '../contract/values.ts';
import type { Operation } from './operation.ts';
import { errorBody, newPet, order, orders, pet, pets, petStatus } from './schemas.ts';

/** A JSON Schema (dialect 2020-12). Integers beyond 2^53 are bigints. */
export type JsonSchema = Record<string, unknown>;

const COMPONENTS = {
  PetStatus: petStatus,
  NewPet: newPet,
  Pet: pet,
  Pets: pets,
  Order: order,
  Orders: orders,
  Error: errorBody,
} as const satisfies Record<string, z.ZodType>;

export interface DocumentSchemas {
  /** For `components.schemas`. */
  components: Record<string, JsonSchema>;
  /** The schema of a body; a reference if it is a component. */
  of(schema: z.ZodType): JsonSchema;
  /** The properties of a query or path parameter schema, by name. */
  parameters(schema: z.ZodObject): Record<string, JsonSchema>;
}

/** Converts the validation schemas to document schemas: components once, with references to them. */
export function documentSchemas(operations: readonly Operation[]): DocumentSchemas {
  const registry = z.registry<{ id: string }>();
  const ids = new Map<z.ZodType, string>();
  const register = (schema: z.ZodType, id: string): void => {
    registry.add(schema, { id });
    ids.set(schema, id);
  };
  for (const [id, schema] of Object.entries(COMPONENTS)) register(schema, id);
  for (const operation of operations) {
    const others = [operation.query, operation.params, operation.body?.schema, operation.success.schema];
    for (const schema of others) {
      if (schema !== undefined && !ids.has(schema)) register(schema, `${operation.operationId}.${ids.size}`);
    }
  }

  const { schemas } = z.toJSONSchema(registry, {
    // The form that clients send and receive: without filled-in defaults and without `additionalProperties: false`.
    io: 'input',
    // zod cannot represent bigints; the schema's own metadata does.
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
  });
  const converted = new Map(Object.entries(schemas).map(([id, schema]) => [id, withExactBounds(schema as JsonSchema)]));
  const byId = (schema: z.ZodType): { id: string; json: JsonSchema } => {
    const id = ids.get(schema) ?? '';
    return { id, json: converted.get(id) ?? {} };
  };

  return {
    components: Object.fromEntries(Object.keys(COMPONENTS).map((id) => [id, converted.get(id) ?? {}])),
    of(schema) {
      const { id, json } = byId(schema);
      return id in COMPONENTS ? { $ref: `#/components/schemas/${id}` } : json;
    },
    parameters: (schema) => byId(schema).json['properties'] as Record<string, JsonSchema>,
  };
}

/**
 * Removes the keywords of a standalone schema, and adds exact bounds to every int64. Validators that read numbers as
 * doubles still accept every valid value, because rounding preserves order.
 */
function withExactBounds(schema: JsonSchema): JsonSchema {
  const result: JsonSchema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$schema' || key === '$id') continue;
    result[key] = isRecord(value) ? withExactBounds(value) : value;
  }
  if (result['type'] === 'integer' && result['format'] === 'int64') {
    result['minimum'] = INT64_MIN;
    result['maximum'] = INT64_MAX;
  }
  return result;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
