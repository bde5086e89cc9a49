import { z } from 'zod';
import { call } from './base.ts';
import {
  DATASET_PETS_MAX,
  type PetValues,
  ALL_FIELDS,
  eachField,
  EDITABLE_FIELDS,
  factsOf,
  FILTERED_FIELDS,
  type EditableField,
  type OptionalField,
  type PetField,
} from './pet-fields.ts';
import {
  about,
  environment,
  identifier,
  int64Input,
  int64Text,
  petSort,
  projectReference,
  petName,
  petText,
  timestamp,
} from './values.ts';

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

const title = about(z.string().max(200), 'the title of its column; empty leaves it out');

export const columnsShape = eachField(ALL_FIELDS, () => title.optional());

export const pet = z.object(recordShape);
export type PetRecord = PetValues<string>;

export const IMPORT_TEXT_MAX = 64 * 1024 * 1024;
const CLEAR_LIMIT_MAX = 1_000_000;
/** Made-up pets that a call can skip. */
export const SEED_SKIP_MAX = 1_000_000;
/** Pets that one call reads, changes or removes by their ids. */
export const PETS_MANY_MAX = 1_000;

const dataset = { projectId: projectReference, environment: environment.default('production') };

/** Runs of ids that one call can name; an import with more runs cannot be undone. */
export const ID_RANGES_MAX = 1_000;

const importReport = z.object({
  created: z.int(),
  /**
   * The rejected rows in order, numbered from 1, with the line of the text where they begin and how they begin; at most
   * 1,000 are listed, `rejectedTotal` counts all.
   */
  rejected: z.array(
    z.object({ row: z.int(), line: z.int().optional(), message: z.string(), text: z.string().optional() }),
  ),
  rejectedTotal: z.int(),
});

const importFormat = z.enum(['json', 'csv']);
export type ImportFormat = z.infer<typeof importFormat>;
const delimiter = z.enum(['comma', 'semicolon', 'tab', 'pipe']);
export type ImportDelimiter = z.infer<typeof delimiter>;
/** The title of the column of each field; in JSON, the name of its member. */
const columns = z.strictObject(columnsShape);
export type ImportColumns = z.infer<typeof columns>;

const importForm = {
  ...dataset,
  format: importFormat,
  /** What separates the cells of CSV; found in the header line by default. */
  delimiter: delimiter.optional(),
  /** The columns by their own names are the default; an empty title leaves a field out. */
  columns: columns.optional(),
};

/** Text that a preview reads, and the rows that it returns. */
export const PREVIEW_TEXT_MAX = 1024 * 1024;
export const PREVIEW_ROWS_MAX = 50;

const previewedRow = z.object({
  row: z.int(),
  line: z.int(),
  text: z.string(),
  /** The pet that an import would add; without an id it gets the next one. */
  pet: pet.extend({ id: int64Text.optional() }).optional(),
  /** Why an import would refuse the row. */
  message: z.string().optional(),
});
export type ImportPreviewRow = z.infer<typeof previewedRow>;

const importPreview = z.object({
  delimiter: delimiter.optional(),
  /** The titles of the header line; in JSON, the members of the first object. */
  titles: z.array(z.string()),
  /** The columns that the fields are read from. */
  columns,
  /** Why the text as a whole would be refused. */
  fault: z.string().optional(),
  rows: z.array(previewedRow),
});
export type ImportPreview = z.infer<typeof importPreview>;
/** The ids of the added pets, in runs of consecutive ones; absent beyond 1,000 runs. */
const added = z.array(z.object({ first: int64Text, last: int64Text })).optional();
export type ImportReport = z.infer<typeof importReport> & { added?: z.infer<typeof added> };

/** Options that only the order of ids supports: `after`, and those it excludes. */
const listInput = z.strictObject({
  ...dataset,
  status: changeShape.status,
  /** A part of the name in any case, or an exact id. */
  search: about(z.string().max(200), 'a part of the name, or an id').optional(),
  ...filterShape,
  /** A part of the name in any case. */
  name: about(z.string().max(200), 'a part of the name').optional(),
  /** Only ids from `first` to `last`, both included. */
  ids: z.strictObject({ first: int64Input.optional(), last: int64Input.optional() }).optional(),
  sort: petSort.default('id'),
  descending: about(z.boolean(), 'sort from the last to the first').default(false),
  limit: z.int().min(1).max(1000).default(50),
  /** Only ids after this one. Paging by id misses nothing while others add and remove pets. */
  after: int64Input.optional(),
  /** The position of the first pet, from 0, for random access to a list. */
  offset: z.int().min(0).optional(),
  /** The pet to begin with, wherever it is now; `offset` applies when it no longer exists. */
  anchor: int64Input.optional(),
  /** How many pets before the anchor the page includes. */
  before: z.int().min(0).max(1000).default(0),
});

