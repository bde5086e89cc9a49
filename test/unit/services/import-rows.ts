import { createPetImport, type ImportedRow } from '../../../main/services/pets/pet-import.ts';
import type { ImportForm } from '../../../main/services/pets/import-text.ts';

/** Everything that an import reads from a text in pieces. */
export async function readAllRows(form: ImportForm, pieces: readonly string[]): Promise<ImportedRow[]> {
  const reading = createPetImport(form);
  const rows: ImportedRow[] = [];
  for (const piece of pieces) for await (const some of reading.read(piece)) rows.push(...some);
  for await (const some of reading.end()) rows.push(...some);
  return rows;
}

/** The pets of a text, or the problems with them. */
export const readRows = async (format: ImportForm['format'], pieces: readonly string[]) =>
  (await readAllRows({ format }, pieces)).map(({ line: _line, text: _text, ...row }) => row);
