import type { VivariumError } from '../../contract/errors.ts';
import { inputError } from '../projects/project-rules.ts';
import { ALL_FIELDS, type EditableField, type PetField, REQUIRED_FIELDS, titlesOf } from '../../contract/pet-fields.ts';
import type { ImportColumns, ImportDelimiter, ImportFormat } from '../../contract/pets.ts';
import { messageOf } from '../../base/error-code.ts';
import { type ExactJson, JsonElements, parseExactJson } from '../../base/text/exact-json.ts';

export interface ImportForm {
  format: ImportFormat;
  /** The separator of CSV cells; determined from the header line if undefined. */
  delimiter?: ImportDelimiter | undefined;
  /** The column title of a field; the field's own name if undefined, no column if empty. */
  columns?: ImportColumns | undefined;
}

/** One parsed row: the pet as written, or the fault. */
export type Source = ({ value: unknown } | { fault: string }) & {
  /** The line where it begins, numbered from 1 as in an editor: line breaks in quoted cells count. */
  line: number;
  /** The row as written, at most `QUOTED_MAX` characters of it. */
  text: () => string;
};

/** Reads rows from text in pieces that may be cut anywhere. */
export interface TextReader {
  /** The detected format; the titles are empty until the header line or the first element has been read. */
  readonly found: { delimiter?: ImportDelimiter; titles: readonly string[]; columns: ImportColumns };
  /** The rows that end in this piece. @throws VivariumError invalid_request when the text as a whole can't be read. */
  read(piece: string): Promise<Source[]> | Source[];
  /** The remaining rows at the end of the text. @throws as `read`. */
  end(): Promise<Source[]> | Source[];
}

/** Longer than any pet; bounds the memory used for text without structure. */
export const ROW_CHARACTERS_MAX = 100_000;

/** Maximum length of a row quoted in a report. */
export const QUOTED_MAX = 200;

/** The fault of a text that can't be read as a whole. */
export const refusedText = (message: string): VivariumError => inputError('text', message);

const folded = (title: string): string => title.trim().toLowerCase();

/** The title of each field in a header line: the chosen one, or one of the field's own. */
export function columnsOf(titles: readonly string[], chosen: ImportColumns = {}): ImportColumns {
  const columns: ImportColumns = {};
  const has = (wanted: string): string | undefined => titles.find((title) => folded(title) === wanted);
  const taken = new Set(Object.values(chosen).map(folded));
  for (const field of ALL_FIELDS) {
    const title =
      chosen[field] === undefined
        ? titlesOf(field)
            .filter((own) => !taken.has(own))
            .map(has)
            .find((found) => found !== undefined)
        : has(folded(chosen[field]));
    if (title !== undefined) columns[field] = title;
  }
  return columns;
}

/** The position of each field's column. @throws VivariumError invalid_request when one is missing or occurs twice. */
export function positionsOf(
  titles: readonly string[],
  columns: ImportColumns,
  chosen: ImportColumns = {},
): (readonly [PetField, number])[] {
  for (const field of ALL_FIELDS) {
    const title = chosen[field];
    if (title !== undefined && title !== '' && columns[field] === undefined) {
      throw refusedText(`has no column "${title}" for ${field}; its header line has ${titles.join(', ')}.`);
    }
  }
  for (const needed of REQUIRED_FIELDS) {
    if (columns[needed] !== undefined) continue;
    const others = ALL_FIELDS.filter((field) => !REQUIRED_FIELDS.includes(field as EditableField));
    throw refusedText(
      `needs a header line with the columns ${REQUIRED_FIELDS.join(' and ')} (${others.join(' and ')} may follow); "${needed}" is missing.`,
    );
  }
  return ALL_FIELDS.filter((field) => columns[field] !== undefined).map((field) => {
    const wanted = folded(columns[field] ?? '');
    const places = titles.flatMap((title, index) => (folded(title) === wanted ? [index] : []));
    const [first, second] = places;
    if (first === undefined || second !== undefined) {
      throw refusedText(`has the column "${columns[field] ?? ''}" twice in its header line.`);
    }
    return [field, first] as const;
  });
}

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
