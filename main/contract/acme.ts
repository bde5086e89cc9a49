import { z } from 'zod';
import { call } from './base.ts';
import { revocationReason, caaVerdict } from './certificates.ts';
import { about, timestamp } from './values.ts';

const id = z.string().max(64);

const acmeAccount = z.object({
  id,
  /** The account URL, used in CAA records (RFC 8657 §3). */
  url: z.url(),
  status: z.enum(['valid', 'deactivated']),
  contact: z.array(z.string()),
  createdAt: timestamp,
});
export type AcmeAccountInfo = z.infer<typeof acmeAccount>;

const acmeExternalKey = z.object({
  /** The key identifier that clients send: certbot's `--eab-kid`. */
  id,
  name: z.string(),
  /** Each key opens one account. */
  state: z.enum(['free', 'used', 'revoked']),
  /** The account that was opened with it. */
  accountId: id.optional(),
  createdAt: timestamp,
});
export type AcmeExternalKeyInfo = z.infer<typeof acmeExternalKey>;

const newAcmeExternalKey = acmeExternalKey.extend({
  /** The HMAC key in base64url, for certbot's `--eab-hmac-key`; it is not shown again. */
  hmacKey: z.string(),
});

const acmeOrder = z.object({
  id,
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  names: z.array(z.string()),
  profile: z.string(),
  accountId: id,
  createdAt: timestamp,
  expiresAt: timestamp,
  /** The serial number of the certificate. */
  certificate: z.string().optional(),
  /** Whether the certificate is revoked. */
  revoked: z.boolean().optional(),
  /** Why the order is invalid. */
  problem: z.string().optional(),
});
export type AcmeOrderInfo = z.infer<typeof acmeOrder>;

const acmeStep = z.object({
  /** `app.acme.test: http-01`, `certificate`. */
  step: z.string(),
  state: z.enum(['done', 'waiting', 'failed', 'unused']),
  /** A sentence. */
  message: z.string(),
  /** A request or query of a validation, and its result. */
  attempts: z.array(
    z.object({
      what: z.string(),
      found: z.string(),
      /** The name and type of a DNS query. */
      question: z.object({ name: z.string(), type: z.string() }).optional(),
      /** The URL of an HTTP request, and the local port to which it was sent. */
      request: z.object({ hostname: z.string(), path: z.string(), port: z.int() }).optional(),
    }),
  ),
  /** The walk over the CAA records; of names with many records, only the first ones. */
  caa: caaVerdict.optional(),
});

const acmeLeaf = z.object({
  serial: z.string(),
  /** On the app's clock. The wire dates are those that clients see. */
  notBefore: timestamp,
  notAfter: timestamp,
  wireNotBefore: timestamp,
  wireNotAfter: timestamp,
  /** When clients that use renewal information renew it (RFC 9773), in real time. */
  renewal: z.object({ from: timestamp, until: timestamp }),
  pem: z.string(),
  revoked: z.object({ at: timestamp, reason: revocationReason }).optional(),
  /** The order whose certificate replaces it. */
  replacedBy: id.optional(),
});
export type AcmeLeaf = z.infer<typeof acmeLeaf>;

const acmeAuthorization = z.object({ name: z.string(), accountId: id });

const acmeExplanation = acmeOrder.extend({
  /** What the order waits for, or how it ended. */
  message: z.string(),
  /** From the account to the certificate. */
  walk: z.array(acmeStep),
  /** The certificate, as long as it is stored. */
  leaf: acmeLeaf.optional(),
});
export type AcmeExplanation = z.infer<typeof acmeExplanation>;

const acmeRefusal = z.object({
  at: timestamp,
  /** The last part of the problem's URN: `rateLimited` (RFC 8555 §6.7). */
  type: z.string(),
  detail: z.string(),
  /** `/acme/classic/new-order`. */
  path: z.string(),
  accountId: id.optional(),
  orderId: id.optional(),
  /** The first ten names of the requested order. */
  names: z.array(z.string()),
});
export type AcmeRefusalInfo = z.infer<typeof acmeRefusal>;

const orderId = about(id, 'the last part of its URL', '8KpWq2ZaBcE3f6Hj');

const acmeLimit = z.object({
  limit: z.string(),
  /** `certificates for the domain`. */
  what: z.string(),
  /** The count, and its period (ISO 8601). */
  count: z.int(),
  period: z.string(),
  /** The accounts, domains and sets of names with a count above zero, and the remaining count of each. */
  used: z.array(z.object({ of: z.string(), left: z.int(), fullAt: timestamp })),
});

const acmeLimits = z.object({
  /** The setting `acmeLimits`. */
  enforced: z.boolean(),
  limits: z.array(acmeLimit),
});
export type AcmeLimits = z.infer<typeof acmeLimits>;

/** The activity of ACME clients; clients themselves use `acme.directoryUrl` in `runtime.json`. */
export const acme = {
  accounts: call('The accounts of ACME clients, newest first', z.array(acmeAccount)),
  externalKeys: call(
    'The keys that bind new ACME accounts to external ones (EAB), newest first',
    z.array(acmeExternalKey),
  ),
  createExternalKey: call('Create a key that binds one new ACME account to an external one (EAB)', newAcmeExternalKey, {
    name: about(z.string().max(100), 'a name for its owner', 'Web shop').default(''),
  }),
  revokeExternalKey: call(
    'Revoke a key that binds a new ACME account; an account that it has opened stays',
    acmeExternalKey,
    { id: about(id, 'its identifier', 'kid8KpWq2ZaBcE3f') },
  ),
  orders: call('The orders of ACME clients, newest first', z.array(acmeOrder), {
    accountId: about(id, 'only those of this account', '3fQ9LmNpR5StUvWx').optional(),
    search: about(z.string().max(253), 'a part of a name, or the id of an account', 'shop.acme.test').optional(),
    state: about(z.enum(['open', 'valid', 'invalid']), 'open: neither issued nor failed').optional(),
    after: about(id, 'only orders older than this one, for the next page', '8KpWq2ZaBcE3f6Hj').optional(),
    limit: z.int().min(1).max(1_000).default(100),
  }),
  explain: call('Explain an order: each validation with what was found, CAA, and the certificate', acmeExplanation, {
    orderId,
  }),
  revoke: call('Revoke the certificate of an order; clients with renewal information then renew it', acmeExplanation, {
    orderId,
    reason: revocationReason.default('unspecified'),
  }),
  deactivate: call('Deactivate an account for good, and its authorizations; its certificates stay valid', acmeAccount, {
    accountId: about(id, 'the last part of its URL', '3fQ9LmNpR5StUvWx'),
  }),
  refusals: call(
    'The last 100 requests of ACME clients that were refused, with the reason, newest first',
    z.array(acmeRefusal),
  ),
  /** The orders whose certificates were revoked by this call. */
  revokeAll: call(
    'Revoke all valid certificates of ACME clients, as a CA does after a misissuance',
    z.array(acmeOrder),
    { reason: revocationReason.default('unspecified') },
  ),
  loseAuthorizations: call(
    'Deactivate valid authorizations of ACME clients: their next orders must prove control again',
    z.array(acmeAuthorization),
    { name: about(z.string().max(255), 'only those for this name', 'app.acme.test').optional() },
  ),
  limits: call('The limits of ACME clients, and the remaining counts', acmeLimits),
  resetLimits: call('Reset the counts for the limits of ACME clients', acmeLimits),
};
