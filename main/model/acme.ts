import { z } from 'zod';
import type { EpochMs } from '../base/clock.ts';
import { caaVerdict } from '../contract/certificates.ts';
import { epochMs } from '../contract/values.ts';
import { leafDates } from './leaf.ts';

/** An ACME server's state (RFC 8555 §7.1). Times are on the app's clock, unless `wire` is in their name. */

export const ACME_METHODS = ['http-01', 'dns-01', 'tls-alpn-01', 'dns-account-01', 'dns-persist-01'] as const;
export type AcmeMethod = (typeof ACME_METHODS)[number];

const accountStatus = z.enum(['valid', 'deactivated']);
const orderStatus = z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']);
export type OrderStatus = z.infer<typeof orderStatus>;
const authorizationStatus = z.enum(['pending', 'valid', 'invalid', 'deactivated', 'expired']);
export type AuthorizationStatus = z.infer<typeof authorizationStatus>;
const challengeStatus = z.enum(['pending', 'processing', 'valid', 'invalid']);
export type ChallengeStatus = z.infer<typeof challengeStatus>;

const text = z.string();

/** A name as it appears in orders: a hostname in normal form, a wildcard (`*.`), or an IP address (RFC 8738). */
const identifier = z.object({ type: z.enum(['dns', 'ip']), value: text });
export type AcmeIdentifier = Readonly<z.infer<typeof identifier>>;

/** A problem document (RFC 7807) of RFC 8555 §6.7. */
const fault = z.object({
  /** The last part of the URN, such as `caa`. */
  type: text,
  detail: text,
  status: z.number(),
});
export type AcmeFault = Readonly<z.infer<typeof fault>>;

export const acmeAccount = z.object({
  id: text,
  /** The public key as a JWK (RFC 7517), and its SHA-256 thumbprint (RFC 7638). */
  key: z.record(text, text).readonly(),
  thumbprint: text,
  status: accountStatus,
  /** `mailto:` addresses. */
  contact: z.array(text).readonly(),
  createdAtMs: epochMs,
  /** The JWS that bound it to an external account, as the client sent it (RFC 8555 §7.3.4). */
  externalAccountBinding: z.record(text, z.unknown()).readonly().optional(),
});
export type AcmeAccount = Readonly<z.infer<typeof acmeAccount>>;

/** Lets one new account prove that its owner has an external account (RFC 8555 §7.3.4). */
export const acmeExternalKey = z.object({
  id: text,
  /** The MAC key in base64url, as ACME clients expect it. */
  secret: text,
  name: text,
  createdAtMs: epochMs,
  /** The account created with it. */
  accountId: text.optional(),
  revokedAtMs: epochMs.optional(),
});
export type AcmeExternalKey = Readonly<z.infer<typeof acmeExternalKey>>;

/** One step of a validation and its result, to explain an order. */
const attempt = z.object({
  /** `GET http://app.acme.test/.well-known/… at 127.0.0.1:5002`. */
  what: text,
  found: text,
  /** For a DNS question, to repeat it. */
  question: z.object({ name: text, type: text }).optional(),
  /** For an HTTP request, to find it in the traffic of Vivarium's own listeners. */
  request: z.object({ hostname: text, path: text, port: z.number() }).optional(),
});
export type AcmeAttempt = Readonly<z.infer<typeof attempt>>;

const challenge = z.object({
  type: z.enum(ACME_METHODS),
  status: challengeStatus,
  /** Only when `valid`. */
  validatedAtMs: epochMs.optional(),
  /** Only when `invalid`. */
  error: fault.optional(),
  attempts: z.array(attempt).readonly(),
});
export type AcmeChallenge = Readonly<z.infer<typeof challenge>>;

