import type { ImportColumns } from '../contract/pets.ts';
import { type Field, FIELDS, refusedText } from './import-text.ts';

/** The titles of each field in lower case, the first that a header line has counting. */
const TITLES: Record<Field, readonly string[]> = {
  id: ['id'],
  name: ['name'],
  categoryId: ['categoryid', 'category_id', 'category id', 'category'],
  status: ['status'],
};

const folded = (title: string): string => title.trim().toLowerCase();

/** The title of each field that a header line has: the chosen one, or one of the field's own. */
export function columnsOf(titles: readonly string[], chosen: ImportColumns = {}): ImportColumns {
  const columns: ImportColumns = {};
  const has = (wanted: string): string | undefined => titles.find((title) => folded(title) === wanted);
  const taken = new Set(Object.values(chosen).map(folded));
  for (const field of FIELDS) {
    const title =
      chosen[field] === undefined
        ? TITLES[field]
            .filter((own) => !taken.has(own))
            .map(has)
            .find((found) => found !== undefined)
        : has(folded(chosen[field]));
    if (title !== undefined) columns[field] = title;
  }
  return columns;
}

/** The position of each field's column. @throws VivariumError invalid_request when one is missing or there twice. */
export function positionsOf(
  titles: readonly string[],
  columns: ImportColumns,
  chosen: ImportColumns = {},
): (readonly [Field, number])[] {
  for (const field of FIELDS) {
    const title = chosen[field];
    if (title !== undefined && title !== '' && columns[field] === undefined) {
      throw refusedText(`has no column "${title}" for ${field}; its header line has ${titles.join(', ')}.`);
    }
  }
  for (const needed of ['name', 'categoryId'] as const) {
    if (columns[needed] !== undefined) continue;
    throw refusedText(
      `needs a header line with the columns name and categoryId (id and status may follow); "${needed}" is missing.`,
    );
  }
  return FIELDS.filter((field) => columns[field] !== undefined).map((field) => {
    const wanted = folded(columns[field] ?? '');
    const places = titles.flatMap((title, index) => (folded(title) === wanted ? [index] : []));
    const [first, second] = places;
    if (first === undefined || second !== undefined) {
      throw refusedText(`has the column "${columns[field] ?? ''}" twice in its header line.`);
    }
    return [field, first] as const;
  });
}
