import { z } from 'zod';
import { call } from './base.ts';
import { ALL_CODES } from './check-codes.ts';
import { persona, project, redirect } from './projects.ts';
import { about, identifier, projectReference, timestamp } from './values.ts';

/** A hostname as typed; the domain rules normalise it (lower case, A-labels, no trailing dot) and check it. */
export const hostnameInput = z.string().min(1).max(1000);

export const checkCode = z.enum(ALL_CODES);

export const check = z.object({
  code: checkCode,
  /** `unknown`: the DNS query got no answer (SERVFAIL, time-out); distinct from `failed`. */
  outcome: z.enum(['ok', 'failed', 'warning', 'unknown']),
  expected: z.string().optional(),
  found: z.string().optional(),
  message: z.string(),
  fix: z.string().optional(),
  /** The message of the project's persona, where it has its own. */
  words: z.string().optional(),
  /** When a pending record becomes visible and this result ends; absent when unknown. */
  until: timestamp.optional(),
});
export type Check = z.infer<typeof check>;

export const instruction = z.object({
  type: z.enum(['CNAME', 'ALIAS', 'ANAME', 'A', 'TXT']),
  /** Relative to the zone's apex; `@` is the apex. */
  name: z.string(),
  value: z.string(),
  ttl: z.int(),
  note: z.string().optional(),
});
export type Instruction = z.infer<typeof instruction>;

export const domainState = z.enum(['pending', 'verified', 'misconfigured', 'suspended']);
export type DomainState = z.infer<typeof domainState>;

export const certificateState = z.enum(['none', 'pending', 'issued', 'failed', 'expired']);
export type CertificateState = z.infer<typeof certificateState>;

export const domain = z.object({
  hostname: z.string(),
  /** Of a wildcard: a hostname that it serves, because it is not attached itself. */
  example: z.string().optional(),
  projectId: identifier,
  kind: z.enum(['apex', 'subdomain']),
  state: domainState,
  certificate: z.object({
    state: certificateState,
    reason: z.string().optional(),
    notAfter: timestamp.optional(),
    /** When the current certificate will be renewed. */
    renewAt: timestamp.optional(),
    nextAttemptAt: timestamp.optional(),
  }),
  /** The record that leads here, then those that prove a claim. */
  instructions: z.array(instruction),
  /** The provider that the project imitates, and its words; absent for the platform's own persona. */
  persona: z
    .object({
      id: persona,
      name: z.string(),
      /** What it calls the state of the hostname. */
      state: z.string().optional(),
      /** What it calls the state of the certificate. */
      certificate: z.string().optional(),
      /** Whether its automatic checks have ended without success; a re-verify begins them again. */
      givenUp: z.boolean(),
    })
    .optional(),
  checks: z.array(check),
  serving: z.object({ http: z.boolean(), https: z.boolean() }),
  primary: z.boolean(),
  /** What is broken on purpose about it: running breaks, for `breaks.stop`. */
  breaks: z.array(z.object({ id: z.string(), entry: z.string() })).optional(),
  attachedAt: timestamp,
  verifiedAt: timestamp.optional(),
  lastCheckedAt: timestamp.optional(),
  nextCheckAt: timestamp.optional(),
});
export type Domain = z.infer<typeof domain>;

/** One part of `domains.attach` with `local`. `deploy` and the others are there as far as the call came. */
export const attachStep = z.object({
  step: z.enum(['deploy', 'zone', 'record', 'verified', 'certificate']),
  ok: z.boolean(),
  message: z.string(),
  fix: z.string().optional(),
  /** The call that removes what the step created. */
  undo: z.string().optional(),
});
export type AttachStep = z.infer<typeof attachStep>;

/** With `local`: what was done, and the address at which the hostname is served if it is. */
const attachedDomain = domain.extend({ steps: z.array(attachStep).optional(), url: z.url().optional() });
export type AttachedLocally = z.infer<typeof attachedDomain>;

const one = { hostname: hostnameInput };

export const redirectInput = z.strictObject({
  from: hostnameInput,
  /** A hostname; or `https://` and a hostname, also that of `from`, to require HTTPS. */
  to: hostnameInput,
  /** 301 by default, 308 with `https://`. */
  status: redirect.shape.status.optional(),
  hsts: z.boolean().optional(),
});

const redirectsInput = z.array(redirectInput).max(100);

/** A project's domains in a form for a file: the hostnames, the primary and the redirects. */
const configuration = z.object({
  domains: z.array(z.string()),
  primary: z.string().nullable(),
  redirects: z.array(redirect),
});
export type DomainConfiguration = z.infer<typeof configuration>;

/** Omitted fields stay unchanged; domains that the file omits stay attached. */
const configurationInput = z.strictObject({
  // A whole configuration, as it was exported; of these, at most 1,000 may be new.
  domains: z.array(hostnameInput).max(20_000).optional(),
  primary: hostnameInput.nullable().optional(),
  redirects: redirectsInput.optional(),
});
export type DomainConfigurationInput = z.infer<typeof configurationInput>;

export const domains = {
  // Accepts any text here, because the messages of the domain rules are more specific.
  attach: call('Attach a hostname of your own to a project', attachedDomain, {
    projectId: projectReference,
    hostname: z.string().max(10_000),
    /**
     * Also puts the record into Vivarium's own DNS, in a new zone if none has the hostname, and verifies. A project
     * without a successful deploy is deployed first. The domain may be attached to the project already.
     */
    local: about(z.boolean(), 'deploy, put the record into a local zone, verify, and issue the certificate').default(
      false,
    ),
  }),
  list: call('Attached domains, of one project or of all', z.array(domain), { projectId: projectReference.optional() }),
  get: call('One domain', domain, one),
  verify: call('Check a domain now, and issue its certificate if the checks pass', domain, one),
  remove: call('Remove a domain; it stops being served at once', domain, one),
  setPrimary: call('Set the hostname shown in base addresses; null for the platform’s', project, {
    projectId: projectReference,
    hostname: hostnameInput.nullable(),
  }),
  setRedirects: call('Replace a project’s redirects between hostnames, or to HTTPS', project, {
    projectId: projectReference,
    redirects: redirectsInput,
  }),
  export: call('The configuration of a project’s domains, in a form for a file', configuration, {
    projectId: projectReference,
  }),
  import: call('Apply such a configuration: attach missing domains, set the primary and the redirects', configuration, {
    projectId: projectReference,
    configuration: configurationInput,
  }),
};