export const acmeAuthorization = z.object({
  id: text,
  accountId: text,
  /** Without the `*.` of a wildcard. */
  identifier,
  wildcard: z.boolean(),
  status: authorizationStatus,
  createdAtMs: epochMs,
  expiresAtMs: epochMs,
  /** How long it may be used once it is valid. */
  validForMs: z.number(),
  /** When other orders may no longer reuse it, if before it expires. */
  reusableUntilMs: epochMs.optional(),
  /** Shared by all its challenges. */
  token: text,
  challenges: z.array(challenge).readonly(),
  /** The time and result of the last CAA check; rows of earlier versions have no verdict. */
  caa: z.object({ atMs: epochMs, message: text, verdict: caaVerdict.optional() }).optional(),
});
export type AcmeAuthorization = Readonly<z.infer<typeof acmeAuthorization>>;

export const acmeOrder = z.object({
  id: text,
  accountId: text,
  profile: text,
  status: orderStatus,
  identifiers: z.array(identifier).readonly(),
  authorizationIds: z.array(text).readonly(),
  createdAtMs: epochMs,
  expiresAtMs: epochMs,
  /** The identifier of the certificate that this order renews (RFC 9773 §5). */
  replaces: text.optional(),
  /** Only when `invalid`. */
  error: fault.optional(),
  /** Only when `valid`. */
  serial: text.optional(),
});
export type AcmeOrder = Readonly<z.infer<typeof acmeOrder>>;

export const acmeCertificate = z.object({
  ...leafDates.shape,
  /** Hexadecimal, upper case. */
  serial: text,
  accountId: text,
  orderId: text,
  identifiers: z.array(identifier).readonly(),
  pem: text,
  /** The identifier of the issuer's key, in hexadecimal. */
  issuerKey: text,
  /** The order that replaces it. */
  replacedBy: text.optional(),
});
export type AcmeCertificate = Readonly<z.infer<typeof acmeCertificate>>;

/** Rows that are written in one transaction. */
export interface AcmeChanges {
  readonly account?: AcmeAccount;
  readonly externalKey?: AcmeExternalKey;
  readonly authorizations?: readonly AcmeAuthorization[];
  readonly orders?: readonly AcmeOrder[];
  readonly certificates?: readonly AcmeCertificate[];
}

export interface OrderSelection {
  accountId?: string;
  /** Only orders before the one with this id. */
  after?: string;
  /** Part of a name, in any case, or an account id. */
  search?: string;
  /** The state at a moment. An order is open until it is valid or invalid. */
  in?: { state: 'open' | 'valid' | 'invalid'; atMs: EpochMs };
  limit: number;
}

export interface AcmeRows {
  /** Written data survives the end of the process; it survives a power failure only once `stored` has resolved. */
  save(changes: AcmeChanges): void;
  /** Resolves when everything saved so far is on disk. */
  stored(): Promise<void>;
  account(id: string): AcmeAccount | null;
  accountOfKey(thumbprint: string): AcmeAccount | null;
  /** Newest first. */
  accounts(limit: number): AcmeAccount[];
  externalKey(id: string): AcmeExternalKey | null;
  /** Newest first. */
  externalKeys(limit: number): AcmeExternalKey[];
  authorization(id: string): AcmeAuthorization | null;
  /** An account's latest valid authorization for an identifier; it may have expired since. */
  lastValid(accountId: string, name: string): AcmeAuthorization | null;
  /** Authorizations that are pending or valid: one account's, or all with a validation in progress. */
  openAuthorizations(of: { accountId: string } | 'processing'): AcmeAuthorization[];
  order(id: string): AcmeOrder | null;
  /** Newest first. */
  orders(which: OrderSelection): AcmeOrder[];
  certificate(serial: string): AcmeCertificate | null;
  /** Newest first. */
  certificates(accountId: string, limit: number): AcmeCertificate[];
}

/** An authorization's name as in orders: with the `*.` of a wildcard. */
export const nameOf = ({ identifier, wildcard }: Pick<AcmeAuthorization, 'identifier' | 'wildcard'>): string =>
  `${wildcard ? '*.' : ''}${identifier.value}`;
