import { z } from 'zod';
import { base } from './base.ts';
import { hostnameInput, redirectInput } from './domains.ts';
import { keyName } from './keys.ts';
import { SEED_COUNT_MAX } from './pets.ts';
import { plan, planLimits, projectName, projectSlug, target } from './projects.ts';
import { requestsText } from './requests.ts';
import { settingsUpdate } from './settings.ts';
import { int64Input, petName, petStatus } from './values.ts';
import { nameText, ZONE_TEXT_MAX } from './zones.ts';

/** The maximum length of the text, in characters. */
export const WORLD_TEXT_MAX = 64 * 1024 * 1024;

/** Larger datasets are left out of an export. */
export const WORLD_PETS_MAX = 10_000;

export const worldPets = z
  .array(
    z.strictObject({
      id: int64Input.optional(),
      name: petName,
      categoryId: int64Input,
      status: petStatus.default('available'),
    }),
  )
  .max(WORLD_PETS_MAX);

/** The message where a record is something else; faults of its names keep their own. */
const ofRecord =
  (message: string) =>
  ({ code }: { code?: string }): string | undefined =>
    code === 'invalid_type' ? message : undefined;

/** By hostname. */
export const worldDomains = z.record(
  hostnameInput,
  z.strictObject({ redirect: hostnameInput.optional(), ...redirectInput.pick({ status: true, hsts: true }).shape }),
  { error: ofRecord('must be an object with hostnames as names') },
);

const projectEntry = z.strictObject({
  /** The slug by default. */
  name: projectName.optional(),
  plan: plan.optional(),
  limits: planLimits.optional(),
  target: target.optional(),
  /** For datasets without pets: a number of generated ones for production, or lists. */
  pets: z
    .union([
      z.int().min(0).max(SEED_COUNT_MAX),
      z.strictObject({ production: worldPets.optional(), staging: worldPets.optional() }),
    ])
    .optional(),
  /** Names. Secrets are in no file; a key that is missing is created with a new one. */
  keys: z.array(keyName).max(1_000).optional(),
  domains: worldDomains.optional(),
  primary: hostnameInput.nullable().optional(),
  /** The saved requests, as an `.http` text. */
  requests: requestsText.optional(),
});
export type ProjectEntry = z.output<typeof projectEntry>;

const zoneText = z.string().max(ZONE_TEXT_MAX);

/** The version of the format. */
export const WORLD_VERSION = 1;

/** What `world.export` writes and `world.apply` reads. Everything may be omitted. */
export const world = z.strictObject({
  vivarium: z.literal(WORLD_VERSION, `must be ${WORLD_VERSION}, the version of the format`),
  settings: settingsUpdate.omit({ caKey: true }).optional(),
  /** By slug. */
  projects: z
    .record(projectSlug, projectEntry, { error: ofRecord('must be an object with project slugs as names') })
    .optional(),
  /** Zone texts by name; the object is for a zone at a provider without ALIAS. */
  zones: z
    .record(nameText, z.union([zoneText, z.strictObject({ supportsAlias: z.boolean(), text: zoneText })]), {
      error: ofRecord('must be an object with names of zones as names'),
    })
    .optional(),
});
export type World = z.output<typeof world>;

const change = z.object({
  kind: z.enum(['setting', 'zone', 'records', 'project', 'key', 'pets', 'domain', 'redirects', 'primary', 'requests']),
  /** `acme`, `acme/shop.acme.test`. */
  what: z.string(),
  /** Absent when it is created. */
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
export type WorldChange = z.infer<typeof change>;

const text = z.strictObject({ text: z.string().max(WORLD_TEXT_MAX) });
const changes = z.object({
  changes: z.array(change),
  /** Entries of the text that are as they should be. */ left: z.int(),
});

export const worlds = {
  export: base
    .route({ summary: 'Settings, projects and zones as one JSON file, without secrets' })
    .input(z.strictObject({}).optional())
    /** `omitted`: what the text does not have, in sentences. */
    .output(z.object({ text: z.string(), omitted: z.array(z.string()) })),
  diff: base.route({ summary: 'What applying such a text would change' }).input(text).output(changes),
  apply: base
    .route({
      summary: 'Create and change what such a text has; what it does not have stays. All of it is checked first',
    })
    .input(text)
    /** `keys`: the created keys; only this answer contains their secrets. */
    .output(changes.extend({ keys: z.array(z.object({ project: z.string(), name: z.string(), secret: z.string() })) })),
};
