import { z } from 'zod';
import type { ClockState, EpochMs } from '../base/clock.ts';
import { DAY_MS } from '../contract/duration.ts';
import { epochMs, iso } from '../contract/values.ts';
import type { Certificate, RevocationReason } from '../contract/certificates.ts';

/** The lifetime of public certificates, which lets users rehearse renewal; well below Apple's limit of 825 days. */
export const LEAF_LIFETIME_MS = 90 * DAY_MS;

/** A third of the lifetime, as with ACME clients; leaves time to fix a failing renewal. */
export const RENEWAL_LEFT_MS = 30 * DAY_MS;

/** Both pairs of dates of a leaf. */
export const leafDates = z.object({
  /** On the app's clock, for display and renewal. */
  notBeforeMs: epochMs,
  notAfterMs: epochMs,
  /** In real time, as in the certificate, for clients. */
  wireNotBeforeMs: epochMs,
  wireNotAfterMs: epochMs,
});
export type LeafDates = Readonly<z.infer<typeof leafDates>>;

/** A certificate for hostnames and addresses, with its own key, signed by the root's intermediate. */
export interface Leaf extends LeafDates {
  readonly certificatePem: string;
  /** PKCS #8. Secret. */
  readonly privateKeyPem: string;
  /** Hexadecimal, upper case, 32 digits. */
  readonly serial: string;
  /** `AB:CD:…`, SHA-256 of the certificate. */
  readonly fingerprint: string;
  /** Hostnames and addresses in normal form, in the order given. */
  readonly sans: readonly string[];
}

/** When to renew a leaf with these dates: 30 days before the end or, with a shorter life, after two thirds of it. */
export const renewAtMs = ({ notBeforeMs, notAfterMs }: Pick<LeafDates, 'notBeforeMs' | 'notAfterMs'>): EpochMs =>
  Math.ceil(notAfterMs - Math.min(RENEWAL_LEFT_MS, (notAfterMs - notBeforeMs) / 3));

/**
 * Whether a leaf must be replaced: renewal is due on the app's clock or in real time, or one of the clocks was set back
 * before its start.
 */
export const isRenewalDue = (leaf: LeafDates, { now, realNow }: Pick<ClockState, 'now' | 'realNow'>): boolean =>
  isOutside(now, leaf) || isOutside(realNow, { notBeforeMs: leaf.wireNotBeforeMs, notAfterMs: leaf.wireNotAfterMs });

const isOutside = (nowMs: EpochMs, dates: Pick<LeafDates, 'notBeforeMs' | 'notAfterMs'>): boolean =>
  nowMs < dates.notBeforeMs || nowMs >= renewAtMs(dates);

/** A leaf without its key, for display. `chain`: the certificates between it and the root, in PEM. */
export const describeLeaf = (leaf: Leaf, chain: readonly string[]): Omit<Certificate, 'hostname' | 'state'> => ({
  serial: leaf.serial,
  sans: [...leaf.sans],
  notBefore: iso(leaf.notBeforeMs),
  notAfter: iso(leaf.notAfterMs),
  wireNotBefore: iso(leaf.wireNotBeforeMs),
  wireNotAfter: iso(leaf.wireNotAfterMs),
  fingerprint: leaf.fingerprint,
  pem: leaf.certificatePem,
  chain: [...chain],
});

export interface Revocation {
  serial: string;
  reason: RevocationReason;
  /** In real time. */
  wireAtMs: EpochMs;
}
