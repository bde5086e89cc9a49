import { orElse } from '../../../main/contract/errors.ts';
import { type ExactJson, isRecord } from '../../../main/base/text/exact-json.ts';
import { readExactly, writeExactly } from './exact-values.ts';

/**
 * An OpenAPI 3 document in the form the page displays. The document may come from an upstream, so nothing is assumed:
 * malformed parts are skipped.
 */

export type ApiDocument = NonNullable<ReturnType<typeof readApiDocument>>;
export type ApiOperation = ReturnType<Reader['operation']>;
export type ApiParameter = ReturnType<Reader['parameters']>[number];
export type ApiContent = NonNullable<ReturnType<Reader['content']>>;
export type ApiResponse = ReturnType<Reader['response']>;

export interface SchemaView {
  /** The name of a shared schema. */
  name: string | undefined;
  /** `integer`, `array of Pet`, `any`. */
  type: string;
  format: string | undefined;
  description: string | undefined;
  /** `from 1`, `to 100`, `default 20`: the constraints, in words. */
  constraints: string[];
  /** The enumerated values, as typed. */
  choices: string[];
  default: string | undefined;
  properties: { name: string; required: boolean; schema: SchemaView }[];
  items: SchemaView | undefined;
}

type Node = { [name: string]: ExactJson };

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;

/** The maximum length of a chain of references. */
const REFERENCES_MAX = 10;

/** The maximum nesting of schemas; deeper ones are shown by name only. */
const DEPTH_MAX = 8;

/**
 * The maximum number of schemas per operation; schemas with several references to themselves would grow without end.
 */
const SCHEMAS_MAX = 1_000;

/** The group of operations without a tag. */
const UNTAGGED = 'Operations';

/** The document in `text`; undefined if it is not OpenAPI 3. */
export function readApiDocument(text: string) {
  const root = readExactly(text);
  if (!isRecord(root) || !/^3\./.test(textOf(root['openapi']) ?? '')) return undefined;
  const reader = new Reader(root);
  const info = nodeOf(root['info']);
  return {
    title: textOf(info['title']) ?? 'API',
    version: textOf(info['version']) ?? '',
    description: textOf(info['description']),
    groups: reader.groups(),
    /** The named schemas in document order, each parsed on access. */
    schemas: Object.entries(nodeOf(nodeOf(root['components'])['schemas'])).map(([name, schema]) => ({
      name,
      read: () => reader.named(name, schema),
    })),
  };
}

/** Every operation of a document, in display order. */
export const operationsOf = (document: ApiDocument): ApiOperation[] => [
  ...new Map(
    document.groups.flatMap(({ operations }) => operations).map((operation) => [operation.id, operation]),
  ).values(),
];

class Reader {
  #schemas = 0;
  readonly #root: Node;

  constructor(root: Node) {
    this.#root = root;
  }

  groups() {
    const byTag = new Map<string, ApiOperation[]>();
    for (const { tags, operation } of this.#operations()) {
      for (const tag of tags) byTag.set(tag, [...(byTag.get(tag) ?? []), operation]);
    }
    const declared = listOf(this.#root['tags']).map(nodeOf);
    const inOrder = declared.flatMap(({ name }) => textOf(name) ?? []).filter((tag) => byTag.has(tag));
    return [...new Set([...inOrder, ...byTag.keys()])].map((tag) => ({
      tag,
      description: textOf(declared.find(({ name }) => name === tag)?.['description']),
      operations: byTag.get(tag) ?? [],
    }));
  }

  #operations(): { tags: string[]; operation: ApiOperation }[] {
    return Object.entries(nodeOf(this.#root['paths'])).flatMap(([path, item]) => {
      const methods = this.#resolve(item);
      return METHODS.filter((method) => isRecord(methods[method])).map((method) => {
        const node = nodeOf(methods[method]);
        const tags = listOf(node['tags']).flatMap((tag) => textOf(tag) ?? []);
        return { tags: tags.length === 0 ? [UNTAGGED] : tags, operation: this.operation(path, method, node, methods) };
      });
    });
  }

