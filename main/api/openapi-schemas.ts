import { z } from 'zod';
import { INT64_MAX, INT64_MIN } from '../contract/values.ts';
import type { Operation } from './operation.ts';
import { errorBody, newPet, order, orders, pet, pets, petStatus } from './schemas.ts';

/** A JSON Schema of dialect 2020-12. Integers beyond 2^53 in it are bigints. */
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
  /** The schema of a body: a reference where it is a component. */
  of(schema: z.ZodType): JsonSchema;
  /** The properties of the schema of query or path parameters, by name. */
  parameters(schema: z.ZodObject): Record<string, JsonSchema>;
}

/** Converts the schemas that validate into the ones that the document shows, components once and by reference. */
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
    // What a client may send and receive, so without the defaults filled in and without `additionalProperties: false`.
    io: 'input',
    // Bigints, of which zod says nothing; the schema's own metadata does.
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
 * Drops what belongs to a schema that stands alone, and gives every int64 its bounds. They are exact in the text, and
 * harmless to validators that read numbers as doubles: rounding keeps the order, so it refuses no valid value.
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
