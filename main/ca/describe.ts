import { formatRange } from './constraints.ts';
import type { Leaf } from './leaf.ts';
import type { Root } from './root.ts';

/** A root as it is shown; its dates are real ones. Holds no secret. */
export interface RootDescription {
  subject: string;
  serial: string;
  fingerprint: string;
  pem: string;
  permittedSuffixes: string[];
  /** Address ranges such as `127.0.0.0/8`. */
  permittedAddresses: string[];
  notBefore: string;
  notAfter: string;
}

export function describeRoot(root: Root): RootDescription {
  return {
    subject: root.certificate.subject.split('\n').join(', '),
    serial: root.certificate.serialNumber,
    fingerprint: root.fingerprint,
    pem: root.certificatePem,
    permittedSuffixes: [...root.constraints.suffixes],
    permittedAddresses: root.constraints.addresses.map(formatRange),
    notBefore: iso(root.notBeforeMs),
    notAfter: iso(root.notAfterMs),
  };
}

/** A leaf as it is shown, with both pairs of dates. Holds no secret. */
export interface LeafDescription {
  serial: string;
  sans: string[];
  notBefore: string;
  notAfter: string;
  wireNotBefore: string;
  wireNotAfter: string;
  fingerprint: string;
  pem: string;
  /** What lies between leaf and root: nothing, the root signs leaves. */
  chain: string[];
}

export function describeLeaf(leaf: Leaf): LeafDescription {
  return {
    serial: leaf.serial,
    sans: [...leaf.sans],
    notBefore: iso(leaf.notBeforeMs),
    notAfter: iso(leaf.notAfterMs),
    wireNotBefore: iso(leaf.wireNotBeforeMs),
    wireNotAfter: iso(leaf.wireNotAfterMs),
    fingerprint: leaf.fingerprint,
    pem: leaf.certificatePem,
    chain: [],
  };
}

const iso = (epochMs: number): string => new Date(epochMs).toISOString();
