import { z } from 'zod';
import { call } from './base.ts';
import { identifier, keyReference, projectReference, timestamp } from './values.ts';

const windowUsage = z.object({
  limit: z.int(),
  used: z.int(),
  /** Absent until a counted request opens the window. */
  resetsAt: timestamp.optional(),
});

export const callerUsage = z.object({
  /** `key:<id>` for an API key, `address:<ip>` for a request without a valid one. */
  caller: z.string(),
  keyId: identifier.optional(),
  /** The API key's name, which may be empty, and the visible start of its secret. */
  key: z.object({ name: z.string(), prefix: z.string() }).optional(),
  minute: windowUsage,
  day: windowUsage,
  /** Refusals counted towards a ban in the exhausted window. */
  strikes: z.int(),
  bannedUntil: timestamp.optional(),
});
export type CallerUsage = z.infer<typeof callerUsage>;

export const limits = {
  usage: call('The callers of a project and their use of the limits', z.array(callerUsage), {
    projectId: projectReference,
  }),
  reset: call('Reset the counters of one caller or of all; bans stay in force', z.array(callerUsage), {
    projectId: projectReference,
    caller: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: 'a caller from limits usage, such as address:127.0.0.1' })
      .optional(),
  }),
  unban: call('Lift the ban of an API key', z.object({ keyId: identifier, lifted: z.boolean() }), {
    keyId: keyReference,
  }),
};
