import { z } from 'zod';
import { call } from './base.ts';
import { about, hasNoControls, identifier, keyReference, NO_CONTROLS, projectReference, timestamp } from './values.ts';

export const apiKey = z.object({
  id: identifier,
  name: z.string(),
  /** The first characters of the secret, enough to recognise it. */
  prefix: z.string(),
  createdAt: timestamp,
  /**
   * When the key last sent a request, refused or not; accurate to the second after a crash. Absent before the first
   * one.
   */
  lastUsedAt: timestamp.optional(),
  revokedAt: timestamp.optional(),
});
export type ApiKey = z.infer<typeof apiKey>;

export const apiKeyWithSecret = apiKey.extend({ secret: z.string() });

export const keyName = z.string().trim().min(1).max(100).refine(hasNoControls, NO_CONTROLS);

export const keys = {
  create: call('Create an API key; only this answer contains its secret', apiKeyWithSecret, {
    projectId: projectReference,
    name: keyName.optional(),
  }),
  list: call('A project’s API keys, newest first', z.array(apiKey), { projectId: projectReference }),
  readable: call(
    'The demo’s key with its secret, until it is revoked; no other secret can be read again',
    z.object({ keyId: identifier.optional(), secret: z.string().optional() }),
    { projectId: projectReference },
  ),
  revoke: call('Revoke an API key; requests with it are unauthorized at once', apiKey, { keyId: keyReference }),
};

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
    caller: about(z.string().min(1).max(200), 'a caller from limits usage, such as address:127.0.0.1').optional(),
  }),
  unban: call('Lift the ban of an API key', z.object({ keyId: identifier, lifted: z.boolean() }), {
    keyId: keyReference,
  }),
};
