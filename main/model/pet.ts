import type { Environment, PetStatus } from '../contract/values.ts';
import { VivariumError } from '../contract/errors.ts';
import { DATASET_PETS_MAX } from '../contract/pet-fields.ts';

/** One of a project's two datasets of pets and orders. */
export interface Dataset {
  projectId: string;
  environment: Environment;
}

/** A pet. The int64 values are bigints, exact over the whole range. */
export interface Pet {
  id: bigint;
  /** Any well-formed Unicode, NUL included; returned unchanged. */
  name: string;
  categoryId: bigint;
  status: PetStatus;
}

/** Without an id the dataset assigns the next one. */
export type NewPet = Omit<Pet, 'id'> & { id?: bigint | undefined };

/** Ids from `first` to `last`, both included. */
export interface IdRange {
  first: bigint;
  last: bigint;
}

export type PetPatch = { [Field in keyof Omit<Pet, 'id'>]?: Pet[Field] | undefined };

/**
 * The search form of names: upper case, whose letters do not depend on their neighbours (`ς` and `σ` are both `Σ`, `ß`
 * is `SS`), and composed, because `é` has two encodings.
 */
export const foldName = (name: string): string => name.toUpperCase().normalize('NFC');

export const noSuchPet = (id: bigint, { projectId, environment }: Dataset): VivariumError =>
  new VivariumError('not_found', `There is no pet ${id} in ${environment} of project ${projectId}.`);

/** The refusal of a pet for which a dataset has no room. */
export const noRoom = ({ projectId, environment }: Dataset): VivariumError =>
  new VivariumError(
    'unavailable',
    `There are ${DATASET_PETS_MAX.toLocaleString('en')} pets in ${environment} of project ${projectId}, the most that it holds; remove some first.`,
  );

export const takenMessage = (id: bigint, { projectId, environment }: Dataset): string =>
  `There is a pet ${id} in ${environment} of project ${projectId} already; choose another id, or leave it out to get the next one.`;
