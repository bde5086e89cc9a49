import { Document, isMap, isScalar, isSeq, type Node, Pair, parseDocument, Scalar, YAMLMap, type YAMLSeq } from 'yaml';
import { isRecord } from '../base/text/exact-json.ts';
import { invalidRequest } from '../contract/errors.ts';
import type { WorldInput } from '../contract/world.ts';
import { SCHEMA_URL } from './schema.ts';
import { YAML_TEXT_MAX } from './source.ts';

/** Quotes and indentation make YAML at most this many times as long as compact JSON. */
const YAML_FACTOR = 2;

/**
 * Writes a world as `vivarium.yaml`, or as JSON if requested or if too long for YAML; YAML readers accept JSON. The
 * comments and the order of `into`, an existing text, are kept.
 */
export function writeWorld(
  world: WorldInput,
  { format, into }: { format: 'yaml' | 'json'; into?: string | undefined },
): string {
  const json = JSON.stringify(world);
  if (format === 'json' || json.length * YAML_FACTOR > YAML_TEXT_MAX) return `${JSON.stringify(world, null, 2)}\n`;
  // Drops values that JSON cannot represent, such as undefined.
  const content = JSON.parse(json) as Record<string, unknown>;
  const document = into === undefined || into.trim() === '' ? newDocument() : documentOf(into);
  document.contents = merge(document, document.contents, content, []) as typeof document.contents;
  return document.toString({ lineWidth: 0 });
}

function newDocument(): Document {
  const document = new Document({});
  document.commentBefore = ` yaml-language-server: $schema=${SCHEMA_URL}`;
  return document;
}

function documentOf(text: string): Document {
  if (text.length > YAML_TEXT_MAX) {
    throw invalidRequest('The existing text is too long to keep its comments; write a new file.');
  }
  const document = parseDocument(text, { uniqueKeys: false });
  const [fault] = document.errors;
  if (fault === undefined) return document;
  throw invalidRequest(`The existing text is not YAML, so it was not changed: ${fault.message}`);
}

/** A node with `value`: the existing one with its comments, or a new one. */
function merge(document: Document, node: unknown, value: unknown, path: readonly string[]): Node {
  if (isMap(node) && isRecord(value)) return mergeMap(document, node, value, path);
  if (isSeq(node) && Array.isArray(value)) return mergeList(document, node, value, path);
  if (isScalar(node) && (node.value === value || isEmpty(node.value, value))) return node;
  const made = create(document, value, path);
  if (isScalar(node)) [made.comment, made.commentBefore] = [node.comment, node.commentBefore];
  return made;
}

/** A name without a value means an empty object. */
const isEmpty = (before: unknown, value: unknown): boolean =>
  before === null && isRecord(value) && Object.keys(value).length === 0;

function mergeMap(document: Document, map: YAMLMap, value: Record<string, unknown>, path: readonly string[]): YAMLMap {
  const isRun = path[0] === 'projects' && path.length === 2 && map.has('run');
  map.items = map.items.filter(({ key }) => Object.hasOwn(value, nameOf(key)) || isKept(nameOf(key), path));
  for (const [name, part] of Object.entries(value)) {
    // A file with `run` does not contain the port on which its command listened.
    if (isRun && name === 'target') continue;
    const present = map.items.find(({ key }) => nameOf(key) === name);
    if (present !== undefined) present.value = merge(document, present.value, part, [...path, name]);
    else map.items.push(pairOf(document, name, part, path, map.items.length > 0));
  }
  return map;
}

function mergeList(document: Document, list: YAMLSeq, value: readonly unknown[], path: readonly string[]): YAMLSeq {
  list.items = value.map((part, index) => merge(document, list.items[index], part, [...path, '']));
  return list;
}

/** Whether a name belongs only to the file, so that writing a world must keep it. */
const isKept = (name: string, path: readonly string[]): boolean =>
  path.length === 0
    ? ['$schema', 'seed', 'steps', 'expect'].includes(name)
    : path.length === 2 && path[0] === 'projects' && ['run', 'as'].includes(name);

const nameOf = (key: unknown): string => String(isScalar(key) ? key.value : key);

function pairOf(document: Document, name: string, value: unknown, path: readonly string[], follows: boolean): Pair {
  const key = new Scalar(name);
  // Adds an empty line between the parts of the file.
  key.spaceBefore = path.length === 0 && follows && isRecord(value);
  return new Pair(key, create(document, value, [...path, name]));
}

function create(document: Document, value: unknown, path: readonly string[]): Node {
  if (typeof value === 'string' && value.includes('\n')) {
    const text = new Scalar(value);
    text.type = Scalar.BLOCK_LITERAL;
    return text;
  }
  if (isRecord(value) && Object.keys(value).length > 0 && !isShort(path)) {
    const map = new YAMLMap(document.schema);
    for (const [name, part] of Object.entries(value)) {
      map.items.push(pairOf(document, name, part, path, map.items.length > 0));
    }
    return map;
  }
  const node = document.createNode(value) as Node;
  if (isMap(node)) node.flow = true;
  else if (isSeq(node)) for (const item of node.items) if (isMap(item)) item.flow = true;
  return node;
}

/** Objects written on one line: `projects.acme.limits`, `projects.acme.domains.acme.test`, `settings.traffic`. */
const isShort = ([top, , , ...rest]: readonly string[]): boolean =>
  (top === 'projects' && rest.length > 0) || top === 'clock';
