import type { EpochMs } from '../base/clock.ts';
import type { Environment } from '../contract/values.ts';
import { notFound, unavailable, type VivariumError } from '../contract/errors.ts';
import {
  DATASET_PETS_MAX,
  EDITABLE_FIELDS,
  factsOf,
  type OptionalField,
  PET_FIELDS,
  type PetField,
  type PetValues,
} from '../contract/pet-fields.ts';

/** One of a project's two datasets of pets and orders. */
export interface Dataset {
  projectId: string;
  environment: Environment;
}

/** A pet. The int64 values are bigints, exact over the whole range. */
export type Pet = PetValues<bigint>;

/** Without an id the dataset assigns the next one; fields with an initial value may be left out. */
export type NewPet = Omit<Pet, 'id' | OptionalField> & Partial<Pick<Pet, OptionalField>> & { id?: bigint | undefined };

/** The value of a field as its text gives it: an int64 as a bigint. */
export const heldValue = (field: PetField, text: string): bigint | string =>
  PET_FIELDS[field].kind === 'int64' ? BigInt(text) : text;

/** The values of all fields but the id, with those that a new pet has by itself. */
export const valuesOf = (pet: NewPet): (bigint | string)[] =>
  EDITABLE_FIELDS.map((field) => pet[field] ?? heldValue(field, factsOf(field).initial ?? ''));

export function petWith(id: bigint, values: readonly (bigint | string)[]): Pet {
  const pet: Record<string, bigint | string | undefined> = { id };
  EDITABLE_FIELDS.forEach((field, index) => (pet[field] = values[index]));
  return pet as unknown as Pet;
}

export interface Order {
  id: bigint;
  petId: bigint;
  quantity: number;
  status: 'placed';
  createdAtMs: EpochMs;
}

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
  notFound(`There is no pet ${id} in ${environment} of project ${projectId}.`);

/** The refusal of a pet for which a dataset has no room. */
export const noRoom = ({ projectId, environment }: Dataset): VivariumError =>
  unavailable(
    `There are ${DATASET_PETS_MAX.toLocaleString('en')} pets in ${environment} of project ${projectId}, the most that it holds; remove some first.`,
  );

export const takenMessage = (id: bigint, { projectId, environment }: Dataset): string =>
  `There is a pet ${id} in ${environment} of project ${projectId} already; choose another id, or leave it out to get the next one.`;
