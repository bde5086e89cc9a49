import { z } from 'zod';
import { base } from './base.ts';
import { environment, identifier, int64Input, int64Text, petName, petStatus } from './values.ts';

export const pet = z.object({ id: int64Text, name: z.string(), categoryId: int64Text, status: petStatus });
export type PetRecord = z.infer<typeof pet>;

export const IMPORT_TEXT_MAX = 64 * 1024 * 1024;
export const SEED_COUNT_MAX = 1_000_000;

const dataset = z.strictObject({ projectId: identifier, environment: environment.default('production') });

const importReport = z.object({
  created: z.int(),
  /** The rows that were not taken, in order, numbered from 1; at most 1,000 are listed, `rejectedTotal` has them all. */
  rejected: z.array(z.object({ row: z.int(), message: z.string() })),
  rejectedTotal: z.int(),
});
export type ImportReport = z.infer<typeof importReport>;

export const pets = {
  list: base
    .route({ summary: 'The pets of a dataset, by id' })
    .input(
      dataset.extend({
        status: petStatus.optional(),
        search: z.string().max(200).optional(),
        limit: z.int().min(1).max(1000).default(50),
        after: int64Input.optional(),
      }),
    )
    .output(z.object({ items: z.array(pet), total: z.int(), next: int64Text.optional() })),
  create: base
    .route({ summary: 'Add a pet; without an id it gets the next one' })
    .input(
      dataset.extend({
        id: int64Input.optional(),
        name: petName,
        categoryId: int64Input,
        status: petStatus.default('available'),
      }),
    )
    .output(pet),
  update: base
    .route({ summary: 'Change a pet' })
    .input(
      dataset.extend({
        id: int64Input,
        name: petName.optional(),
        categoryId: int64Input.optional(),
        status: petStatus.optional(),
      }),
    )
    .output(pet),
  remove: base
    .route({ summary: 'Remove a pet' })
    .input(dataset.extend({ id: int64Input }))
    .output(pet),
  import: base
    .route({ summary: 'Add pets from JSON or CSV; good rows are taken, bad ones are reported' })
    .input(dataset.extend({ format: z.enum(['json', 'csv']), text: z.string().max(IMPORT_TEXT_MAX) }))
    .output(importReport),
  seed: base
    .route({ summary: 'Add made-up pets' })
    .input(dataset.extend({ count: z.int().min(1).max(SEED_COUNT_MAX) }))
    .output(importReport),
};
