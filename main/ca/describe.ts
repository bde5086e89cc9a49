import { formatRange } from './constraints.ts';
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

const iso = (epochMs: number): string => new Date(epochMs).toISOString();
