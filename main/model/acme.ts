import type { EpochMs } from '../base/clock.ts';
import type { CaaVerdict } from '../contract/caa.ts';
import type { LeafDates } from './leaf.ts';

/** An ACME server's state (RFC 8555 §7.1). Times are on the app's clock, unless `wire` is in their name. */

export const ACME_METHODS = ['http-01', 'dns-01', 'tls-alpn-01', 'dns-account-01', 'dns-persist-01'] as const;
export type AcmeMethod = (typeof ACME_METHODS)[number];

export type AccountStatus = 'valid' | 'deactivated';
export type OrderStatus = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
export type AuthorizationStatus = 'pending' | 'valid' | 'invalid' | 'deactivated' | 'expired';
export type ChallengeStatus = 'pending' | 'processing' | 'valid' | 'invalid';

/** A name as it appears in orders: a hostname in normal form, a wildcard (`*.`), or an IP address (RFC 8738). */
export interface AcmeIdentifier {
  readonly type: 'dns' | 'ip';
  readonly value: string;
}

/** A problem document (RFC 7807) of RFC 8555 §6.7. */
export interface AcmeFault {
  /** The last part of the URN, such as `caa`. */
  readonly type: string;
  readonly detail: string;
  readonly status: number;
}

export interface AcmeAccount {
  readonly id: string;
  /** The public key as a JWK (RFC 7517), and its SHA-256 thumbprint (RFC 7638). */
  readonly key: Readonly<Record<string, string>>;
  readonly thumbprint: string;
  readonly status: AccountStatus;
  /** `mailto:` addresses. */
  readonly contact: readonly string[];
  readonly createdAtMs: EpochMs;
  /** The JWS that bound it to an external account, as the client sent it (RFC 8555 §7.3.4). */
  readonly externalAccountBinding?: Readonly<Record<string, unknown>>;
}

/** Lets one new account prove that its owner has an external account (RFC 8555 §7.3.4). */
export interface AcmeExternalKey {
  readonly id: string;
  /** The MAC key in base64url, as ACME clients expect it. */
  readonly secret: string;
  readonly name: string;
  readonly createdAtMs: EpochMs;
  /** The account created with it. */
  readonly accountId?: string;
  readonly revokedAtMs?: EpochMs;
}

/** One step of a validation and its result, to explain an order. */
export interface AcmeAttempt {
  /** `GET http://app.acme.test/.well-known/… at 127.0.0.1:5002`. */
  readonly what: string;
  readonly found: string;
  /** For a DNS question, to repeat it. */
  readonly question?: { readonly name: string; readonly type: string };
  /** For an HTTP request, to find it in the traffic of Vivarium's own listeners. */
  readonly request?: { readonly hostname: string; readonly path: string; readonly port: number };
}

export interface AcmeChallenge {
  readonly type: AcmeMethod;
  readonly status: ChallengeStatus;
  /** Only when `valid`. */
  readonly validatedAtMs?: EpochMs;
  /** Only when `invalid`. */
  readonly error?: AcmeFault;
  readonly attempts: readonly AcmeAttempt[];
}

export interface AcmeAuthorization {
  readonly id: string;
  readonly accountId: string;
  /** Without the `*.` of a wildcard. */
  readonly identifier: AcmeIdentifier;
  readonly wildcard: boolean;
  readonly status: AuthorizationStatus;
  readonly createdAtMs: EpochMs;
  readonly expiresAtMs: EpochMs;
  /** How long it may be used once it is valid. */
  readonly validForMs: number;
  /** When other orders may no longer reuse it, if before it expires. */
  readonly reusableUntilMs?: EpochMs;
  /** Shared by all its challenges. */
  readonly token: string;
  readonly challenges: readonly AcmeChallenge[];
  /** The time and result of the last CAA check; rows of earlier versions have no verdict. */
  readonly caa?: { readonly atMs: EpochMs; readonly message: string; readonly verdict?: CaaVerdict };
}

export interface AcmeOrder {
  readonly id: string;
  readonly accountId: string;
  readonly profile: string;
  readonly status: OrderStatus;
  readonly identifiers: readonly AcmeIdentifier[];
  readonly authorizationIds: readonly string[];
  readonly createdAtMs: EpochMs;
  readonly expiresAtMs: EpochMs;
  /** The identifier of the certificate that this order renews (RFC 9773 §5). */
  readonly replaces?: string;
  /** Only when `invalid`. */
  readonly error?: AcmeFault;
  /** Only when `valid`. */
  readonly serial?: string;
}

export interface AcmeCertificate extends LeafDates {
  /** Hexadecimal, upper case. */
  readonly serial: string;
  readonly accountId: string;
  readonly orderId: string;
  readonly identifiers: readonly AcmeIdentifier[];
  readonly pem: string;
  /** The identifier of the issuer's key, in hexadecimal. */
  readonly issuerKey: string;
  /** The order that replaces it. */
  readonly replacedBy?: string;
}

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

/** The store of an ACME server's resources. */
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
