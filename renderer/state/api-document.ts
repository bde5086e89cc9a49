import { readExactly, writeExactly, type ExactValue } from '../json/json-text.ts';

/**
 * What an OpenAPI 3 document says, in the form in which it is shown. The document may be somebody else's (an upstream's),
 * so nothing is taken for granted: what is not as it should be is left out.
 */

export interface ApiDocument {
  title: string;
  version: string;
  description: string | undefined;
  groups: OperationGroup[];
  /** The schemas that have a name, in the document's order; each is read when it is asked for. */
  schemas: { name: string; read: () => SchemaView }[];
}

/** Operations with a tag in common. */
export interface OperationGroup {
  tag: string;
  description: string | undefined;
  operations: ApiOperation[];
}

export interface ApiOperation {
  /** Its operation id or, without one, method and path. */
  id: string;
  method: string;
  /** A template: `/pets/{petId}`. */
  path: string;
  summary: string | undefined;
  description: string | undefined;
  deprecated: boolean;
  /** The day of its removal, as the document has it (`x-sunset`). */
  sunset: string | undefined;
  /** `x-stability`. */
  stability: string | undefined;
  /** Whether it takes credentials. */
  secured: boolean;
  /** What goes in and comes out; read when it is asked for, because documents can have thousands of operations. */
  details: () => OperationDetails;
}

export interface OperationDetails {
  parameters: ApiParameter[];
  body: ApiContent | undefined;
  responses: ApiResponse[];
}

export interface ApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string | undefined;
  schema: SchemaView;
}

export interface ApiContent {
  required: boolean;
  mediaType: string;
  schema: SchemaView;
  /** JSON text. */
  example: string | undefined;
}

export interface ApiResponse {
  /** `200`, `4XX`, `default`. */
  status: string;
  description: string | undefined;
  headers: { name: string; description: string | undefined; example: string | undefined }[];
  content: ApiContent | undefined;
}

/** A schema as it is shown. */
export interface SchemaView {
  /** The name under which it is shared. */
  name: string | undefined;
  /** `integer`, `array of Pet`, `any`. */
  type: string;
  format: string | undefined;
  description: string | undefined;
  /** `from 1`, `to 100`, `default 20`: what a value must keep to, in words. */
  constraints: string[];
  /** The values that there are, as they are typed. */
  choices: string[];
  default: string | undefined;
  properties: { name: string; required: boolean; schema: SchemaView }[];
  items: SchemaView | undefined;
}

type Node = { [name: string]: ExactValue };

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;

/** References that lead to references. */
const REFERENCES_MAX = 10;

/** Schemas within schemas: beyond this, the name has to do. */
const DEPTH_MAX = 8;

/** Schemas that are drawn of one operation: what refers to itself in many places would grow without end. */
const SCHEMAS_MAX = 1_000;

/** Of operations that have no tag. */
const UNTAGGED = 'Operations';

/** The document in `text`; undefined when it is no OpenAPI document of version 3. */
export function readApiDocument(text: string): ApiDocument | undefined {
  const root = readExactly(text);
  if (!isNode(root) || !/^3\./.test(textOf(root['openapi']) ?? '')) return undefined;
  const reader = new Reader(root);
  const info = nodeOf(root['info']);
  return {
    title: textOf(info['title']) ?? 'API',
    version: textOf(info['version']) ?? '',
    description: textOf(info['description']),
    groups: reader.groups(),
    schemas: Object.entries(nodeOf(nodeOf(root['components'])['schemas'])).map(([name, schema]) => ({
      name,
      read: () => reader.named(name, schema),
    })),
  };
}

