import { z } from 'zod';
import { base } from './base.ts';
import { duration } from './values.ts';

/** `"*"`: any page may call; a list: these origins only; an empty list: none. */
const cors = z.union(
  [
    z.literal('*'),
    z.array(z.string().regex(/^https?:\/\/[^/?#\s]+$/, 'must be an origin such as "http://localhost:5173"')).max(100),
  ],
  { error: 'must be "*" or a list of origins such as ["http://localhost:5173"]' },
);

export const settingsValues = z.object({
  /** How many refusals in one exhausted rate window ban an API key. */
  banAfter: z.int().min(1).max(1_000_000),
  banDuration: duration,
  cors,
});
export type Settings = z.infer<typeof settingsValues>;

export const DEFAULT_SETTINGS: Settings = { banAfter: 20, banDuration: 'PT10M', cors: '*' };

export const settings = {
  get: base.route({ summary: 'The settings' }).input(z.strictObject({}).optional()).output(settingsValues),
  update: base
    .route({ summary: 'Change settings; those not named stay' })
    .input(z.strictObject(settingsValues.partial().shape))
    .output(settingsValues),
};
