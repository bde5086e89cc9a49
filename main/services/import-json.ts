import { parseExactJson, CLOSE_BRACKET, closes, COMMA, JsonStructure, opens } from '../base/exact-json.ts';
import { refusedText, ROW_CHARACTERS_MAX, type Source, type TextReader } from './import-text.ts';

const NOT_AN_ARRAY = 'must be a JSON array of pets: [{"name": "Rex", "categoryId": 1}].';

/**
 * Reads a JSON array one element at a time. Brackets and quotes delimit the elements, so a malformed one does not
 * affect the others, and memory use is bounded by the longest element.
 */
export function createJsonReader(): TextReader {
  let phase: 'before' | 'inside' | 'after' | 'lost' = 'before';
  const structure = new JsonStructure();
  let depth = 0;
  let elements = 0;
  /** Text of the element that continues in the next piece. */
  let begun = '';

  function finish(text: string, last: boolean): Source[] {
    const element = (begun + text).trim();
    begun = '';
    // `[]` has no element; `[1,]` has one comma too many.
    if (element === '' && last && elements === 0) return [];
    elements++;
    if (element === '') return [{ fault: 'is not JSON: an element is missing beside a comma' }];
    try {
      return [{ value: parseExactJson(element) }];
    } catch (error) {
      return [{ fault: `is not JSON: ${error instanceof Error ? error.message : String(error)}` }];
    }
  }

  /** Whether a structural character ends an element: a comma or closing bracket at the array's own level. */
  function endsElement(unit: number): boolean {
    if (depth === 0 && (unit === COMMA || unit === CLOSE_BRACKET)) return true;
    if (opens(unit)) depth++;
    else if (closes(unit)) depth = Math.max(0, depth - 1);
    return false;
  }

  function readInside(piece: string, from: number, found: Source[]): number {
    let start = from;
    for (let at = structure.next(piece, from); at >= 0; at = structure.next(piece, at + 1)) {
      const unit = piece.charCodeAt(at);
      if (!endsElement(unit)) continue;
      const last = unit === CLOSE_BRACKET;
      found.push(...finish(piece.slice(start, at), last));
      start = at + 1;
      if (last) {
        phase = 'after';
        return start;
      }
    }
    begun += piece.slice(start);
    if (begun.length > ROW_CHARACTERS_MAX) {
      phase = 'lost';
      found.push({ fault: `has more than ${ROW_CHARACTERS_MAX} characters; nothing after it was read` });
    }
    return piece.length;
  }

  return {
    read(piece) {
      const found: Source[] = [];
      let index = 0;
      if (phase === 'before') {
        index = piece.search(/[^\s\uFEFF]/);
        if (index < 0) return found;
        if (piece.charAt(index) !== '[') throw refusedText(NOT_AN_ARRAY);
        phase = 'inside';
        index++;
      }
      if (phase === 'inside') index = readInside(piece, index, found);
      if (phase === 'after' && /\S/.test(piece.slice(index))) {
        phase = 'lost';
        found.push({ fault: 'was not read: it comes after the end of the array' });
      }
      return found;
    },
    end() {
      if (phase === 'before') throw refusedText('is not JSON: it is empty.');
      return phase === 'inside' ? [{ fault: 'is not JSON: the text ends before the array does' }] : [];
    },
  };
}
