import { z } from 'zod';
import { call } from './base.ts';
import { hasNoControls, identifier, keyReference, NO_CONTROLS, projectReference, timestamp } from './values.ts';

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