  operation(path: string, method: string, node: Node, item: Node) {
    const security = node['security'] ?? this.#root['security'];
    return {
      /** Its operation id, or method and path without one. */
      id: textOf(node['operationId']) ?? `${method} ${path}`,
      method: method.toUpperCase(),
      /** A path template: `/pets/{petId}`. */
      path,
      summary: textOf(node['summary']),
      description: textOf(node['description']),
      deprecated: node['deprecated'] === true,
      /** The removal date given by the document. */
      sunset: textOf(node['x-sunset']),
      stability: textOf(node['x-stability']),
      secured: listOf(security).length > 0,
      /** Parsed on access because documents can have thousands of operations. */
      details: () => this.#details(node, item),
    };
  }

  #details(node: Node, item: Node) {
    this.#schemas = 0;
    return {
      parameters: this.parameters([...listOf(item['parameters']), ...listOf(node['parameters'])]),
      body: isRecord(node['requestBody']) ? this.content(this.#resolve(node['requestBody'])) : undefined,
      responses: Object.entries(nodeOf(node['responses'])).map(([status, response]) =>
        this.response(status, this.#resolve(response)),
      ),
    };
  }

  named(name: string, schema: ExactJson): SchemaView {
    this.#schemas = 0;
    return this.#schema(schema, name);
  }

  /** An operation's own parameter overrides its path's. Cookies are skipped: the page can't send them. */
  parameters(nodes: readonly ExactJson[]) {
    const parameters = nodes.flatMap((candidate) => {
      const node = this.#resolve(candidate);
      const name = textOf(node['name']);
      const place = node['in'];
      if (name === undefined || (place !== 'path' && place !== 'query' && place !== 'header')) return [];
      return [
        {
          name,
          in: place,
          required: node['required'] === true,
          description: textOf(node['description']),
          schema: this.#schema(node['schema']),
        },
      ];
    });
    return [...new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values()];
  }

  /** `status`: `200`, `4XX`, `default`. */
  response(status: string, node: Node) {
    return {
      status,
      description: textOf(node['description']),
      headers: Object.entries(nodeOf(node['headers'])).map(([name, header]) => {
        const { description, example } = this.#resolve(header);
        return { name, description: textOf(description), example: example === undefined ? undefined : shown(example) };
      }),
      content: this.content(node),
    };
  }

  /** JSON if it is among the media types, otherwise the first. */
  content(node: Node) {
    const types = Object.entries(nodeOf(node['content']));
    const [mediaType, value] = types.find(([type]) => /[/+]json\b/.test(type)) ?? types[0] ?? [];
    if (mediaType === undefined) return undefined;
    const media = nodeOf(value);
    const [example] = Object.values(nodeOf(media['examples'])).map((named) => this.#resolve(named)['value']);
    const sample = media['example'] ?? example;
    return {
      required: node['required'] === true,
      mediaType,
      schema: this.#schema(media['schema']),
      /** JSON text. */
      example: sample === undefined ? undefined : writeExactly(sample),
    };
  }

  #schema(value: ExactJson | undefined, known?: string, depth = 0): SchemaView {
    const name = known ?? nameOfReference(value);
    const node = this.#resolve(value);
    const deeper = (inner: ExactJson | undefined): SchemaView =>
      depth >= DEPTH_MAX || ++this.#schemas > SCHEMAS_MAX
        ? { ...ANYTHING, name: nameOfReference(inner) }
        : this.#schema(inner, undefined, depth + 1);
    const parts = listOf(node['allOf']).map((part) => this.#resolve(part));
    const merged = parts.reduce<Node>((all, part) => ({ ...all, ...part }), node);
    const properties = [node, ...parts].flatMap((part) => Object.entries(nodeOf(part['properties'])));
    const required = [node, ...parts].flatMap((part) => listOf(part['required']));
    const items = node['items'] === undefined ? undefined : deeper(node['items']);
    return {
      name,
      type: typeOf(merged, items, properties.length > 0),
      format: textOf(merged['format']),
      description: textOf(node['description']),
      constraints: constraintsOf(merged),
      choices: listOf(merged['enum'] ?? (merged['const'] === undefined ? [] : [merged['const']])).map(shown),
      default: merged['default'] === undefined ? undefined : shown(merged['default']),
      properties: properties.map(([property, inner]) => ({
        name: property,
        required: required.includes(property),
        schema: deeper(inner),
      })),
      items,
    };
  }

  /** The target of a reference within this document; an empty node if there is none. */
  #resolve(value: ExactJson | undefined): Node {
    let node = nodeOf(value);
    for (let step = 0; typeof node['$ref'] === 'string'; step++) {
      if (step === REFERENCES_MAX || !node['$ref'].startsWith('#/')) return {};
      const { $ref, ...beside } = node;
      node = { ...nodeOf(this.#at($ref.slice(2))), ...beside };
    }
    return node;
  }

  /** The value at a JSON pointer (RFC 6901). */
  #at(pointer: string): ExactJson | undefined {
    return pointer.split('/').reduce<ExactJson | undefined>((value, segment) => {
      const name = decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~');
      return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    }, this.#root);
  }
}

const ANYTHING: SchemaView = {
  name: undefined,
  type: 'any',
  format: undefined,
  description: undefined,
  constraints: [],
  choices: [],
  default: undefined,
  properties: [],
  items: undefined,
};

function typeOf(node: Node, items: SchemaView | undefined, hasProperties: boolean): string {
  const types = [node['type']].flat().flatMap((type) => textOf(type) ?? []);
  if (types.includes('array') && items !== undefined) return `array of ${items.name ?? items.type}`;
  if (types.length > 0) return types.join(' or ');
  return hasProperties ? 'object' : 'any';
}

/** Bounds that the format implies. */
const FORMAT_RANGES: Record<string, readonly [ExactJson, ExactJson]> = {
  int32: [-2147483648, 2147483647],
  int64: [-9223372036854775808n, 9223372036854775807n],
};

/** The constraints beyond the type, in words. */
function constraintsOf(node: Node): string[] {
  const valueOf = (name: string): string | undefined => {
    const value = node[name];
    return value === undefined || typeof value === 'object' ? undefined : shown(value);
  };
  const words = (before: string, name: string): string[] => {
    const value = valueOf(name);
    return value === undefined ? [] : [`${before} ${value}`];
  };
  const count = (least: string, most: string, one: string, many: string): string[] => {
    const [from, to] = [valueOf(least), valueOf(most)];
    if (from === undefined && to === undefined) return [];
    if (from === undefined) return [`at most ${to} ${to === '1' ? one : many}`];
    if (to === undefined) return [`at least ${from} ${from === '1' ? one : many}`];
    return [`${from} to ${to} ${many}`];
  };
  const [least, most] = FORMAT_RANGES[textOf(node['format']) ?? ''] ?? [];
  const isWhole = node['minimum'] === least && node['maximum'] === most && least !== undefined;
  return [
    ...(isWhole ? [] : [[...words('from', 'minimum'), ...words('to', 'maximum')].join(' ')]),
    ...words('more than', 'exclusiveMinimum'),
    ...words('less than', 'exclusiveMaximum'),
    ...words('a multiple of', 'multipleOf'),
    ...count('minLength', 'maxLength', 'character', 'characters'),
    ...count('minItems', 'maxItems', 'item', 'items'),
    // A format is more readable than the equivalent pattern.
    ...(node['format'] === undefined ? words('matches', 'pattern') : []),
    ...words('default', 'default'),
  ].filter((part) => part !== '');
}

const decoded = (segment: string): string => orElse(() => decodeURIComponent(segment), segment);

const nameOfReference = (value: ExactJson | undefined): string | undefined =>
  isRecord(value) && typeof value['$ref'] === 'string' ? value['$ref'].split('/').at(-1) : undefined;

const nodeOf = (value: ExactJson | undefined): Node => (isRecord(value) ? value : {});
const listOf = (value: ExactJson | undefined): ExactJson[] => (Array.isArray(value) ? value : []);
const textOf = (value: ExactJson | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** A value as the user would type it. */
const shown = (value: ExactJson): string => (typeof value === 'string' ? value : writeExactly(value));
