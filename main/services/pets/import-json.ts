import { messageOf } from '../../base/error-code.ts';
import { type ExactJson, JsonElements, parseExactJson } from '../../base/text/exact-json.ts';
import { ALL_FIELDS } from '../../contract/pet-fields.ts';
import {
  columnsOf,
  type ImportForm,
  QUOTED_MAX,
  refusedText,
  ROW_CHARACTERS_MAX,
  type Source,
  type TextReader,
} from './import-text.ts';

const NOT_AN_ARRAY = 'must be a JSON array of pets: [{"name": "Rex", "categoryId": 1}].';

/** Reads a JSON array one element at a time; a malformed one does not affect the others. */
export function createJsonReader({ columns: chosen }: ImportForm): TextReader {
  const found: TextReader['found'] = { titles: [], columns: {} };
  const array = new JsonElements();
  /** Whether the text cannot be read any further. */
  let lost = false;
  let elements = 0;
  /** The line where the next element begins. */
  let line = 1;

  function sourcesOf(whole: string, last: boolean): Source[] {
    const element = whole.trim();
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
      return [{ fault: `is not JSON: ${messageOf(error)}`, ...at }];
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
    for (const field of ALL_FIELDS) {
      const member = value[chosen[field] ?? field];
      if (member !== undefined) picked[field] = member;
    }
    return picked;
  }

  return {
    found,
    read(piece) {
      if (lost) return [];
      if (array.state === 'outside') {
        const start = piece.search(/[^\s\uFEFF]/);
        line += breaksIn(start < 0 ? piece : piece.slice(0, start));
        if (start < 0) return [];
        if (piece.charAt(start) !== '[') throw refusedText(NOT_AN_ARRAY);
      }
      const texts = array.read(piece);
      const rows = texts.flatMap((text, index) =>
        sourcesOf(text, array.state === 'after' && index === texts.length - 1),
      );
      const text = quoted(array.begun);
      if (array.state === 'inside' && array.begun.length > ROW_CHARACTERS_MAX) {
        lost = true;
        rows.push({ fault: `has more than ${ROW_CHARACTERS_MAX} characters; nothing after it was read`, line, text });
      } else if (array.state === 'after' && /\S/.test(array.begun)) {
        lost = true;
        rows.push({ fault: 'was not read: it comes after the end of the array', line, text });
      }
      return rows;
    },
    end() {
      if (array.state === 'outside') throw refusedText('is not JSON: it is empty.');
      if (lost || array.state === 'after') return [];
      return [{ fault: 'is not JSON: the text ends before the array does', line, text: quoted(array.begun) }];
    },
  };
}

/** Members of an object that a preview offers as columns. */
const TITLES_MAX = 100;

const quoted = (element: string) => (): string => element.trim().slice(0, QUOTED_MAX);

const breaksIn = (text: string): number => text.split('\n').length - 1;
