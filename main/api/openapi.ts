import { isRecord } from '../base/text/exact-json.ts';
import { FAILURES } from './failures.ts';
import { EXAMPLE_BASE, HEADERS, type HeaderName, RATE_HEADERS } from './headers.ts';
import type { FailureStatus, Operation } from './operation.ts';
import { errorBody, newPet, order, orders, pet, pets, petStatus } from './schemas.ts';
import { type Environment, INT64_MAX, INT64_MIN } from '../contract/values.ts';
import { type Body, bodyOf } from '../base/http/answer.ts';
import { z } from 'zod';

/** A JSON Schema (dialect 2020-12). Integers beyond 2^53 are bigints. */
type JsonSchema = Record<string, unknown>;

const COMPONENTS = {
  PetStatus: petStatus,
  NewPet: newPet,
  Pet: pet,
  Pets: pets,
  Order: order,
  Orders: orders,
  Error: errorBody,
} as const satisfies Record<string, z.ZodType>;

type DocumentSchemas = ReturnType<typeof documentSchemas>;

/** Converts the validation schemas to document schemas: components once, with references to them. */
function documentSchemas(operations: readonly Operation[]) {
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
    /** For `components.schemas`. */
    components: Object.fromEntries(Object.keys(COMPONENTS).map((id) => [id, converted.get(id) ?? {}])),
    /** The schema of a body; a reference if it is a component. */
    of(schema: z.ZodType): JsonSchema {
      const { id, json } = byId(schema);
      return id in COMPONENTS ? { $ref: `#/components/schemas/${id}` } : json;
    },
    /** The properties of a query or path parameter schema, by name. */
    parameters: (schema: z.ZodObject): Record<string, JsonSchema> =>
      byId(schema).json['properties'] as Record<string, JsonSchema>,
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

/** The version of the description, as given in the specification. */
const DESCRIPTION_VERSION = '1.0.0';

const RETIREMENT_HEADERS = ['Deprecation', 'Sunset', 'Link'] as const satisfies readonly HeaderName[];

const DESCRIPTION = `An animal store: list animals, add one, fetch one.

Every operation needs an API key as bearer token. Every response carries the rate limit headers. Identifiers are
signed 64-bit integers over their whole range: read them with a JSON parser that does not round.`;

/** A base address, as in the document's `servers`. */
export interface ApiServer {
  url: string;
  description: Environment;
}

/**
 * The OpenAPI 3.1 document of `operations`, as JSON text. It is generated from the schemas used for validation and
 * serialisation, so it always matches them. Clients use the first of `servers` unless told otherwise.
 */
export function openApiText(operations: readonly Operation[], servers: readonly ApiServer[]): string {
  const schemas = documentSchemas(operations);
  const text = exactStringify({
    openapi: '3.1.0',
    info: { title: 'Animal Store API', version: DESCRIPTION_VERSION, description: DESCRIPTION },
    servers,
    tags: [
      { name: 'animals', description: 'The animals of the store.' },
      { name: 'Store', description: 'The store itself.' },
      { name: 'Pets', description: 'A navigation group.' },
    ],
    security: [{ apiKey: [] }],
    paths: pathItems(operations, schemas),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the project.' },
      },
      headers: HEADERS,
      schemas: schemas.components,
    },
  });
  return text.replaceAll(EXAMPLE_BASE, servers[0]?.url ?? EXAMPLE_BASE);
}

/** Like JSON.stringify, with bigints as plain digits. */
function exactStringify(value: unknown): string {
  // Part of ES2026 and Node 24, but not yet of TypeScript's library.
  const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member,
  );
}

function pathItems(operations: readonly Operation[], schemas: DocumentSchemas): Record<string, JsonSchema> {
  const items: Record<string, JsonSchema> = {};
  for (const operation of operations) {
    items[operation.path] = {
      ...items[operation.path],
      [operation.method.toLowerCase()]: describe(operation, schemas),
    };
  }
  return items;
}

function describe(operation: Operation, schemas: DocumentSchemas): JsonSchema {
  const { operationId, tags, summary, description, body, retirement, stability } = operation;
  const parameters = [
    ...parametersIn('path', operation.params, schemas),
    ...parametersIn('query', operation.query, schemas),
  ];
  return {
    operationId,
    tags,
    summary,
    description,
    ...(retirement === undefined ? {} : { deprecated: true, 'x-sunset': dateOf(retirement.sunsetAtMs) }),
    ...(stability === undefined ? {} : { 'x-stability': stability }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: jsonContent(schemas.of(body.schema), body.example) } }),
    responses: {
      [operation.success.status]: successResponse(operation, schemas),
      ...Object.fromEntries(operation.failures.map((status) => [status, failureResponse(status, operation, schemas)])),
    },
  };
}

/** An ISO 8601 date, the format in which API comparison tools read `x-sunset`. */
const dateOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

function parametersIn(location: 'path' | 'query', schema: Operation['query'], schemas: DocumentSchemas): JsonSchema[] {
  if (schema === undefined) return [];
  return Object.entries(schemas.parameters(schema)).map(([name, { description, examples, ...rest }]) => ({
    name,
    in: location,
    required: location === 'path',
    description,
    schema: rest,
    ...(Array.isArray(examples) && { example: examples[0] as unknown }),
  }));
}

function successResponse({ success, retirement }: Operation, schemas: DocumentSchemas): JsonSchema {
  return {
    description: success.description,
    headers: headerReferences([...success.headers, ...(retirement === undefined ? [] : RETIREMENT_HEADERS)]),
    content: jsonContent(schemas.of(success.schema), success.example),
  };
}

function failureResponse(status: FailureStatus, { retirement }: Operation, schemas: DocumentSchemas): JsonSchema {
  const { description, code, message, headers } = FAILURES[status];
  // A refused request is answered before its operation is determined.
  const retired = retirement !== undefined && status !== 429;
  return {
    description,
    headers: headerReferences([...headers, ...(retired ? RETIREMENT_HEADERS : [])]),
    content: jsonContent(schemas.of(errorBody), { code, message, status }),
  };
}

function headerReferences(names: readonly HeaderName[]): JsonSchema {
  return Object.fromEntries(
    [...RATE_HEADERS, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

const jsonContent = (schema: JsonSchema, example: unknown): JsonSchema => ({ 'application/json': { schema, example } });

/** A project has two base addresses, each over HTTP and HTTPS for every hostname. */
const DOCUMENTS_MAX = 64;

/** The OpenAPI document for each list of base addresses, generated on first use. */
export function createDocuments(operations: readonly Operation[]): (servers: readonly ApiServer[]) => Body {
  const documents = new Map<string, Body>();
  return (servers) => {
    const name = servers.map(({ url }) => url).join(' ');
    const known = documents.get(name);
    if (known !== undefined) return known;
    const document = bodyOf(openApiText(operations, servers));
    if (documents.size >= DOCUMENTS_MAX) documents.clear();
    documents.set(name, document);
    return document;
  };
}
