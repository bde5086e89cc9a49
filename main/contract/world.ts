import { z } from 'zod';
import { call } from './base.ts';
import { hostnameInput, redirectInput } from './domains.ts';
import { examineTables } from './examine.ts';
import { keyName } from './callers.ts';
import { DATASET_PETS_MAX } from './pet-fields.ts';
import { SEED_SKIP_MAX, newPetShape } from './pets.ts';
import { DOMAIN_PLANS } from './plans.ts';
import { PROVIDER_IDS } from './provider-table.ts';
import { persona, plan, planLimits, projectName, projectSlug, targetInput } from './projects.ts';
import { expectations, steps } from './rehearsal.ts';
import { requestsText } from './api.ts';
import { settingsUpdate } from './settings.ts';
import { about, type Environment, int64Input, moment, timestamp } from './values.ts';
import { nameText, ZONE_TEXT_MAX } from './zones.ts';

/** The maximum length of the text, in characters. */
export const WORLD_TEXT_MAX = 64 * 1024 * 1024;

/** Larger datasets are left out of an export. */
export const WORLD_PETS_MAX = 10_000;

/** Files that one text may name. */
export const WORLD_FILES_MAX = 100;

export const worldPets = z.array(z.strictObject({ id: int64Input.optional(), ...newPetShape })).max(WORLD_PETS_MAX);

/** The message for a record that is not an object; faults of its names have their own. */
const ofRecord =
  (message: string) =>
  ({ code }: { code?: string }): string | undefined =>
    code === 'invalid_type' ? message : undefined;

/** In YAML, a name without a value is null. */
const orNothing = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const entry = z.strictObject(shape);
  return entry.nullable().transform((value): z.output<typeof entry> => value ?? entry.parse({}));
};

/** By hostname. */
export const worldDomains = z.record(
  hostnameInput,
  orNothing({ redirect: hostnameInput.optional(), ...redirectInput.pick({ status: true, hsts: true }).shape }),
  { error: ofRecord('must be an object with hostnames as names') },
);

/** A file beside the one that names it. */
const fileName = z
  .string()
  .min(1)
  .max(1_000)
  .refine((path) => !path.includes('\0'), 'must be the path of a file, relative to this one');

const seedCount = z.int().min(0).max(DATASET_PETS_MAX);
/** The number of generated pets, the name of a JSON file with a list, or the list. */
const dataset = z.union([seedCount, fileName, worldPets], {
  error: 'must be a number of pets, a list of them, or the name of a JSON file with the list',
});

/** In YAML, a port is a number. */
const worldTarget = z.union([
  ...targetInput.options,
  z
    .int()
    .min(1)
    .max(65_535)
    .transform((port) => targetInput.parse(String(port))),
]);

const AS_FAULT = `must be ${PROVIDER_IDS.join(' or ')}, or one with its projects, such as ${PROVIDER_IDS[0]}=shop,blog`;

/** As after `--as`: `vercel`, or `vercel=shop,blog` with the projects of the account. */
const asProvider = z
  .string()
  .max(1_000)
  .regex(new RegExp(String.raw`^(?:${PROVIDER_IDS.join('|')})(?:=[a-z\d-]+(?:,[a-z\d-]+)*)?$`), AS_FAULT);

const projectEntry = orNothing({
  name: about(projectName.optional(), 'its name; the slug by default'),
  plan: about(plan.optional(), `free by default; custom domains need ${DOMAIN_PLANS.ids}`),
  limits: about(planLimits.optional(), 'the limits of the enterprise plan, which requires them'),
  target: about(
    worldTarget.optional(),
    'where requests lead: api, the default, or an upstream such as http://localhost:5173',
  ),
  persona: about(persona.optional(), 'the provider whose custom domains it imitates'),
  run: about(
    z.string().trim().min(1, 'must be a command, such as "npm run dev"').max(8_192).optional(),
    'instead of a target: the command that vivarium run starts and serves',
  ),
  as: about(
    z
      .union([asProvider.transform((one) => [one]), z.array(asProvider).min(1).max(PROVIDER_IDS.length)], {
        error: AS_FAULT,
      })
      .optional(),
    `with run: the providers whose API its command reaches here, such as ${PROVIDER_IDS[0]}`,
  ),
  /** For empty datasets. A number, file or list alone is for production. */
  pets: z
    .union([dataset, z.strictObject({ production: dataset.optional(), staging: dataset.optional() })], {
      error:
        'must be a number of pets, a list of them, the name of a JSON file, or an object with production and staging',
    })
    .optional(),
  /** Names. Files contain no secrets; a missing key is created with a new secret. */
  keys: about(
    z.array(keyName).max(1_000).optional(),
    'names of API keys; vivarium up prints the secrets of those that it creates',
  ),
  domains: about(worldDomains.optional(), 'by hostname; nothing, or the target of a redirect'),
  primary: about(hostnameInput.nullable().optional(), 'the domain that base addresses are shown with'),
  requests: about(requestsText.optional(), 'saved requests, as the text of an .http file'),
});
export type ProjectEntry = z.output<typeof projectEntry>;

const zoneText = z.string().max(ZONE_TEXT_MAX);

/** The version of the format. */
export const WORLD_VERSION = 1;

