import type { Dataset } from '../base/dataset.ts';
import { VivariumError } from '../contract/errors.ts';
import type { PetStatus } from '../contract/values.ts';

/** A pet. The int64 values are bigints, exact over the whole range. */
export interface PetRow {
  id: bigint;
  /** Any well-formed Unicode, NUL included; returned unchanged. */
  name: string;
  categoryId: bigint;
  status: PetStatus;
}

/** Without an id the dataset assigns the next one. */
export type NewPetRow = Omit<PetRow, 'id'> & { id?: bigint | undefined };

export type PetPatch = { [Field in keyof Omit<PetRow, 'id'>]?: PetRow[Field] | undefined };

/** A pet as an array, cheaper than an object: id, name, categoryId, status. */
export type RawPet = [id: bigint, name: string, categoryId: bigint, status: PetStatus];

export const petOf = ([id, name, categoryId, status]: RawPet): PetRow => ({ id, name, categoryId, status });

/**
 * The search form of names: upper case, whose letters do not depend on their neighbours (`ς` and `σ` are both `Σ`, `ß`
 * is `SS`), and composed, because `é` has two encodings.
 */
export const foldName = (name: string): string => name.toUpperCase().normalize('NFC');

export const noSuchPet = (id: bigint, { projectId, environment }: Dataset): VivariumError =>
  new VivariumError('not_found', `There is no pet ${id} in ${environment} of project ${projectId}.`);

export const takenMessage = (id: bigint, { projectId, environment }: Dataset): string =>
  `There is a pet ${id} in ${environment} of project ${projectId} already; choose another id, or leave it out to get the next one.`;
