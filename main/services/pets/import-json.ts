import {
  type ExactJson,
  parseExactJson,
  CLOSE_BRACKET,
  closes,
  COMMA,
  JsonStructure,
  opens,
} from '../../base/text/exact-json.ts';
import {
  columnsOf,
  FIELDS,
  type ImportForm,
  QUOTED_MAX,
  refusedText,
  ROW_CHARACTERS_MAX,
  type Source,
  type TextReader,
} from './import-text.ts';

const NOT_AN_ARRAY = 'must be a JSON array of pets: [{"name": "Rex", "categoryId": 1}].';

/**
 * Reads a JSON array one element at a time. Brackets and quotes delimit the elements, so a malformed one does not
 * affect the others, and memory use is bounded by the longest element.
 */
export function createJsonReader({ columns: chosen }: ImportForm): TextReader {
  const found: TextReader['found'] = { titles: [], columns: {} };
  let phase: 'before' | 'inside' | 'after' | 'lost' = 'before';
  const structure = new JsonStructure();
  let depth = 0;
  let elements = 0;
  /** The beginning of an element that continues in the next piece. */
  let begun = '';
  /** The line where that text begins. */
  let line = 1;

  function finish(rest: string, last: boolean): Source[] {
    const whole = begun + rest;
    const element = whole.trim();
    begun = '';
    const at = {
      line: line + breaksIn(whole.slice(0, whole.length - whole.trimStart().length)),
      text: quoted(element),
    };
    line += breaksIn(whole);
    // `[]` has no element; `[1,]` has an extra comma.
    if (element === '' && last && elements === 0) return [];
    elements++;
    if (element === '') return [{ fault: 'is not JSON: an element is missing beside a comma', ...at }];
    try {
      return [{ value: fieldsOf(parseExactJson(element)), ...at }];
    } catch (error) {
      return [{ fault: `is not JSON: ${error instanceof Error ? error.message : String(error)}`, ...at }];
    }
  }

  /** The chosen members as fields; any other value is left for the rules of a pet to reject. */
  function fieldsOf(value: ExactJson): ExactJson {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if (found.titles.length === 0) {
      found.titles = Object.keys(value).slice(0, TITLES_MAX);
      found.columns = columnsOf(found.titles, chosen);
    }
    if (chosen === undefined) return value;
    const picked: Record<string, ExactJson> = {};
    for (const field of FIELDS) {
      const member = value[chosen[field] ?? field];
      if (member !== undefined) picked[field] = member;
    }
    return picked;
  }

  /** Whether a structural character ends an element: a comma or closing bracket at the array's own level. */
  function endsElement(unit: number): boolean {
    if (depth === 0 && (unit === COMMA || unit === CLOSE_BRACKET)) return true;
    if (opens(unit)) depth++;
    else if (closes(unit)) depth = Math.max(0, depth - 1);
    return false;
  }

  function readInside(piece: string, from: number, rows: Source[]): number {
    let start = from;
    for (let at = structure.next(piece, from); at >= 0; at = structure.next(piece, at + 1)) {
      const unit = piece.charCodeAt(at);
      if (!endsElement(unit)) continue;
      const last = unit === CLOSE_BRACKET;
      rows.push(...finish(piece.slice(start, at), last));
      start = at + 1;
      if (last) {
        phase = 'after';
        return start;
      }
    }
    begun += piece.slice(start);
    if (begun.length > ROW_CHARACTERS_MAX) {
      phase = 'lost';
      const fault = `has more than ${ROW_CHARACTERS_MAX} characters; nothing after it was read`;
      rows.push({ fault, line, text: quoted(begun) });
    }
    return piece.length;
  }

  return {
    found,
    read(piece) {
      const rows: Source[] = [];
      let index = 0;
      if (phase === 'before') {
        index = piece.search(/[^\s\uFEFF]/);
        line += breaksIn(index < 0 ? piece : piece.slice(0, index));
        if (index < 0) return rows;
        if (piece.charAt(index) !== '[') throw refusedText(NOT_AN_ARRAY);
        phase = 'inside';
        index++;
      }
      if (phase === 'inside') index = readInside(piece, index, rows);
      if (phase === 'after' && /\S/.test(piece.slice(index))) {
        phase = 'lost';
        const rest = piece.slice(index);
        rows.push({ fault: 'was not read: it comes after the end of the array', line, text: quoted(rest) });
      }
      return rows;
    },
    end() {
      if (phase === 'before') throw refusedText('is not JSON: it is empty.');
      if (phase !== 'inside') return [];
      return [{ fault: 'is not JSON: the text ends before the array does', line, text: quoted(begun) }];
    },
  };
}

/** Members of an object that a preview offers as columns. */
const TITLES_MAX = 100;

const quoted = (element: string) => (): string => element.trim().slice(0, QUOTED_MAX);

const breaksIn = (text: string): number => text.split('\n').length - 1;
