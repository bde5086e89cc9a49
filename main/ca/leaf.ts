import type { AdjustableClock, ClockState } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import { LEAF_LIFETIME_MS, type Leaf, type LeafDates } from '../model/leaf.ts';
import {
  certificatePem,
  COMMON_NAME_LENGTH_MAX,
  distinguishedName,
  fingerprint,
  randomSerial,
  signCertificate,
  createKeyPair,
  keyIdentifier,
} from './certificate.ts';
import { permits } from './constraints.ts';
import { leafExtensions } from './extensions.ts';
import { parseLeafName, type LeafName } from './names.ts';
import { BACKDATE_MS, rootError, type Root } from './root.ts';

/** What Let's Encrypt allows; a leaf for more hostnames than this is a mistake. */
export const LEAF_NAMES_MAX = 100;

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

/** Both pairs span the same lifetime, each around its own now, in the whole seconds that a certificate can say. */
function leafDates({ now, realNow }: Pick<ClockState, 'now' | 'realNow'>, root: Root): LeafDates {
  const lifetimeMs = Math.min(LEAF_LIFETIME_MS, root.notAfterMs - realNow);
  if (lifetimeMs <= 0) throw rootError(`The root expired at ${new Date(root.notAfterMs).toISOString()}.`);
  return {
    notBeforeMs: wholeSeconds(now - BACKDATE_MS),
    notAfterMs: wholeSeconds(now + lifetimeMs),
    wireNotBeforeMs: Math.max(wholeSeconds(realNow - BACKDATE_MS), root.notBeforeMs),
    wireNotAfterMs: wholeSeconds(realNow + lifetimeMs),
  };
}

const wholeSeconds = (epochMs: number): number => Math.floor(epochMs / 1000) * 1000;
