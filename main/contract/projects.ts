import { z } from 'zod';
import { call } from './base.ts';
import { PERSONA_IDS } from './provider-table.ts';
import { PLAN_IDS } from './plans.ts';
import { SLUG_LENGTH_MAX, completeUrl } from './hostnames.ts';
import { about, hasNoControls, identifier, NO_CONTROLS, projectReference, timestamp } from './values.ts';

export const plan = z.enum(PLAN_IDS);

/** Whose custom domains a project’s behave like. */
export const persona = z.enum(PERSONA_IDS);
const personaInput = about(persona, 'the provider whose custom domains it imitates');

export const LIMIT_MAX = 1_000_000_000;
const requestCount = z.int().min(1).max(LIMIT_MAX);

/** How many requests a caller may make: `perMinute` in 60 s, `perDay` in 86,400 s. */
export const planLimits = z.object({ perMinute: requestCount, perDay: requestCount });
export type PlanLimits = z.infer<typeof planLimits>;

const upstreamUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  // The schema before this one has reported texts that are not URLs.
  .refine((url) => (URL.parse(url)?.port ?? '') !== '0', 'must have a port from 1 to 65535')
  .refine((url) => {
    const { username, password } = URL.parse(url) ?? { username: '', password: '' };
    return username === '' && password === '';
  }, 'must not have a user name or password: send them in a header field')
  .refine((url) => {
    const { search, hash } = URL.parse(url) ?? { search: '', hash: '' };
    return search === '' && hash === '';
  }, 'must not have a query or fragment: requests have their own');

const checkPath = z
  .string()
  .max(2000)
  // Visible ASCII, as in a request line (RFC 9112 §3.2.1).
  .regex(
    /^\/[\x21-\x22\x24-\x5b\x5d-\x7e]*$/,
    'must be a path such as "/healthz", percent-encoded and without a fragment',
  );

export const target = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('api') }),
  z.object({
    kind: z.literal('upstream'),
    /** `http:` or `https:`; its path is put before the path of every request. */
    url: upstreamUrl,
    /** The `Host` that the upstream receives: `rewrite` sends the upstream's own, `keep` the client's. */
    host: about(z.enum(['rewrite', 'keep']), 'the Host field that it receives').optional(),
    /** Whether the plan's limits apply to this upstream; they always apply to the built-in API. */
    limited: about(z.boolean(), 'apply the plan’s limits to it').optional(),
    /** The limits of callers without a valid API key: those of `free`, the default, or of the project's plan. */
    withoutKey: about(z.enum(['free', 'plan']), 'the limits of callers without a key').optional(),
    verifyCertificate: about(z.boolean(), 'require a certificate that this machine trusts; default true').optional(),
    checkPath: about(checkPath, 'the path that a deploy requests; default that of the URL').optional(),
  }),
]);
export type TargetSetting = z.infer<typeof target>;

const TARGET_FORMS =
  'must be a URL such as "http://localhost:5173", a host and port such as "localhost:5173", a port such as "5173", or "api"';
const PORT_MAX = 65_535;
const LAST_PORT = /(?:^|:)(\d+)(?:\/.*)?$/;

/**
 * A target as text: a URL, `host:port`, a port of this machine, or `api`. `localhost` is dialled at both its addresses.
 */
const targetText = about(
  z
    .string()
    .max(2000)
    .superRefine((text, context) => {
      const { error } = readTarget(text);
      if (error === undefined) return;
      const port = LAST_PORT.exec(text)?.[1];
      const form = Number(port) > PORT_MAX ? `must have a port from 1 to ${PORT_MAX}, not ${port}` : TARGET_FORMS;
      const message = error.issues.find(({ code }) => code === 'custom')?.message ?? form;
      context.addIssue({ code: 'custom', message });
    })
    .transform((text): TargetSetting => target.parse(targetOf(text))),
  'a URL, host:port, a port, or api',
  'http://localhost:5173',
);

const readTarget = (text: string) => target.safeParse(targetOf(text));

function targetOf(text: string): unknown {
  if (text === 'api') return { kind: 'api' };
  return { kind: 'upstream', url: completeUrl(text) };
}

export const targetInput = z.union([targetText, target]);

const addressPair = z.object({ production: z.url(), staging: z.url() });

/** From one hostname to another, or to HTTPS at the same one; as stored and displayed. */
export const redirect = z.object({
  from: z.string(),
  /** `www.example.test`, or `https://www.example.test` to require HTTPS. */
  to: z.string(),
  status: z.union([z.literal(301), z.literal(302), z.literal(307), z.literal(308)]),
  /** Whether answers of `from` over HTTPS have `Strict-Transport-Security`; only with `https://`. */
  hsts: z.boolean().optional(),
});

export const project = z.object({
  id: identifier,
  name: z.string(),
  slug: z.string(),
  plan,
  limits: planLimits,
  target,
  /** Over HTTP, with the `/v1` prefix; `secureBaseUrl` is the same over HTTPS. */
  baseUrl: addressPair,
  secureBaseUrl: addressPair,
  /** The hostname displayed in base addresses; null selects the platform's own. */
  primary: z.string().nullable(),
  redirects: z.array(redirect),
  persona,
  createdAt: timestamp,
});
export type Project = z.infer<typeof project>;

export const projectName = z
  .string()
  .trim()
  .min(1, 'must have at least one character other than spaces')
  .max(100, 'must have at most 100 characters')
  .refine((name) => name.isWellFormed(), 'must be well-formed Unicode')
  .refine(hasNoControls, NO_CONTROLS);

export const projectSlug = z
  .string()
  .max(SLUG_LENGTH_MAX)
  .regex(
    /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
    'must be lower-case letters, digits and inner hyphens: it becomes a DNS label',
  );

export const projects = {
  list: call('All projects, newest first', z.array(project)),
  get: call('One project', project, { projectId: projectReference }),
  create: call('Create a project; its hostnames are served at once', project, {
    name: projectName,
    slug: projectSlug.optional(),
    plan: plan.default('free'),
    limits: planLimits.optional(),
    target: targetInput.optional(),
    persona: personaInput.optional(),
  }),
  demo: call('Create the demo: two projects with pets, domains and an API key, as on the first start', project),
  update: call('Change a project; a new plan applies at once and keeps counters and bans', project, {
    projectId: projectReference,
    name: projectName.optional(),
    slug: projectSlug.optional(),
    plan: plan.optional(),
    limits: planLimits.optional(),
    target: targetInput.optional(),
    persona: personaInput.optional(),
  }),
  remove: call('Remove a project with its keys, pets and orders; its hostnames stop being served at once', project, {
    projectId: projectReference,
  }),
};

export const deploy = z.object({
  id: identifier,
  status: z.enum(['succeeded', 'failed']),
  reason: z.string().optional(),
  createdAt: timestamp,
});
export type Deploy = z.infer<typeof deploy>;

const input = { projectId: projectReference };

export const deploys = {
  create: call('Deploy: check that the project’s target answers', deploy, input),
  list: call('A project’s deploys, newest first, at most 100', z.array(deploy), input),
};
