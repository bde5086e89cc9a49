import { z } from 'zod';
import { base } from './base.ts';

/** On POSIX or Windows: the engine's working folder is none of the caller's business. */
export const absolutePath = z
  .string()
  .max(4_096)
  .regex(/^(?:\/|[A-Za-z]:[\\/]|\\\\)[^\0]+$/, 'Give an absolute path.')
  .meta({ examples: ['/home/anna/vivarium-backup.db'] });

export const writtenBackup = z.object({
  file: z.string(),
  bytes: z.int(),
  /** The schema number of its database; this and newer Vivariums can restore it. */
  schema: z.int(),
  /** Whether the root's private key in it is sealed with this system's keyring, which another machine cannot open. */
  sealed: z.boolean(),
});
export type WrittenBackup = z.infer<typeof writtenBackup>;

export const backup = {
  create: base
    .route({ summary: 'Write everything that the data folder keeps into one file: database, root and keys' })
    .input(
      z.strictObject({
        file: absolutePath,
        /** Replaces an older backup of that name, and no other file. */
        force: z.boolean().meta({ description: 'replace an older backup of that name' }).default(false),
      }),
    )
    .output(writtenBackup),
};
