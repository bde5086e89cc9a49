import type { AdjustableClock, ClockState, EpochMs } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import {
  certificatePem,
  COMMON_NAME_LENGTH_MAX,
  distinguishedName,
  fingerprint,
  randomSerial,
  signCertificate,
} from './certificate.ts';
import { permits } from './constraints.ts';
import { leafExtensions } from './extensions.ts';
import { parseLeafName, type LeafName } from './names.ts';
import { createKeyPair, keyIdentifier } from './p256.ts';
import { BACKDATE_MS, rootError, type Root } from './root.ts';

const DAY_MS = 86_400_000;

/** As public authorities issue them, so that renewal is rehearsed; far below Apple's 825 days and the 398 of others. */
export const LEAF_LIFETIME_DAYS = 90;

/** A third of the lifetime, as ACME clients do; time enough to see and mend a renewal that fails. */
export const LEAF_RENEWAL_DAYS_LEFT = 30;

/** What Let's Encrypt allows; a leaf for more hostnames than this is a mistake. */
export const LEAF_NAMES_MAX = 100;

/** A certificate for hostnames and addresses, with its own key, signed by the root. */
export interface Leaf {
  readonly certificatePem: string;
  /** PKCS #8. Secret. */
  readonly privateKeyPem: string;
  /** Hexadecimal, upper case, 32 digits. */
  readonly serial: string;
  /** `AB:CD:…`, SHA-256 of the certificate. */
  readonly fingerprint: string;
  /** Hostnames and addresses in normal form, in the order given. */
  readonly sans: readonly string[];
  /** On the app's clock: what the app shows, and what renewal goes by. */
  readonly notBeforeMs: EpochMs;
  readonly notAfterMs: EpochMs;
  /** In real time: what the certificate says, and clients check. */
  readonly wireNotBeforeMs: EpochMs;
  readonly wireNotAfterMs: EpochMs;
}

export interface CreateLeafOptions {
  root: Root;
  /** Hostnames, or IP addresses without brackets; repeated ones count once. */
  hostnames: readonly string[];
  clock: Pick<AdjustableClock, 'state'>;
  /** Where clients find the list of revoked certificates; by default the leaf does not say. */
  crlUrl?: string | null;
}

/**
 * Makes a leaf: P-256, a new key, 90 days on both clocks, an hour backdated; never outliving its root.
 * @throws VivariumError invalid_request for no, too many, or malformed names; conflict for one that the root's name
 *   constraints exclude; unavailable when the root has expired in real time.
 */
export function createLeaf({ root, hostnames, clock, crlUrl = null }: CreateLeafOptions): Leaf {
  const names = leafNames(hostnames, root);
  const dates = leafDates(clock.state(), root);
  const { privateKey, point } = createKeyPair();
  const serial = randomSerial();
  const commonName = leafCommonName(names);
  const der = signCertificate(
    {
      serial,
      issuer: root.subject,
      subject: commonName === null ? distinguishedName({}) : distinguishedName({ commonName }),
      notBeforeMs: dates.wireNotBeforeMs,
      notAfterMs: dates.wireNotAfterMs,
      point,
      extensions: leafExtensions({
        names,
        subjectKey: keyIdentifier(point),
        authorityKey: root.keyIdentifier,
        namesCritical: commonName === null,
        crlUrl,
      }),
    },
    root.privateKey,
  );
  return {
    certificatePem: certificatePem(der),
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    serial: serial.toString('hex').toUpperCase(),
    fingerprint: fingerprint(der),
    sans: names.map((name) => name.text),
    ...dates,
  };
}

function leafNames(hostnames: readonly string[], root: Root): LeafName[] {
  if (hostnames.length === 0 || hostnames.length > LEAF_NAMES_MAX) {
    throw new VivariumError('invalid_request', `A certificate is for 1 to ${LEAF_NAMES_MAX} names.`);
  }
  const names = new Map(hostnames.map(parseLeafName).map((name) => [name.text, name]));
  for (const name of names.values()) {
    if (permits(root.constraints, name)) continue;
    throw new VivariumError(
      'conflict',
      `The root may not sign for ${name.text}: its name constraints permit names under ` +
        `${root.constraints.suffixes.join(', ')} and loopback addresses only. Add the suffix with ca.extend.`,
    );
  }
  return [...names.values()];
}

/**
 * The first hostname, where it fits. Not an address: in a leaf without DNS names OpenSSL checks the common name
 * against the permitted suffixes, and would refuse `127.0.0.1`. Clients look at the alternative names alone.
 */
function leafCommonName(names: readonly LeafName[]): string | null {
  const hostname = names.find((name) => name.kind === 'dns' && name.text.length <= COMMON_NAME_LENGTH_MAX);
  return hostname?.text ?? null;
}

type LeafDates = Pick<Leaf, 'notBeforeMs' | 'notAfterMs' | 'wireNotBeforeMs' | 'wireNotAfterMs'>;

/** Both pairs span the same lifetime, each around its own now, in the whole seconds that a certificate can say. */
function leafDates({ now, realNow }: Pick<ClockState, 'now' | 'realNow'>, root: Root): LeafDates {
  const lifetimeMs = Math.min(LEAF_LIFETIME_DAYS * DAY_MS, root.notAfterMs - realNow);
  if (lifetimeMs <= 0) throw rootError(`The root expired at ${new Date(root.notAfterMs).toISOString()}.`);
  return {
    notBeforeMs: wholeSeconds(now - BACKDATE_MS),
    notAfterMs: wholeSeconds(now + lifetimeMs),
    wireNotBeforeMs: Math.max(wholeSeconds(realNow - BACKDATE_MS), root.notBeforeMs),
    wireNotAfterMs: wholeSeconds(realNow + lifetimeMs),
  };
}

const wholeSeconds = (epochMs: number): number => Math.floor(epochMs / 1000) * 1000;

/**
 * Whether a leaf must be replaced: 30 days or less are left (a third of a shorter life) on the app's clock or in real
 * time, or one of the two clocks has been set back to before its beginning.
 */
export function isRenewalDue(leaf: LeafDates, { now, realNow }: Pick<ClockState, 'now' | 'realNow'>): boolean {
  return (
    isOutside(now, leaf.notBeforeMs, leaf.notAfterMs) || isOutside(realNow, leaf.wireNotBeforeMs, leaf.wireNotAfterMs)
  );
}

function isOutside(nowMs: number, notBeforeMs: number, notAfterMs: number): boolean {
  const leftMs = Math.min(LEAF_RENEWAL_DAYS_LEFT * DAY_MS, (notAfterMs - notBeforeMs) / 3);
  return nowMs < notBeforeMs || nowMs >= notAfterMs - leftMs;
}