/** Ids of which each is listed once: what a call returns can then undo it. */
const ids = z
  .array(int64Input)
  .min(1)
  .max(PETS_MANY_MAX)
  .superRefine((listed, context) => refuseTwice(listed, (index) => [index], context));

const changes = z
  .array(z.strictObject({ id: int64Input, ...changeShape }))
  .min(1)
  .max(PETS_MANY_MAX)
  .superRefine((listed, context) =>
    refuseTwice(
      listed.map(({ id }) => id),
      (index) => [index, 'id'],
      context,
    ),
  );

function refuseTwice(
  listed: readonly string[],
  pathOf: (index: number) => PropertyKey[],
  context: z.core.$RefinementCtx,
): void {
  const seen = new Set<string>();
  for (const [index, id] of listed.entries()) {
    if (seen.has(id)) {
      context.addIssue({ code: 'custom', path: pathOf(index), message: `is ${id} for a second time; list it once` });
      return;
    }
    seen.add(id);
  }
}

/** The ids of a call that belong to no pet. */
const missing = z.array(int64Text);

export const pets = {
  list: call(
    'The pets of a dataset: filtered, searched, sorted, from any position',
    z.object({ items: z.array(pet), total: z.int(), offset: z.int().optional(), next: int64Text.optional() }),
    listInput.superRefine(({ after, offset, anchor, sort, descending }, context) => {
      if (after === undefined) return;
      if (offset === undefined && anchor === undefined && sort === 'id' && !descending) return;
      const message = 'requires the order of ids: omit it, or omit sort, descending, offset and anchor';
      context.addIssue({ code: 'custom', path: ['after'], message });
    }),
  ),
  get: call('One pet', pet, { ...dataset, id: int64Input }),
  create: call('Add a pet; without an id it gets the next one', pet, {
    ...dataset,
    id: int64Input.optional(),
    ...newPetShape,
  }),
  update: call('Change a pet', pet, { ...dataset, id: int64Input, ...changeShape }),
  remove: call('Remove a pet', pet, { ...dataset, id: int64Input }),
  getMany: call('Pets by their ids', z.object({ pets: z.array(pet), missing }), { ...dataset, ids }),
  /** `before`: the changed pets as they were. */
  updateMany: call(
    'Change many pets, all or none; sending back their previous values undoes it',
    z.object({ before: z.array(pet), missing }),
    { ...dataset, changes },
  ),
  removeMany: call(
    'Remove many pets at once; importing the removed pets undoes it',
    z.object({ removed: z.array(pet), missing }),
    { ...dataset, ids },
  ),
  clear: call(
    'Remove all pets of a dataset, or some of them, lowest ids first; orders stay',
    z.object({ removed: z.int(), left: z.int() }),
    {
      ...dataset,
      limit: z.int().min(1).max(CLEAR_LIMIT_MAX).optional(),
      /** Only these, as an import has reported them. */
      ids: z
        .array(z.strictObject({ first: int64Input, last: int64Input }))
        .max(ID_RANGES_MAX)
        .optional(),
    },
  ),
  /** Of a text in pieces, the result of the rows that end in this piece. */
  import: call(
    'Add pets from JSON or CSV; valid rows are added, invalid ones reported',
    importReport.extend({ added, importId: identifier.optional() }),
    {
      ...importForm,
      text: z.string().max(IMPORT_TEXT_MAX),
      /** Whether more text follows: the answer contains the `importId` for the next piece, due within a minute. */
      more: about(z.boolean(), 'more text follows, in another call with the import id').default(false),
      importId: identifier.optional(),
    },
  ),
  previewImport: call('How an import would read the first rows of a text; adds nothing', importPreview, {
    ...importForm,
    text: z.string().max(PREVIEW_TEXT_MAX),
    more: about(z.boolean(), 'the text continues, and its last row may be cut off').default(false),
  }),
  seed: call('Add generated pets, the same ones each time', importReport, {
    ...dataset,
    count: z.int().min(1).max(DATASET_PETS_MAX),
    /** How many made-up pets to skip, for adding a large number in parts. */
    skip: z.int().min(0).max(SEED_SKIP_MAX).default(0),
  }),
};

export const order = z.object({
  id: int64Text,
  petId: int64Text,
  quantity: z.int(),
  status: z.literal('placed'),
  createdAt: timestamp,
});
export type OrderRecord = z.infer<typeof order>;

export const orders = {
  list: call('A dataset’s orders, by id; only the last ones beyond the limit', z.array(order), {
    ...dataset,
    petId: int64Input.optional(),
    limit: z.int().min(1).max(10_000).default(10_000),
  }),
  create: call('Place an order for a pet', order, {
    ...dataset,
    petId: int64Input,
    quantity: z.int().min(1).max(1_000_000).default(1),
  }),
  remove: call('Remove an order', order, { ...dataset, id: int64Input }),
};