/** What `world.export` writes and `world.apply` reads: `vivarium.yaml`. Everything but the version may be omitted. */
export const world = z.strictObject({
  vivarium: z.literal(WORLD_VERSION, `must be ${WORLD_VERSION}, the version of the format`),
  /** Where an editor finds the schema. */
  $schema: z.string().max(1_000).optional(),
  /** The position at which generated datasets begin. */
  seed: about(
    z.int().min(0).max(SEED_SKIP_MAX).optional(),
    'where the generated pets begin: the same number gives the same pets',
  ),
  clock: about(z.strictObject({ at: moment }).optional(), 'the moment at which the clock of Vivarium is frozen'),
  settings: about(settingsUpdate.omit({ caKey: true }).optional(), 'settings as in vivarium settings update'),
  /** By slug. */
  projects: z
    .record(projectSlug, projectEntry, { error: ofRecord('must be an object with project slugs as names') })
    .optional(),
  /** Zone texts by name; the object is for a text in a separate file, or a zone that is signed or without ALIAS. */
  zones: z
    .record(
      nameText,
      z.union(
        [
          zoneText,
          z.null(),
          z.strictObject({
            supportsAlias: z.boolean().optional(),
            /** Files contain no keys; a zone that is signed for the first time gets one. */
            signed: about(z.boolean().optional(), 'whether answers are signed (DNSSEC)'),
            text: zoneText.optional(),
            file: fileName.optional(),
          }),
        ],
        { error: 'must be the text of a zone file, or an object with file or text' },
      ),
      { error: ofRecord('must be an object with names of zones as names') },
    )
    .optional(),
  /** What `vivarium rehearse` does, and what must hold afterwards. */
  steps: about(steps.optional(), 'what a scenario does: run, clock, break, request, dns'),
  expect: about(expectations.optional(), 'what must hold after the steps'),
  examine: about(examineTables.optional(), 'tables of faults for vivarium examine, by name'),
});
export type World = z.output<typeof world>;
/** As it is written. */
export type WorldInput = z.input<typeof world>;

/** The same with its files included: every dataset is a number or a list, every zone a text. */
export type ResolvedWorld = Omit<World, 'projects' | 'zones'> & {
  projects?: Record<string, ResolvedProject>;
  zones?: Record<
    string,
    { supportsAlias?: boolean | undefined; signed?: boolean | undefined; text: string; file?: string }
  >;
};
export type ResolvedProject = Omit<ProjectEntry, 'pets'> & {
  pets?: Partial<Record<Environment, number | z.output<typeof worldPets>>>;
};

export const worldChange = z.object({
  kind: z.enum([
    'clock',
    'setting',
    'zone',
    'records',
    'signing',
    'project',
    'key',
    'pets',
    'domain',
    'redirect',
    'primary',
    'requests',
  ]),
  /** `acme`, `acme/shop.acme.test`. */
  what: z.string(),
  /** Absent when it is created. */
  before: z.unknown().optional(),
  /** Absent when it is removed. */
  after: z.unknown().optional(),
});
export type WorldChange = z.infer<typeof worldChange>;
export type WorldKind = WorldChange['kind'];

const filePath = z.string().min(1).max(8_192);
const input = {
  text: z.string().max(WORLD_TEXT_MAX),
  /** The texts of the files that it names, by the names in it. */
  files: z.record(z.string().max(1_000), z.string().max(ZONE_TEXT_MAX)).optional(),
  /** The file of the text. It owns what is created, and nothing else is changed or removed. */
  file: about(filePath, 'the path of the file, which then owns what is created').optional(),
  adopt: about(z.boolean(), 'let the file own existing entries').optional(),
};
const changes = z.object({
  changes: z.array(worldChange),
  /** The number of entries of the text that need no change. */
  left: z.int(),
  /** Sentences about owned entries that are kept, with the reason. */
  kept: z.array(z.string()),
});

const owner = z.object({
  file: z.string(),
  /** In real time. */
  since: timestamp,
  entries: z.array(z.object({ kind: worldChange.shape.kind, what: z.string() })),
});
export type WorldOwner = z.infer<typeof owner>;

export const worlds = {
  /** `omitted`: sentences about what the text omits. */
  export: call(
    'Settings, projects and zones as one file, vivarium.yaml, without secrets',
    z.object({ text: z.string(), omitted: z.array(z.string()) }),
    {
      format: z.enum(['yaml', 'json']).optional(),
      /** A text whose comments and order are kept. */
      into: z.string().max(WORLD_TEXT_MAX).optional(),
    },
  ),
  diff: call('What applying such a text would change', changes, input),
  apply: call(
    'Create and change what such a text has; all of it is checked first. With the file’s path, remove what it had',
    changes.extend({
      /** The created keys; only this answer contains their secrets. */
      keys: z.array(z.object({ project: z.string(), name: z.string(), secret: z.string() })),
      /** The domains of the text that are not verified. The first 500 were checked at once. */
      unverified: z.array(z.string()),
    }),
    { ...input, remove: about(z.boolean(), 'remove owned entries that the file no longer contains').optional() },
  ),
  owners: call('The files that own entries, and the entries', z.array(owner)),
};