/** Every operation of a document, in the order in which it is shown. */
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

  groups(): OperationGroup[] {
    const byTag = new Map<string, ApiOperation[]>();
    for (const { tags, operation } of this.#operations()) {
      for (const tag of tags) byTag.set(tag, [...(byTag.get(tag) ?? []), operation]);
    }
    // A tag that is declared is shown even when nothing has it: it is a group of the API.
    const declared = listOf(this.#root['tags']).map(nodeOf);
    const names = new Set([...declared.flatMap(({ name }) => textOf(name) ?? []), ...byTag.keys()]);
    return [...names].map((tag) => ({
      tag,
      description: textOf(declared.find(({ name }) => name === tag)?.['description']),
      operations: byTag.get(tag) ?? [],
    }));
  }

  #operations(): { tags: string[]; operation: ApiOperation }[] {
    return Object.entries(nodeOf(this.#root['paths'])).flatMap(([path, item]) => {
      const methods = this.#resolve(item);
      return METHODS.filter((method) => isNode(methods[method])).map((method) => {
        const node = nodeOf(methods[method]);
        const tags = listOf(node['tags']).flatMap((tag) => textOf(tag) ?? []);
        return { tags: tags.length === 0 ? [UNTAGGED] : tags, operation: this.#operation(path, method, node, methods) };
      });
    });
  }

  #operation(path: string, method: string, node: Node, item: Node): ApiOperation {
    const security = node['security'] ?? this.#root['security'];
    return {
      id: textOf(node['operationId']) ?? `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      summary: textOf(node['summary']),
      description: textOf(node['description']),
      deprecated: node['deprecated'] === true,
      sunset: textOf(node['x-sunset']),
      stability: textOf(node['x-stability']),
      secured: listOf(security).length > 0,
      details: () => this.#details(node, item),
    };
  }

  #details(node: Node, item: Node): OperationDetails {
    this.#schemas = 0;
    return {
      parameters: this.#parameters([...listOf(item['parameters']), ...listOf(node['parameters'])]),
      body: isNode(node['requestBody']) ? this.#content(this.#resolve(node['requestBody'])) : undefined,
      responses: Object.entries(nodeOf(node['responses'])).map(([status, response]) =>
        this.#response(status, this.#resolve(response)),
      ),
    };
  }

  named(name: string, schema: ExactValue): SchemaView {
    this.#schemas = 0;
    return this.#schema(schema, name);
  }

  /** An operation's own parameter wins over its path's. Cookies are not among what can be sent here. */
  #parameters(nodes: readonly ExactValue[]): ApiParameter[] {
    const parameters = nodes.flatMap((candidate): ApiParameter[] => {
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

  #response(status: string, node: Node): ApiResponse {
    return {
      status,
      description: textOf(node['description']),
      headers: Object.entries(nodeOf(node['headers'])).map(([name, header]) => {
        const { description, example } = this.#resolve(header);
        return { name, description: textOf(description), example: example === undefined ? undefined : shown(example) };
      }),
      content: this.#content(node),
    };
  }

  /** Of several media types JSON, or the first. */
  #content(node: Node): ApiContent | undefined {
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
      example: sample === undefined ? undefined : writeExactly(sample),
    };
  }

  #schema(value: ExactValue | undefined, known?: string, depth = 0): SchemaView {
    const name = known ?? nameOfReference(value);
    const node = this.#resolve(value);
    const deeper = (inner: ExactValue | undefined): SchemaView =>
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

  /** What a reference leads to within this document; an empty node where it leads nowhere. */
  #resolve(value: ExactValue | undefined): Node {
    let node = nodeOf(value);
    for (let step = 0; typeof node['$ref'] === 'string'; step++) {
      if (step === REFERENCES_MAX || !node['$ref'].startsWith('#/')) return {};
      const { $ref, ...beside } = node;
      node = { ...nodeOf(this.#at($ref.slice(2))), ...beside };
    }
    return node;
  }

  /** What a JSON pointer (RFC 6901) names. */
  #at(pointer: string): ExactValue | undefined {
    return pointer.split('/').reduce<ExactValue | undefined>((value, segment) => {
      const name = decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~');
      return isNode(value) && Object.hasOwn(value, name) ? value[name] : undefined;
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

/** Bounds that say nothing beyond the format. */
const FORMAT_RANGES: Record<string, readonly [ExactValue, ExactValue]> = {
  int32: [-2147483648, 2147483647],
  int64: [-9223372036854775808n, 9223372036854775807n],
};

/** What a value must keep to beyond its type, in words. */
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
    ...(isWhole ? ['over its whole range'] : [[...words('from', 'minimum'), ...words('to', 'maximum')].join(' ')]),
    ...words('more than', 'exclusiveMinimum'),
    ...words('less than', 'exclusiveMaximum'),
    ...words('a multiple of', 'multipleOf'),
    ...count('minLength', 'maxLength', 'character', 'characters'),
    ...count('minItems', 'maxItems', 'item', 'items'),
    // A format says it better than the pattern that spells it out.
    ...(node['format'] === undefined ? words('matches', 'pattern') : []),
    ...words('default', 'default'),
  ].filter((part) => part !== '');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

const nameOfReference = (value: ExactValue | undefined): string | undefined =>
  isNode(value) && typeof value['$ref'] === 'string' ? value['$ref'].split('/').at(-1) : undefined;

const isNode = (value: ExactValue | undefined): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const nodeOf = (value: ExactValue | undefined): Node => (isNode(value) ? value : {});
const listOf = (value: ExactValue | undefined): ExactValue[] => (Array.isArray(value) ? value : []);
const textOf = (value: ExactValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** A value as it would be typed into a field. */
const shown = (value: ExactValue): string => (typeof value === 'string' ? value : writeExactly(value));
