import type { EpochMs } from '../base/clock.ts';
import type { CaaVerdict } from '../contract/caa.ts';
import type { LeafDates } from './leaf.ts';

/** What an ACME server keeps (RFC 8555 §7.1). Times are on the app's clock, unless `wire` is in their name. */

export const ACME_METHODS = ['http-01', 'dns-01', 'tls-alpn-01', 'dns-account-01', 'dns-persist-01'] as const;
export type AcmeMethod = (typeof ACME_METHODS)[number];

export type AccountStatus = 'valid' | 'deactivated';
export type OrderStatus = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
export type AuthorizationStatus = 'pending' | 'valid' | 'invalid' | 'deactivated' | 'expired';
export type ChallengeStatus = 'pending' | 'processing' | 'valid' | 'invalid';

/** A name as orders have it: a hostname in normal form, a wildcard as `*.` before one, or an IP address (RFC 8738). */
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
  /** The JWS that bound it to an external account, as its client sent it (RFC 8555 §7.3.4). */
  readonly externalAccountBinding?: Readonly<Record<string, unknown>>;
}

/** By which one new account proves that its owner has an external one (RFC 8555 §7.3.4). */
export interface AcmeExternalKey {
  readonly id: string;
  /** Of the MAC, in base64url, as clients take it. */
  readonly secret: string;
  readonly name: string;
  readonly createdAtMs: EpochMs;
  /** The account that was opened with it. */
  readonly accountId?: string;
  readonly revokedAtMs?: EpochMs;
}

/** One thing that a validation did, and what it found: for the explanation of an order. */
export interface AcmeAttempt {
  /** `GET http://app.acme.test/.well-known/… at 127.0.0.1:5002`. */
  readonly what: string;
  readonly found: string;
  /** Of a question to DNS, by which it can be asked again. */
  readonly question?: { readonly name: string; readonly type: string };
  /** Of an HTTP request, by which it can be found in the traffic of Vivarium's own listeners. */
  readonly request?: { readonly hostname: string; readonly path: string; readonly port: number };
}

export interface AcmeChallenge {
  readonly type: AcmeMethod;
  readonly status: ChallengeStatus;
  /** Of `valid`. */
  readonly validatedAtMs?: EpochMs;
  /** Of `invalid`. */
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
  /** How long it counts once it is valid. */
  readonly validForMs: number;
  /** Until when other orders may use it, if not as long as it is valid. */
  readonly reusableUntilMs?: EpochMs;
  /** Of all its challenges. */
  readonly token: string;
  readonly challenges: readonly AcmeChallenge[];
  /** When CAA was last asked, and what it said; the walk is absent in what earlier versions wrote. */
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
  /** Of `invalid`. */
  readonly error?: AcmeFault;
  /** Of `valid`. */
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

/** What is written together: all of it, or nothing. */
export interface AcmeChanges {
  readonly account?: AcmeAccount;
  readonly externalKey?: AcmeExternalKey;
  readonly authorizations?: readonly AcmeAuthorization[];
  readonly orders?: readonly AcmeOrder[];
  readonly certificates?: readonly AcmeCertificate[];
}

export interface OrderSelection {
  accountId?: string;
  /** Those before this order, by its id. */
  after?: string;
  /** A part of a name in any case, or the id of an account. */
  search?: string;
  /** The state at a moment. An order is open until it is valid or invalid. */
  in?: { state: 'open' | 'valid' | 'invalid'; atMs: EpochMs };
  limit: number;
}

/** Where an ACME server keeps its resources. */
export interface AcmeRows {
  /** What it has written survives the end of the process; a power failure only once `stored` has resolved. */
  save(changes: AcmeChanges): void;
  /** Resolves when the disk has all that was saved until now. */
  stored(): Promise<void>;
  account(id: string): AcmeAccount | null;
  accountOfKey(thumbprint: string): AcmeAccount | null;
  /** Newest first. */
  accounts(limit: number): AcmeAccount[];
  externalKey(id: string): AcmeExternalKey | null;
  /** Newest first. */
  externalKeys(limit: number): AcmeExternalKey[];
  authorization(id: string): AcmeAuthorization | null;
  /** The last valid one of an account for an identifier, which may have expired meanwhile. */
  lastValid(accountId: string, name: string): AcmeAuthorization | null;
  /** Those that are pending or valid: of an account, or of all with a validation under way. */
  openAuthorizations(of: { accountId: string } | 'processing'): AcmeAuthorization[];
  order(id: string): AcmeOrder | null;
  /** Newest first. */
  orders(which: OrderSelection): AcmeOrder[];
  certificate(serial: string): AcmeCertificate | null;
  /** Newest first. */
  certificates(accountId: string, limit: number): AcmeCertificate[];
}

/** The name of an authorization as an order has it: with the `*.` of a wildcard. */
export const nameOf = ({ identifier, wildcard }: Pick<AcmeAuthorization, 'identifier' | 'wildcard'>): string =>
  `${wildcard ? '*.' : ''}${identifier.value}`;
