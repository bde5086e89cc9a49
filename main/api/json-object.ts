import { parseExactJson, type ExactJson } from '../base/exact-json.ts';
import { VivariumError } from '../contract/errors.ts';

/** Bodies of this API are flat; what nests deeper than this is in nobody's interest, and parsing it takes the stack. */
export const NESTING_MAX = 64;

/** The members of a JSON object that were asked for, exact, and the names among them that came more than once. */
export interface JsonMembers {
  values: Record<string, ExactJson>;
  repeated: readonly string[];
}

interface Span {
  start: number;
  end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENERS = new Set([0x5b, 0x7b]);
const CLOSERS = new Set([0x5d, 0x7d]);

/**
 * Reads the members called `names` of the JSON object in `text`, with integers as bigints of any size. Others are
 * checked to be JSON and then ignored, `__proto__` included.
 *
 * Only the members asked for go through the exact parser: it calls back for every value, and a mebibyte of small
 * numbers under some other name would block the process for seconds.
 * @throws VivariumError `invalid_request` for what is not one JSON object.
 */
export function readJsonObject(text: string, names: readonly string[]): JsonMembers {
  const spans = scanMembers(text, new Set(names));
  const plain = parsePlain(text);
  const values: Record<string, ExactJson> = {};
  const repeated: string[] = [];
  for (const [name, { count, span }] of spans) {
    if (count > 1) repeated.push(name);
    const literal = text.slice(span.start, span.end).trim();
    // Arrays and objects are wrong in every field; which one it is, is enough to say so.
    values[name] = /^[[{]/.test(literal) ? (Array.isArray(plain[name]) ? [] : {}) : parseExactJson(literal);
  }
  return { values, repeated };
}

function parsePlain(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new VivariumError(
      'invalid_request',
      `The body is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}

/** Where the members called `names` have their values. Right for JSON; for other text anything, but never endless. */
function scanMembers(text: string, names: ReadonlySet<string>): Map<string, { count: number; span: Span }> {
  const found = new Map<string, { count: number; span: Span }>();
  if (!/^[ \t\r\n]*\{/.test(text)) {
    throw new VivariumError(
      'invalid_request',
      text.trim() === ''
        ? 'The body is empty; send a JSON object.'
        : 'The body is not a JSON object; send one, such as {"name":"Biscuit","categoryId":1}.',
    );
  }
  let depth = 0;
  let name: string | null = null;
  let valueStart = -1;

  const close = (end: number): void => {
    if (name !== null && valueStart >= 0) {
      found.set(name, { count: (found.get(name)?.count ?? 0) + 1, span: { start: valueStart, end } });
    }
    name = null;
    valueStart = -1;
  };

  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const end = stringEnd(text, index);
      if (depth === 1 && valueStart < 0) name = memberName(text.slice(index, end + 1), names);
      index = end;
    } else if (OPENERS.has(code)) {
      if (++depth > NESTING_MAX) {
        throw new VivariumError(
          'invalid_request',
          `The body nests deeper than ${NESTING_MAX} levels; send a flat object.`,
        );
      }
    } else if (CLOSERS.has(code)) {
      if (--depth === 0) close(index);
    } else if (depth === 1) {
      if (code === COLON) valueStart = index + 1;
      else if (code === COMMA) close(index);
    }
  }
  return found;
}

/** The index of the quote that ends the string beginning at `start`, or the end of the text. */
function stringEnd(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    index += code === BACKSLASH ? 2 : 1;
  }
  return index;
}

/** The name in a JSON string literal when it is one of `names`, in whatever way it is escaped. */
function memberName(literal: string, names: ReadonlySet<string>): string | null {
  let name = literal.slice(1, -1);
  if (name.includes('\\')) {
    try {
      name = String(JSON.parse(literal));
    } catch {
      return null;
    }
  }
  return names.has(name) ? name : null;
}
