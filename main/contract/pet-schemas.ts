import { z } from 'zod';
import {
  ALL_FIELDS,
  eachField,
  EDITABLE_FIELDS,
  factsOf,
  FILTERED_FIELDS,
  type EditableField,
  type OptionalField,
  type PetField,
  type PetValues,
} from './pet-fields.ts';
import { int64Input, int64Text, petName, petText } from './values.ts';

/** Reads and checks a field; int64 is in texts, and may be given as a number. */
type FieldSchema<Field extends PetField> = z.ZodType<PetValues<string>[Field], PetValues<string | number>[Field]>;

const schemaOf = (field: PetField, int64: z.ZodType = int64Input): z.ZodType => {
  const { kind, options = [], initial } = factsOf(field);
  if (kind === 'int64') return int64;
  return kind === 'choice' ? z.enum(options) : initial === undefined ? petName : petText;
};

/** A pet that the engine returns. */
export const recordShape = eachField(ALL_FIELDS, (field, { kind }) =>
  kind === 'text' ? z.string() : schemaOf(field, int64Text),
) as { [Field in PetField]: z.ZodType<PetValues<string>[Field]> };

/** A pet to add, apart from its id. */
export const newPetShape = eachField(EDITABLE_FIELDS, (field, { initial }) =>
  initial === undefined ? schemaOf(field) : schemaOf(field).default(initial),
) as {
  [Field in EditableField]: Field extends OptionalField ? z.ZodDefault<FieldSchema<Field>> : FieldSchema<Field>;
};

export const changeShape = eachField(EDITABLE_FIELDS, (field) => schemaOf(field).optional()) as {
  [Field in EditableField]: z.ZodOptional<FieldSchema<Field>>;
};

export const filterShape = eachField(FILTERED_FIELDS, (field) => schemaOf(field).optional()) as Pick<
  typeof changeShape,
  (typeof FILTERED_FIELDS)[number]
>;

const title = z.string().max(200).meta({ description: 'the title of its column; empty leaves it out' });

export const columnsShape = eachField(ALL_FIELDS, () => title.optional());
