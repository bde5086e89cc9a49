import { z } from 'zod';
import { call } from './base.ts';
import { hostnameInput } from './domains.ts';
import { PROVIDER_IDS } from './provider-table.ts';
import { about, projectReference, timestamp } from './values.ts';

/** Each has a root and leaves in memory. */
export const CONNECTIONS_MAX = 64;

/** Projects of one account. */
export const ACCOUNT_PROJECTS_MAX = 20;

export const providerId = z.enum(PROVIDER_IDS, { error: `must be one of ${PROVIDER_IDS.join(', ')}` });
const hosts = z.array(z.string());
const variables = z.record(z.string(), z.string());

const connection = z.object({
  id: z.string(),
  provider: providerId,
  projectId: z.string(),
  /** All projects of its account, the first one included. */
  projectIds: z.array(z.string()),
});

const opened = connection.extend({
  /** 40 characters of `[A-Za-z0-9_-]`, shown once. */
  token: z.string(),
  baseUrl: z.url(),
  /** The engine's own port with the token: leads to the provider's hosts here, and nowhere else. */
  proxyUrl: z.url(),
  /** The certificate of a root that was made for this connection and these hosts; its key no longer exists. */
  caFile: z.string(),
  hosts,
  /** What a child needs so that unmodified code reaches the hosts here. */
  env: variables,
  /** The part of `env` that is the provider's own: its token, and the ids of the projects. */
  variables,
  /** Names of the provider's other credentials, to be unset. */
  unset: z.array(z.string()),
});
export type OpenedProvider = z.infer<typeof opened>;

const answers = z.object({
  provider: providerId,
  answers: z.array(
    z.object({
      /** Method and path. */
      call: z.string(),
      status: z.int(),
      body: z.unknown(),
    }),
  ),
});
export type ProviderAnswers = z.infer<typeof answers>;

export const providers = {
  list: call(
    'The providers whose API is emulated, and the connections to them',
    z.array(
      z.object({
        provider: providerId,
        title: z.string(),
        hosts,
        baseUrl: z.url(),
        operations: z.object({
          /** Of the surface that counts: those that are emulated, and those that an official client drives in the tests. */
          emulated: z.int(),
          driven: z.int(),
          total: z.int(),
        }),
        connections: z.array(connection.extend({ since: timestamp })),
      }),
    ),
  ),
  connect: call(
    'Open a provider’s own API in front of a project: a token, and what a program needs to reach it',
    opened,
    {
      provider: providerId,
      projectId: projectReference,
      also: about(
        z.array(projectReference).max(ACCOUNT_PROJECTS_MAX - 1),
        'further projects of the same account',
      ).default([]),
      /** The process of a run, with which the connection ends. */
      pid: z.int().min(1).optional(),
    },
  ),
  ask: call('What a provider’s API would say about a domain now, by the calls that an app makes', answers, {
    hostname: hostnameInput,
    provider: providerId.optional(),
  }),
  disconnect: call(
    'Close a connection to a provider’s API; its token is refused from then on',
    z.object({ id: z.string() }),
    { id: z.string().max(64) },
  ),
};
