import { parseExactJson, type ExactJson, closes, COLON, COMMA, JsonStructure, opens } from '../base/text/exact-json.ts';
import { VivariumError } from '../contract/errors.ts';

/** This API's bodies are flat; deeper nesting has no use and consumes stack in the parser. */
export const NESTING_MAX = 64;

/** The requested members of a JSON object, with exact numbers, and the names that occurred more than once. */
export interface JsonMembers {
  values: Record<string, ExactJson>;
  repeated: readonly string[];
}

interface Span {
  start: number;
  end: number;
}

/**
 * Reads the members called `names` of the JSON object in `text`, with integers as bigints of any size. Other members,
 * including `__proto__`, are only checked for valid JSON.
 *
 * Only the requested members go through the exact parser: it runs a callback for every value, and a mebibyte of small
 * numbers in another member would block the process for seconds.
 * @throws VivariumError `invalid_request` if the text is not exactly one JSON object.
 */
export function readJsonObject(text: string, names: readonly string[]): JsonMembers {
  const spans = scanMembers(text, new Set(names));
  const plain = parsePlain(text);
  const values: Record<string, ExactJson> = {};
  const repeated: string[] = [];
  for (const [name, { count, span }] of spans) {
    if (count > 1) repeated.push(name);
    const literal = text.slice(span.start, span.end).trim();
    // No field accepts an array or object, so their content is irrelevant.
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

/**
 * Finds the values of the members called `names`. Correct for JSON; for other text it finds arbitrary positions, but
 * always terminates.
 */
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
  const structure = new JsonStructure();
  let memberStart = 0;
  let name: string | null = null;
  let valueStart = -1;

  const close = (end: number): void => {
    if (name !== null) found.set(name, { count: (found.get(name)?.count ?? 0) + 1, span: { start: valueStart, end } });
    name = null;
    memberStart = end + 1;
  };

  for (let at = structure.next(text, 0); at >= 0; at = structure.next(text, at + 1)) {
    const unit = text.charCodeAt(at);
    const { depth } = structure;
    if (depth > NESTING_MAX) {
      throw new VivariumError(
        'invalid_request',
        `The body nests deeper than ${NESTING_MAX} levels; send a flat object.`,
      );
    }
    if (depth === 1 && opens(unit)) memberStart = at + 1;
    else if (depth === 1 && unit === COLON) {
      name = memberName(text.slice(memberStart, at).trim(), names);
      valueStart = at + 1;
    } else if (closes(unit) ? depth === 0 : depth === 1 && unit === COMMA) close(at);
  }
  return found;
}

/** The name in a JSON string literal, with escapes decoded, if it is one of `names`. */
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
