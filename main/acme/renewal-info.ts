import { DAY_MS, HOUR_MS } from '../contract/duration.ts';
import type { ClockState, EpochMs } from '../base/clock.ts';
import type { AcmeCertificate, AcmeRows } from '../model/acme.ts';
import type { LeafDates } from '../model/leaf.ts';

/** When a client should renew a certificate (RFC 9773 §4.2). */
export interface Window {
  readonly startMs: EpochMs;
  readonly endMs: EpochMs;
}

/** A certificate by the key identifier of its issuer and its own serial number, as in a renewal-info URL (RFC 9773 §4.1). */
export interface CertificateId {
  /** Hexadecimal, lower case. */
  readonly issuerKey: string;
  /** Hexadecimal, upper case, without the zero octet that keeps it positive. */
  readonly serial: string;
}

/** Of a life from here on, half instead of two thirds pass before renewal (Boulder, `core/objects.go`). */
const SHORT_LIFE_MS = 10 * DAY_MS;

/** How often clients should ask again, in seconds; where a life is shorter for clients, more often by as much. */
const ASK_AGAIN_SECONDS = 6 * 3600;

export function askAgainSeconds({ notBeforeMs, notAfterMs, wireNotBeforeMs, wireNotAfterMs }: LeafDates): number {
  const share = (wireNotAfterMs - wireNotBeforeMs) / (notAfterMs - notBeforeMs);
  return Math.max(1, Math.round(ASK_AGAIN_SECONDS * Math.min(1, share)));
}

/**
 * As Boulder: 2 % of the life around two thirds of it, or around its half if that is under ten days; an hour ago for a
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

/** `base64url(AKI).base64url(serial)`, both without padding; null if it is not of this form. */
export function readCertificateId(text: string): CertificateId | null {
  const [, key = '', number = ''] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(text) ?? [];
  if (key === '') return null;
  const serial = Buffer.from(number, 'base64url').toString('hex').toUpperCase();
  // DER has a zero octet before a first octet of 0x80 and above; it counts in the identifier.
  const positive = /^00[89A-F]/.test(serial) ? serial.slice(2) : serial;
  return { issuerKey: Buffer.from(key, 'base64url').toString('hex'), serial: positive };
}

/** The certificate of an identifier; null without one. */
export function findCertificate(rows: Pick<AcmeRows, 'certificate'>, text: string): AcmeCertificate | null {
  const id = readCertificateId(text);
  const certificate = id === null ? null : rows.certificate(id.serial);
  return certificate?.issuerKey === id?.issuerKey ? certificate : null;
}

/**
 * The window in real time, which clients compare it with: what the app's clock says, as if it were the real one. A life
 * that ends earlier for clients decides all the same.
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
