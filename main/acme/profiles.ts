import { DAY_MS, HOUR_MS, MINUTE_MS, parseDuration } from '../contract/duration.ts';
import type { ClockState, EpochMs } from '../base/clock.ts';
import type { AcmeCertificate, AcmeRows } from '../model/acme.ts';
import type { LeafDates } from '../model/leaf.ts';

/** A CAA result is valid for eight hours (RFC 8659 §5.6, Baseline Requirements 3.2.2.8). */
export const CAA_VALID_MS = 8 * HOUR_MS;

/** The lifetime of certificates, and how long validations can be reused. */
export interface Profile {
  /** Lifetime of the certificate on the app's clock. */
  readonly lifetimeMs: number;
  /** Lifetime of the certificate in real time, if it differs. */
  readonly wireLifetimeMs?: number;
  /** How long a valid authorization can be reused. */
  readonly authorizationMs: number;
  /** Text for people (draft-ietf-acme-profiles §3). */
  readonly description: string;
}

function profile(lifetimeMs: number, authorizationMs: number, description: string): Profile {
  return { lifetimeMs, authorizationMs, description };
}

const MONTH_MS = 30 * DAY_MS;
const LETS_ENCRYPT_2027 = 'As Let’s Encrypt from 10 February 2027: 64 days, authorizations for 10 days.';
const LETS_ENCRYPT_2028 = 'As Let’s Encrypt from 16 February 2028: 45 days, authorizations for 7 hours.';
const TIME_LAPSE = 'Certificates that clients see expire after 90 minutes instead of 90 days.';

const PROFILES: ReadonlyMap<string, Profile> = new Map([
  ['classic', profile(90 * DAY_MS, MONTH_MS, 'Certificates for 90 days, the default.')],
  ['tlsserver', profile(45 * DAY_MS, MONTH_MS, 'Certificates for 45 days.')],
  ['shortlived', profile(160 * HOUR_MS, MONTH_MS, 'Certificates for 160 hours.')],
  ['letsencrypt-2027', profile(64 * DAY_MS, 10 * DAY_MS, LETS_ENCRYPT_2027)],
  ['letsencrypt-2028', profile(45 * DAY_MS, 7 * HOUR_MS, LETS_ENCRYPT_2028)],
  ['time-lapse', { ...profile(90 * DAY_MS, MONTH_MS, TIME_LAPSE), wireLifetimeMs: 90 * MINUTE_MS }],
]);

/** The profile of a directory URL without a profile. */
export const DEFAULT_PROFILE = 'classic';

/** The shortest lifetime of a certificate in real time: its dates have whole seconds. */
const WIRE_MS_MIN = 2_000;

/** Finds a profile by name. With `classic@1s`, one day of a certificate’s life takes one second for clients. */
export function findProfile(name: string): Profile | undefined {
  const [, known = name, day] = /^([a-z0-9-]+)@(\d{1,6}(?:ms|s|m|h))$/.exec(name) ?? [];
  const found = PROFILES.get(known);
  if (found === undefined || day === undefined) return found;
  const wireLifetimeMs = (found.lifetimeMs / DAY_MS) * parseDuration(day);
  return wireLifetimeMs < WIRE_MS_MIN || wireLifetimeMs > found.lifetimeMs ? undefined : { ...found, wireLifetimeMs };
}

export const describeProfiles = (): Record<string, string> =>
  Object.fromEntries([...PROFILES].map(([name, { description }]) => [name, description]));

/** When a client should renew a certificate (RFC 9773 §4.2). */
export interface Window {
  readonly startMs: EpochMs;
  readonly endMs: EpochMs;
}

/** Identifies a certificate in a renewal-info URL by its issuer's key and its serial number (RFC 9773 §4.1). */
export interface CertificateId {
  /** Hexadecimal, lower case. */
  readonly issuerKey: string;
  /** Hexadecimal, upper case, without the zero octet that keeps it positive. */
  readonly serial: string;
}

/** Shorter lifetimes are renewed after half of them instead of two thirds (Boulder, `core/objects.go`). */
const SHORT_LIFE_MS = 10 * DAY_MS;

/** Seconds between renewal-info requests, scaled down with a lifetime that is shorter for clients. */
const ASK_AGAIN_SECONDS = 6 * 3600;

export function askAgainSeconds({ notBeforeMs, notAfterMs, wireNotBeforeMs, wireNotAfterMs }: LeafDates): number {
  const share = (wireNotAfterMs - wireNotBeforeMs) / (notAfterMs - notBeforeMs);
  return Math.max(1, Math.round(ASK_AGAIN_SECONDS * Math.min(1, share)));
}

/**
 * Boulder's window: 2 % of the lifetime, centred on two thirds of it, or on its half below ten days; an hour ago for a
 * revoked certificate. Both moments are on the clock of `dates`.
 */
export function renewalWindow(
  dates: Pick<LeafDates, 'notBeforeMs' | 'notAfterMs'>,
  revokedAtMs: EpochMs | null,
): Window {
  if (revokedAtMs !== null) return { startMs: revokedAtMs - HOUR_MS, endMs: revokedAtMs - HOUR_MS / 2 };
  const lifeMs = dates.notAfterMs - dates.notBeforeMs;
  const idealMs = dates.notAfterMs - lifeMs / (lifeMs < SHORT_LIFE_MS ? 2 : 3);
  return { startMs: Math.floor(idealMs - lifeMs / 100), endMs: Math.floor(idealMs + lifeMs / 100) };
}

/** Parses `base64url(AKI).base64url(serial)`, both without padding; null if malformed. */
export function readCertificateId(text: string): CertificateId | null {
  const [, key = '', number = ''] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(text) ?? [];
  if (key === '') return null;
  const serial = Buffer.from(number, 'base64url').toString('hex').toUpperCase();
  // DER puts a zero octet before a first octet of 0x80 or above; the identifier includes it.
  const positive = /^00[89A-F]/.test(serial) ? serial.slice(2) : serial;
  return { issuerKey: Buffer.from(key, 'base64url').toString('hex'), serial: positive };
}

export function findCertificate(rows: Pick<AcmeRows, 'certificate'>, text: string): AcmeCertificate | null {
  const id = readCertificateId(text);
  const certificate = id === null ? null : rows.certificate(id.serial);
  return certificate?.issuerKey === id?.issuerKey ? certificate : null;
}

/**
 * The window in real time, as clients compare it: the window on the app's clock minus the clock's offset. A lifetime
 * that ends earlier for clients takes precedence.
 */
export function wireWindow(
  certificate: LeafDates,
  { offsetMs }: Pick<ClockState, 'offsetMs'>,
  revokedAtMs: EpochMs | null,
): Window {
  const { wireNotBeforeMs: notBeforeMs, wireNotAfterMs: notAfterMs } = certificate;
  const wire = renewalWindow({ notBeforeMs, notAfterMs }, revokedAtMs);
  if (revokedAtMs !== null) return wire;
  const { startMs, endMs } = renewalWindow(certificate, null);
  return startMs - offsetMs < wire.startMs ? { startMs: startMs - offsetMs, endMs: endMs - offsetMs } : wire;
}
