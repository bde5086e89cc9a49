import { createPetImport, type ImportedRow, type ImportFormat } from '../../../main/services/pet-import.ts';

/** Everything that an import makes of a text in pieces. */
export async function readRows(format: ImportFormat, pieces: readonly string[]): Promise<ImportedRow[]> {
  const reading = createPetImport(format);
  const rows: ImportedRow[] = [];
  for (const piece of pieces) for await (const some of reading.read(piece)) rows.push(...some);
  for await (const some of reading.end()) rows.push(...some);
  return rows;
}
