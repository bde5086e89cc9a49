import { VivariumError } from '../contract/errors.ts';
import { type ImportPreview, type ImportPreviewRow, PREVIEW_ROWS_MAX } from '../contract/pets.ts';
import { type Dataset, takenMessage } from '../model/pet.ts';
import type { PetRows } from './dependencies.ts';
import type { ImportForm } from './import-text.ts';
import { createPetImport, type ImportedRow } from './pet-import.ts';

/** A text whose first rows are asked for. */
interface Previewed extends ImportForm {
  text: string;
  /** Whether it goes on, so that its last row may be cut. */
  more: boolean;
}

/** Reads the first rows of a text as an import would, and adds nothing. */
export async function previewImport(
  pets: Pick<PetRows, 'getMany'>,
  dataset: Dataset,
  { text, more, ...form }: Previewed,
): Promise<ImportPreview> {
  const reading = createPetImport(form);
  const rows: ImportedRow[] = [];
  let fault: string | undefined;
  try {
    for await (const some of reading.read(text)) {
      rows.push(...some);
      if (rows.length >= PREVIEW_ROWS_MAX) break;
    }
    if (!more && rows.length < PREVIEW_ROWS_MAX) for await (const some of reading.end()) rows.push(...some);
  } catch (error) {
    if (!(error instanceof VivariumError)) throw error;
    fault = error.issues[0]?.message ?? error.message;
  }
  const shown = rows.slice(0, PREVIEW_ROWS_MAX);
  const ids = shown.map(({ pet }) => pet?.id).filter((id) => id !== undefined);
  const taken = new Set(pets.getMany(dataset, ids).map(({ id }) => id));
  return {
    ...reading.found,
    titles: [...reading.found.titles],
    ...(fault !== undefined && { fault }),
    rows: shown.map((row) => preview(row, taken, dataset)),
  };
}

function preview(row: ImportedRow, taken: ReadonlySet<bigint>, dataset: Dataset): ImportPreviewRow {
  const at = { row: row.row, line: row.line, text: row.text() };
  if (row.pet === null) return { ...at, message: row.message };
  const { id, name, categoryId, status } = row.pet;
  const pet = { ...(id !== undefined && { id: String(id) }), name, categoryId: String(categoryId), status };
  return { ...at, pet, ...(id !== undefined && taken.has(id) && { message: takenMessage(id, dataset) }) };
}
