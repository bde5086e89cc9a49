import { messageOf } from '../base/error-code.ts';
import {
  type Document,
  type ErrorCode,
  isCollection,
  isMap,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import { invalidRequest, type VivariumError } from '../contract/errors.ts';

/**
 * The maximum length of a YAML text, in characters: reading it takes about a microsecond per character. JSON may be
 * longer, because it is read without the library.
 */
export const YAML_TEXT_MAX = 512 * 1024;

/** The limit on how far aliases may multiply a text. */
const ALIASES_MAX = 100;

/** Counted from 1. */
export interface Position {
  line: number;
  column: number;
}

export interface Source {
  content: unknown;
  /** The position of the value at `path`, or of the nearest enclosing one; with `ofKey`, of its name. */
  locate(path: readonly PropertyKey[], ofKey?: boolean): Position;
}

/** Reads YAML or JSON. @throws VivariumError invalid_request with the position of the fault */
export function readSource(text: string): Source {
  const parsed = parseJson(text);
  if (parsed !== null && 'content' in parsed) {
    // Positions are read on demand: few texts need them.
    let places: Source['locate'] | null = null;
    const locate: Source['locate'] = (...about) => {
      places ??= text.length > YAML_TEXT_MAX ? () => ({ line: 1, column: 1 }) : readYaml(text).locate;
      return places(...about);
    };
    return { content: parsed.content, locate };
  }
  if (text.length > YAML_TEXT_MAX) {
    const most = `${YAML_TEXT_MAX / 1024} KiB`;
    if (parsed !== null) throw invalidRequest(`The text is not JSON: ${parsed.fault}.`);
    const message = `The text has ${Math.ceil(text.length / 1024).toLocaleString('en')} KiB, but YAML may have ${most}. Move pets and zones into separate files, or write the text as JSON.`;
    throw invalidRequest(message);
  }
  return readYaml(text);
}

/** Parses JSON; null if the text does not look like it. */
function parseJson(text: string): { content: unknown } | { fault: string } | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return { content: JSON.parse(text) };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

function readYaml(text: string): Source {
  const lines = new LineCounter();
  // The library's own check compares each name with all others: 40,000 names would take 46 s.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const [fault] = document.errors;
  if (fault !== undefined) throw unreadable(FAULTS[fault.code] ?? fault.message, at(fault.pos[0]));
  const twice = nameTwice(document);
  if (twice !== null)
    throw unreadable(`The name ${JSON.stringify(keyOf(twice))} appears twice`, at(startOf(twice.key) ?? 0));
  return { content: contentOf(document), locate: (path, ofKey) => at(offsetOf(document, path, ofKey ?? false)) };
}

const TOO_DEEP = 'The text is nested too deeply';

/** In place of the library's sentences, which are for its callers. */
const FAULTS: Partial<Record<ErrorCode, string>> = {
  RESOURCE_EXHAUSTION: TOO_DEEP,
  MULTIPLE_DOCS: 'A second document begins here, after "---"; write one document a file',
};

function unreadable(reason: string, { line, column }: Position): VivariumError {
  const message = `Line ${line}, column ${column}: ${reason.replace(/\.?$/, '.')}`;
  return invalidRequest(message, { issues: [{ path: '', message: reason, line, column }] });
}

/** The first pair of a map whose name repeats an earlier one. */
function nameTwice(document: Document.Parsed): Pair | null {
  let found: Pair | null = null;
  visit(document, {
    Map(_key, map) {
      const names = new Set<string>();
      for (const pair of map.items) {
        if (names.has(keyOf(pair))) found = pair;
        if (found !== null) return visit.BREAK;
        names.add(keyOf(pair));
      }
      return undefined;
    },
  });
  return found;
}

function contentOf(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown;
  } catch (cause) {
    const reason = cause instanceof RangeError ? TOO_DEEP : (cause as Error).message;
    throw invalidRequest(`The text cannot be read: ${reason.replace(/\.?$/, '.')}`, { cause });
  }
}

/** The position of the last existing part of `path`. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], ofKey: boolean): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, segment] of path.entries()) {
    if (!isCollection(node)) break;
    const pair = isMap(node) ? node.items.find((item) => keyOf(item) === String(segment)) : undefined;
    const value: unknown = isMap(node) ? pair?.value : node.items[Number(segment)];
    const isLast = index === path.length - 1;
    const place = (isLast && ofKey ? null : startOf(value)) ?? startOf(pair?.key) ?? null;
    if (place === null) break;
    offset = place;
    node = value;
  }
  return offset;
}

const keyOf = ({ key }: Pair): string => String(isScalar(key) ? key.value : key);

const startOf = (node: unknown): number | null =>
  (node as { range?: [number, number, number] | null } | null | undefined)?.range?.[0] ?? null;
