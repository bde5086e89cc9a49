/** Pets that a dataset holds; one with more, from before this bound, keeps them and accepts none. */
export const DATASET_PETS_MAX = 100_000;

interface FieldFacts {
  kind: 'int64' | 'text' | 'choice';
  /** Its column in the database. */
  column: string;
  /** The heading of its column in the window. */
  title: string;
  /** Its name in a sentence. */
  word: string;
  /** The sentence about it in the API's description. */
  about: string;
  /** The values of a choice. */
  options?: readonly string[];
  /** The value of a pet that is added without one; without it, the field is required. */
  initial?: string;
  /** Further titles of its column in a file, in lower case. */
  aliases?: readonly string[];
  /** The width of its column in the window. */
  width: string;
}

/** The fields of a pet; all but the id can be changed. */
export const PET_FIELDS = {
  id: {
    kind: 'int64',
    column: 'id',
    title: 'Id',
    word: 'id',
    about: 'Unique identifier assigned on creation.',
    width: '3.25rem',
  },
  name: {
    kind: 'text',
    column: 'name',
    title: 'Name',
    word: 'name',
    about: 'The animal’s name.',
    width: 'minmax(9rem, 1fr)',
  },
  categoryId: {
    kind: 'int64',
    column: 'category_id',
    title: 'Category',
    word: 'category',
    about: 'Identifier of the category the animal belongs to.',
    aliases: ['category_id', 'category id', 'category'],
    width: '5rem',
  },
  status: {
    kind: 'choice',
    column: 'status',
    title: 'Status',
    word: 'status',
    about: 'Availability status.',
    options: ['available', 'pending', 'sold'],
    initial: 'available',
    width: '6rem',
  },
} as const satisfies Record<string, FieldFacts>;

export type PetField = keyof typeof PET_FIELDS;
export type EditableField = Exclude<PetField, 'id'>;

export const ALL_FIELDS = Object.keys(PET_FIELDS) as PetField[];
export const EDITABLE_FIELDS = ALL_FIELDS.filter((field) => field !== 'id');

/** The fields that a list filters by one value; ids are filtered by a range, and statuses of their own. */
export const FILTERED_FIELDS = EDITABLE_FIELDS.filter((field) => field !== 'status');

/** The facts of a field, those included that only some fields have. */
export const factsOf = (field: PetField): FieldFacts => PET_FIELDS[field];

/** The fields without which no pet is added. */
export const REQUIRED_FIELDS = EDITABLE_FIELDS.filter((field) => factsOf(field).initial === undefined);

/** The titles of a field's column in a file, in lower case. */
export const titlesOf = (field: PetField): readonly string[] => [
  field.toLowerCase(),
  ...(factsOf(field).aliases ?? []),
];

/** What a field holds, where an int64 is held as `Int`. */
type Held<Facts, Int> = Facts extends { kind: 'int64' }
  ? Int
  : Facts extends { options: readonly (infer Option)[] }
    ? Option
    : string;

export type PetValues<Int> = { [Field in PetField]: Held<(typeof PET_FIELDS)[Field], Int> };

/** The fields that a pet may be added without. */
export type OptionalField = {
  [Field in EditableField]: (typeof PET_FIELDS)[Field] extends { initial: string } ? Field : never;
}[EditableField];

/** An object with a value for each of the fields. */
export const eachField = <Field extends PetField, Value>(
  fields: readonly Field[],
  valueOf: (field: Field, facts: FieldFacts) => Value,
): Record<Field, Value> =>
  Object.fromEntries(fields.map((field) => [field, valueOf(field, factsOf(field))])) as Record<Field, Value>;
