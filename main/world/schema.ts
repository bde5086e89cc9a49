import { z } from 'zod';
import { world } from '../contract/world.ts';

/** The name of the schema's file, in the package and at the control port. */
export const SCHEMA_FILE = 'vivarium.schema.json';
/** The URL at which a Vivarium on the default port serves the schema. */
export const SCHEMA_URL = `http://127.0.0.1:4780/${SCHEMA_FILE}`;

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
}

/** The JSON Schema of `vivarium.yaml` (draft-07, which all editors support). */
export function worldSchema(): object {
  const schema = z.toJSONSchema(world, { io: 'input', unrepresentable: 'any', target: 'draft-7' });
  return { ...schema, $id: 'urn:vivarium:world:1', title: 'vivarium.yaml' };
}

/** The names allowed in the object at `path` of a file; empty if every name is allowed. */
export function namesAt(path: readonly unknown[]): string[] {
  let schemas = [worldSchema() as Schema];
  for (const segment of path) schemas = schemas.flatMap(alternatives).flatMap((schema) => below(schema, segment));
  return [...new Set(schemas.flatMap(alternatives).flatMap(({ properties }) => Object.keys(properties ?? {})))];
}

const alternatives = (schema: Schema): Schema[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(alternatives),
];

function below({ properties, additionalProperties, items }: Schema, segment: unknown): Schema[] {
  if (typeof segment === 'number') return items === undefined ? [] : [items];
  const named = properties?.[String(segment)];
  if (named !== undefined) return [named];
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
}
