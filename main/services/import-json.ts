import { parseExactJson } from '../base/exact-json.ts';
import { refusedText, ROW_CHARACTERS_MAX, type Source, type TextReader } from './import-text.ts';

const NOT_AN_ARRAY = 'must be a JSON array of pets: [{"name": "Rex", "categoryId": 1}].';

/**
 * Reads a JSON array one element at a time. Brackets and quotes show where each ends, so that one that is no JSON spoils
 * itself only, and a text of any length takes no more memory than its longest element.
 */
export function createJsonReader(): TextReader {
  let phase: 'before' | 'inside' | 'after' | 'lost' = 'before';
  let depth = 0;
  let inString = false;
  let escaped = false;
  let elements = 0;
  /** What has been seen of the element that goes on in the next piece. */
  let begun = '';

  function finish(text: string, last: boolean): Source[] {
    const element = (begun + text).trim();
    begun = '';
    // `[]` has no element; `[1,]` has a comma too many.
    if (element === '' && last && elements === 0) return [];
    elements++;
    if (element === '') return [{ fault: 'is not JSON: there is nothing beside the comma' }];
    try {
      return [{ value: parseExactJson(element) }];
    } catch (error) {
      return [{ fault: `is not JSON: ${error instanceof Error ? error.message : String(error)}` }];
    }
  }

  /** Whether a character of the array, at its own level, ends an element. */
  function endsElement(unit: number): boolean {
    if (inString) {
      if (escaped) escaped = false;
      else if (unit === BACKSLASH) escaped = true;
      else if (unit === QUOTE) inString = false;
      return false;
    }
    if (unit === QUOTE) inString = true;
    else if (unit === OPEN_BRACKET || unit === OPEN_BRACE) depth++;
    else if (unit === CLOSE_BRACE) depth = Math.max(0, depth - 1);
    else if (unit === CLOSE_BRACKET) {
      if (depth === 0) return true;
      depth--;
    } else if (unit === COMMA) return depth === 0;
    return false;
  }

  function readInside(piece: string, from: number, found: Source[]): number {
    let start = from;
    for (let index = from; index < piece.length; index++) {
      const unit = piece.charCodeAt(index);
      if (!endsElement(unit)) continue;
      const last = unit === CLOSE_BRACKET;
      found.push(...finish(piece.slice(start, index), last));
      start = index + 1;
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
        if (piece.charCodeAt(index) !== OPEN_BRACKET) throw refusedText(NOT_AN_ARRAY);
        phase = 'inside';
        index++;
      }
      if (phase === 'inside') index = readInside(piece, index, found);
      if (phase === 'after' && /\S/.test(piece.slice(index))) {
        phase = 'lost';
        found.push({ fault: 'is not read: it stands after the end of the array' });
      }
      return found;
    },
    end() {
      if (phase === 'before') throw refusedText('is not JSON: it is empty.');
      return phase === 'inside' ? [{ fault: 'is not JSON: the text ends before the array does' }] : [];
    },
  };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
